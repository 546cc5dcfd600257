/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an intake is made of, and what its files have of each other. For the files intake*.c alone:
 * whoever uses one knows intake.h and nothing of this.
 */
#ifndef FAULTLINE_MONITOR_INTAKE_STATE_H
#define FAULTLINE_MONITOR_INTAKE_STATE_H

#include <limits.h>

#include "capture/cgroups.h"
#include "monitor/classes.h"
#include "monitor/intake.h"
#include "monitor/span_times.h"
#include "monitor/user_names.h"

struct intake {
	struct ledger *ledger;
	/* Records that came while somebody read the ledger, or the cgroup of one was looked up, in
	 * their order: words, of which the first says how many there are of a record with it. */
	uint64_t *kept;
	size_t kept_words, kept_room;
	bool look_again;
	uint64_t look_since_ns;
	struct classes *classes;
	unsigned int page_bytes;
	bool one_hierarchy; /* of cgroups: the second version's alone */
	struct cgroups *cgroups;
	struct user_names *users;
	struct profile_slot *slots; /* to be booked */
	size_t slot_count, slot_room;
	uint64_t lost;
	const struct in_flight_list *in_flight; /* NULL: none yet */
	uint64_t moves;	    /* of processes between cgroups, when the slots had been read */
	unsigned int ended; /* processes, since the last booking */
	struct span_times *spans;
	decoder_code_fn tell_code; /* NULL: nobody looks for markers */
	void *code_context;
};

/* intake.c: whether a start time of /proc, which counts in ticks, is that of the kernel. */
bool intake_is_start(uint64_t proc_ns, uint64_t start_ns);

/* Whether the process of that pid is the one that began then, by the kernel's own start time. */
bool intake_has_begun(uint32_t pid, uint64_t start_ns);

/* The same by a start time as it was told, which may be a little late: whether the process of that
 * pid is still the one that began then. */
bool intake_is_same(uint32_t pid, uint64_t start_ns);

/* What a cgroup of the second version's hierarchy is called; LEDGER_UNKNOWN, where it is gone, or
 * where it is everybody's because another hierarchy tells them apart. False while it is being
 * looked up, unless it is to wait. */
bool intake_name_cgroup(struct intake *intake, uint64_t id, bool wait, char path[PATH_MAX]);

/* Of the records that are kept tells those that can be told, whether all: the ledger is locked. */
bool intake_catch_up(struct intake *intake, bool wait);

#endif
