/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The process that listens to markers: it attaches to expected files, to files that programs ask
 * for, and to files that processes map. It also inspects interpreters of Python, for stacks. It is
 * a separate process because the kernel takes long to
 * detach uprobes, and may take long to attach them; the end of a run waits for neither.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "capture/drain/decode.h"
#include "capture/markers/interpreters.h"
#include "capture/session/session.h"

/* Memory shared with the tracer. */
struct listener_status {
	_Atomic uint64_t unheard; /* programs whose spans may be missing, see marker_programs.h */
	_Atomic uint64_t taken;	  /* mappings handled */
	_Atomic uint64_t unseen;  /* programs that exited before they were inspected */
	_Atomic uint64_t refused_files; /* files with markers that are not attached to */
	_Atomic int refused_status;	/* errno of the first one; set last */
	char refused_path[256];
	struct refused_interpreters interpreters;
};

struct listener {
	struct session *session;
	struct listener_status *status;
	const char *const *expected; /* NULL-terminated paths, chosen by the command's user, ... */
	uid_t uid;		     /* ... and so opened with that user's rights */
	gid_t gid;
	int socket;   /* the listening socket of tracer.h */
	int mappings; /* pipe of struct code_mapping; the listener exits at EOF */
	int ready;    /* closed when all expected files are attached to */
};

/* Never returns. Call in a separate process without other threads. */
void __attribute__((noreturn)) listener_run(const struct listener *listener);
