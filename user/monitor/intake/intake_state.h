/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Internal state shared by intake*.c. */
#pragma once

#include <limits.h>

#include "capture/names/cgroups.h"
#include "monitor/ledger/classes.h"
#include "monitor/intake/intake.h"
#include "monitor/intake/job_naming.h"
#include "monitor/intake/line_times.h"
#include "monitor/intake/span_times.h"
#include "monitor/intake/thread_times.h"
#include "monitor/intake/user_names.h"

struct intake {
	struct ledger *ledger;
	/* Records kept while the ledger was read or a cgroup looked up, in order. Each follows a
	 * word that holds its length in words, including that word. */
	uint64_t *kept;
	size_t kept_words, kept_room;
	bool recheck;
	uint64_t recheck_since_ns;
	struct classes *classes;
	unsigned int page_bytes;
	bool one_hierarchy; /* cgroup v2 only */
	struct cgroups *cgroups;
	struct user_names *users;
	struct job_naming *naming;  /* NULL: jobs are not named */
	struct profile_slot *slots; /* to be booked */
	size_t slot_count, slot_room;
	uint64_t lost;
	const struct in_flight_list *in_flight; /* NULL: none yet */
	uint64_t moves;	    /* of processes between cgroups, when the slots had been read */
	unsigned int ended; /* processes, since the last booking */
	const struct thread_list *thread_list; /* NULL: none */
	struct span_times *spans;
	struct thread_times *threads;
	struct line_times *lines; /* NULL: stacks are not recorded */
	decoder_code_fn on_code;  /* NULL: markers are not looked for */
	void *code_context;
};

/* intake.c: returns whether a start time from /proc, in ticks, matches the kernel's. */
bool intake_is_start(uint64_t proc_ns, uint64_t start_ns);

/* Returns whether the process with that pid started then, by the kernel's own start time. */
bool intake_has_begun(uint32_t pid, uint64_t start_ns);

/* The same for a reported start time, which may be slightly late: returns whether the process with
 * that pid is still the one that started then. */
bool intake_is_same(uint32_t pid, uint64_t start_ns);

/* Finds the path of a cgroup v2. It is LEDGER_UNKNOWN if the cgroup is gone, or is the root because
 * another hierarchy distinguishes jobs. Returns false while a lookup is pending, unless `wait`. */
bool intake_name_cgroup(struct intake *intake, uint64_t id, bool wait, char path[PATH_MAX]);

/* Applies kept records as far as possible; returns whether none is left. Caller holds the ledger's
 * lock. */
bool intake_catch_up(struct intake *intake, bool wait);
