// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Environments from their parts: those of several tasks mixed, parts that were lost, execs that
 * never came, and more of them than are remembered.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "capture/environments.h"

#define MOST 3

static void add(struct environments *environments, uint32_t tid, uint32_t offset, const char *text)
{
	struct event_environ *part = calloc(1, sizeof(*part) + strlen(text));

	assert_non_null(part);
	part->header.pid = 1; /* one process: threads may execute, too */
	part->header.tid = tid;
	part->offset = offset;
	part->bytes = strlen(text);
	memcpy(part->text, text, strlen(text));
	environments_add(environments, part);
	free(part);
}

static void check(struct environments *environments, uint32_t tid, const char *text, size_t bytes)
{
	size_t found;
	const char *at = environments_take(environments, tid, &found);

	assert_non_null(at);
	assert_int_equal(found, bytes);
	assert_memory_equal(at, text, bytes);
	assert_null(environments_take(environments, tid, &found));
}

static void test_parts_of_two_tasks(void **state)
{
	struct environments *environments = environments_open(MOST);

	add(environments, 7, 0, "RANK=");
	add(environments, 8, 0, "RANK=");
	add(environments, 7, 5, "70");
	add(environments, 8, 5, "8");
	check(environments, 8, "RANK=8", 6);
	check(environments, 7, "RANK=70", 7);
	environments_close(environments);
}

static void test_a_lost_part(void **state)
{
	struct environments *environments = environments_open(MOST);

	add(environments, 7, 0, "A=12");
	check(environments, 7, "A=12", 4);
	add(environments, 7, 4, "RANK=3"); /* its first part was lost */
	check(environments, 7, "\0\0\0\0RANK=3", 10);
	environments_close(environments);
}

static void test_a_lost_exec(void **state)
{
	struct environments *environments = environments_open(MOST);

	add(environments, 7, 0, "RANK=1");
	add(environments, 7, 0, "A=1"); /* the next exec of that task */
	check(environments, 7, "A=1", 3);
	environments_close(environments);
}

static void test_the_oldest_goes(void **state)
{
	struct environments *environments = environments_open(MOST);
	size_t bytes;

	for (uint32_t tid = 1; tid <= MOST + 1; tid++)
		add(environments, tid, 0, tid == MOST + 1 ? "NEW=1" : "OLD=1");
	assert_null(environments_take(environments, 1, &bytes));
	check(environments, MOST + 1, "NEW=1", 5);
	check(environments, 2, "OLD=1", 5);
	assert_null(environments_take(environments, 0, &bytes));
	environments_close(environments);
}

static void test_a_part_too_far(void **state)
{
	struct environments *environments = environments_open(MOST);
	size_t bytes;

	add(environments, 7, UINT32_MAX, "A");
	assert_null(environments_take(environments, 7, &bytes));
	add(environments, 7, EVENT_ENVIRON_BYTES * EVENT_ENVIRON_RECORDS - 1, "AB");
	assert_null(environments_take(environments, 7, &bytes));
	environments_close(environments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_of_two_tasks), cmocka_unit_test(test_a_lost_part),
		cmocka_unit_test(test_a_lost_exec),	   cmocka_unit_test(test_the_oldest_goes),
		cmocka_unit_test(test_a_part_too_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
