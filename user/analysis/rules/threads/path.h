/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared by the findings on the critical path: its parts, summed over kinds of threads. */
#pragma once

#include "analysis/finding/finding_made.h"
#include "analysis/critical_path/critical_path.h"

struct path_evidence {
	struct table_text program, peer;
	const char *kind, *state; /* of struct lines_row */
	uint32_t process;	  /* its number in the job */
	uint64_t pid, tid, time_ns, compute_ns, cpus, starved_cpus, shared_cpus;
	double share, busy, limit, limited_cpus, full_cpus;
};

#define PATH_KIND(kind) (1u << (kind))
enum path_kind { PATH_MAIN, PATH_WORKER, PATH_HELPER, PATH_OTHER, PATH_KINDS };
#define PATH_KINDS_ALL (PATH_KIND(PATH_KINDS) - 1)

/* Sum of one part of the path over some kinds of threads. */
struct path_sum {
	uint64_t time_ns; /* what the run would save: see critical_path_saved_ns */
	uint64_t idle_ns; /* the same minus activity of other threads, which it may wait for */
	bool is_most;	  /* other kinds have less of it */
	struct path_evidence evidence;
};

#define PATH_STARVED THREAD_STATE_COUNT /* waiting for a CPU, also in I/O */

/* Sums a part of the path, a thread state or PATH_STARVED, over kinds of threads. Returns false if
 * it is unknown or nothing. */
bool path_sum_up(const struct findings *findings, unsigned int part, unsigned int of_kinds,
		 struct path_sum *sum);

/* Returns the time that all threads, on the path or not, spent on CPUs, waiting for them, and in
 * storage waits. */
uint64_t path_active_ns(const struct findings *findings, uint64_t *cpu_ns);

/* Returns the part of a time in which others compute that more of them at once could save: only on
 * free CPUs. `busy`: CPUs that the run keeps busy then. */
uint64_t path_free_cpus_ns(const struct findings *findings, const struct path_evidence *evidence,
			   double busy);

/* For the lines of all of the path. */
bool path_is_any(const struct job *job, const void *evidence, const struct path_stack *stack);

THRESHOLD_MIN(CPUS_BUSY, 0.75, UNIT_SHARE,
	      "share of its usable CPUs that the run keeps busy, for it to compete with itself",
	      "a choice: with less, others must have them");

extern const struct finding_evidence path_evidence;

#define PATH_RULE                                                                                  \
	.needs = JOB_THREAD, .sums = FINDING_OF_SPANS, .confidence = FINDING_LIKELY,               \
	.evidence = &path_evidence, .more = "faultline report --table critical_path TRACE",        \
	.pictures = "path"
#define PATH_MEANING                                                                               \
	"The critical path is what the main threads do and, while one waits for another thread "   \
	"of the run, what that thread does. "
