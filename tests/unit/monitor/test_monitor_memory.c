// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The service's memory for each job, on a node with many short ones. */
#include "unit_test.h"

#include <malloc.h>
#include <stdio.h>

#include "made_ledger.h"

#define JOBS 2000
#define FILES 6 /* per job: its data and the libraries that its program loads */
#define PROCESSES 5
#define BYTES_MAX 6500 /* of each job */

static void work(struct ledger *ledger, uint32_t pid, uint64_t time_ns)
{
	static const struct {
		enum ledger_op op;
		enum io_method method;
	} kinds[] = { { LEDGER_READ, METHOD_SYSCALL },
		      { LEDGER_METADATA, METHOD_SYSCALL },
		      { LEDGER_READ, METHOD_MMAP } };
	const uint32_t latencies[LEDGER_LATENCIES] = { 1 };

	for (uint32_t file = 1; file <= FILES; file++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			const struct ledger_added added = {
				.pid = pid,
				.file = file,
				.first_ns = time_ns,
				.last_ns = time_ns,
				.op = kinds[i].op,
				.method = kinds[i].method,
				.counts = { .count = 1, .time_ns = 10 },
				.latencies = latencies,
			};

			ledger_add(ledger, &added);
		}
}

TEST(test_memory_of_jobs)
{
	struct ledger_options options = roomy;
	struct ledger *ledger;
	char path[64], cgroup[64];
	size_t before, each;
	uint32_t pid = 1;

	options.max_series = UINT64_MAX;
	options.retire_ns = 1000000000; /* all jobs stay */
	ledger = open_with(options);
	for (uint32_t file = 1; file <= FILES; file++) {
		struct ledger_file_name name = {
			.id = file, .ino = file, .filesystem = "ext4", .path = path
		};

		name.path_bytes =
			snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%u.so", file);
		ledger_name_file(ledger, &name);
	}
	before = mallinfo2().uordblks;
	for (int job = 0; job < JOBS; job++) {
		snprintf(cgroup, sizeof(cgroup), "/batch/uid_1000/job_%d", job);
		for (int i = 0; i < PROCESSES; i++, pid++) {
			begin(ledger, pid, cgroup, "task", pid * 10);
			work(ledger, pid, pid * 10 + 1);
			ledger_exit(ledger, pid, pid * 10 + 2);
		}
		ledger_settle(ledger, pid * 10);
	}
	assert_non_null(job_called(ledger, "/batch/uid_1000/job_1999"));
	each = (mallinfo2().uordblks - before) / JOBS;
	print_message("%zu bytes a job\n", each);
	assert_true(each <= BYTES_MAX);
	ledger_close(ledger);
}
