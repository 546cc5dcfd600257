/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The process that listens to markers: it attaches to what it is told to expect, to what programs
 * ask for, and to what they turn out to have mapped. A process, because the kernel takes long to
 * detach uprobes, and may to attach them, and the end of a run waits for neither.
 */
#ifndef FAULTLINE_LISTENER_H
#define FAULTLINE_LISTENER_H

#include <stdatomic.h>
#include <stdint.h>

#include "capture/session.h"

/* Code that a process has mapped. */
struct listener_look {
	uint64_t time_ns, address, bytes; /* address 0: its program, by exec */
	uint32_t pid, pad;
};

/* Memory that the tracer shares with it. */
struct listener_news {
	_Atomic uint64_t unheard; /* programs whose spans may be missing, see marker_programs.h */
	_Atomic uint64_t taken;	  /* looks that are done with */
	_Atomic uint64_t unseen;  /* programs that ended before they could be looked at */
	_Atomic uint64_t refused_files; /* with markers that are not attached to */
	_Atomic int refused_status;	/* why the first was not; set last */
	char refused_path[256];
};

struct listener {
	struct session *session;
	struct listener_news *news;
	const char *const *expected; /* paths, NULL at the end: the command's user's choice, */
	uid_t uid;		     /* and so opened with that user's rights */
	gid_t gid;
	int asks;  /* the listening socket of tracer.h */
	int looks; /* gives struct listener_look; its end is the listener's */
	int ready; /* closed when all that is expected is attached to */
};

/* Never returns; to be called in a process of its own that has no threads. */
void __attribute__((noreturn)) listener_run(const struct listener *listener);

#endif
