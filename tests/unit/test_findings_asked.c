/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings that look at what calls asked for beyond bytes: what to do with a lock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "findings_made.h"
#include "trace/flags.h"

/* --- locks --- */

static const struct {
	const char *filesystem;
	uint64_t flags;
	bool waits;
} locks[] = {
	{ "xfs", 0, true },
	{ "xfs", TRACE_OP_NOWAIT, false },
	{ "nfs4", TRACE_OP_NOWAIT, true }, /* for its server */
};

/* Who does not wait for a lock of this machine has lost the processor, no more. */
static void test_locks(void **state)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .block = true);
		EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
		FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = MIB,
			 .path = "/data/lock", .filesystem = locks[i].filesystem);
		CALLS(&made, 100, .count = 50, .op = M_FLOCK, .dur = 5 * MS,
		      .flags = locks[i].flags);
		made_finish(&made, 10, END);
		report = made_report(&made.reader, 1);
		assert_int_equal(row_with(report, "findings", "id", "lock-wait") >= 0,
				 locks[i].waits);
		report_free(report);
		made_close(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
