/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A ledger with processes, for tests of booking. Include after cmocka.h. */
#pragma once

#include <string.h>

#include "monitor/ledger/ledger.h"

static unsigned int six(enum ledger_op op, enum io_method method)
{
	return 6;
}

static const struct ledger_options roomy = {
	.max_series = 100000,
	.costs = { .cell = six, .latency = 11, .span = 2, .thread_state = 1 },
	.retire_ns = 1000,
};

static struct ledger *open_with(struct ledger_options options)
{
	struct ledger *ledger;

	assert_int_equal(ledger_open(&ledger, &options), 0);
	return ledger;
}

static void begin(struct ledger *ledger, uint32_t pid, const char *cgroup, const char *program,
		  uint64_t time_ns)
{
	const struct ledger_who who = {
		.pid = pid,
		.uid = 0,
		.user = "root",
		.start_ns = time_ns,
		.cgroup = cgroup,
		.program = program,
		.command = "program\0with arguments",
		.command_bytes = sizeof("program\0with arguments"),
		.rank = -1,
	};

	ledger_exec(ledger, &who, time_ns);
}

static inline const struct ledger_job *job_called(const struct ledger *ledger, const char *cgroup)
{
	const struct ledger_job *job = ledger_jobs(ledger);

	while (job && strcmp(job->labels.cgroup, cgroup))
		job = job->next;
	return job;
}
