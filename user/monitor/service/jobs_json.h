/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the jobs of a ledger as JSON, those with the most recent I/O time first. faultline(1)
 * describes the members under "Jobs as JSON".
 */
#pragma once

#include "monitor/ledger/ledger.h"
#include "monitor/ledger/rates.h"
#include "output/base/sink.h"

#define JOBS_JSON_SCHEMA 2
#define JOBS_JSON_BYTES_MAX (8u << 20) /* jobs that do not fit are omitted and counted */

struct jobs_query {
	uint64_t job;			     /* only this job; 0: all */
	const char *slurm_job;		     /* only jobs of this Slurm job; NULL: all */
	unsigned int jobs, processes, files; /* maximum numbers; the last two for each job */
};
#define JOBS_QUERY_DEFAULTS                                                                        \
	{                                                                                          \
		.jobs = 50, .processes = 16, .files = 8                                            \
	}

/* Writes to `out`, a memory sink, with the ledger locked. Errors stay in the sink. */
void jobs_json(struct sink *out, struct ledger *ledger, const struct rates *rates, const char *host,
	       const struct jobs_query *query);
