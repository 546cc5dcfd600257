// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Lists of CPUs as the kernel writes them, and none.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/online.h"

#define CPUS 8

static void check(const char *text, unsigned int expected)
{
	bool set[CPUS];

	assert_true(online_parse(text, set, CPUS));
	for (int cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(set[cpu], expected >> cpu & 1);
}

static void test_lists(void **state)
{
	check("0\n", 1);
	check("0-1\n", 3);
	check("0,2-4,7", 0x9d);
	check("0-511\n", 0xff); /* more than are possible are none of ours */
	check("9", 0);
}

static void test_no_lists(void **state)
{
	static const char *const texts[] = { "", "\n", "x", "1-", "1,", "1 2", "0-1;" };
	bool set[CPUS];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(online_parse(texts[i], set, CPUS));
}

static void note(void *context, int cpu)
{
	(void)cpu;
	++*(int *)context;
}

/* None comes: those that are here were here before. */
static void test_this_machine(void **state)
{
	struct online *online = online_open(4096);
	int arrived = 0;

	assert_non_null(online);
	online_look(online, 1000000000, note, &arrived);
	online_look(online, 2000000000, note, &arrived);
	assert_int_equal(arrived, 0);
	online_close(online);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_no_lists),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
