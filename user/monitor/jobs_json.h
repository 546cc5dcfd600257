/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The jobs of a ledger as JSON, those first that spent most time in I/O lately. Knows nothing of
 * who reads it. What each member means is told in faultline(1), under "Jobs as JSON".
 */
#ifndef FAULTLINE_MONITOR_JOBS_JSON_H
#define FAULTLINE_MONITOR_JOBS_JSON_H

#include "monitor/ledger.h"
#include "monitor/rates.h"
#include "output/sink.h"

#define JOBS_JSON_SCHEMA 2
#define JOBS_JSON_MOST_BYTES (8u << 20) /* jobs that do not fit are left out, and counted */

struct jobs_asked {
	uint64_t job;			     /* this one alone; 0: all */
	const char *slurm_job;		     /* those of this Slurm job alone; NULL: all */
	unsigned int jobs, processes, files; /* how many, of the last two for each job */
};
#define JOBS_ASKED_DEFAULTS                                                                        \
	{                                                                                          \
		.jobs = 50, .processes = 16, .files = 8                                            \
	}

struct jobs_about {
	const char *host;
	uint64_t now_ns, now_unix_ns; /* CLOCK_MONOTONIC, and since 1970 */
};

/* Locks the ledger while it writes to `out`, which is to be in memory. Errors are the sink's. */
void jobs_json(struct sink *out, struct ledger *ledger, const struct rates *rates,
	       const struct jobs_about *about, const struct jobs_asked *asked);

#endif
