/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A unit test program: TEST(test_name) { ... } defines a test, and main() runs all of them in the
 * order of their definitions. Include it first, and in one source file per program. A program with
 * a main() of its own defines OWN_MAIN before, and runs the group `unit_tests`.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TESTS_MAX 100

static struct CMUnitTest unit_tests[TESTS_MAX]; /* cmocka skips those without a name */

/* A test to be run after set_up() and before tear_down(); both may be NULL. */
#define TEST_WITH(test, set_up, tear_down)                                                         \
	static void test(void **state);                                                            \
	__attribute__((constructor)) static void add_##test(void)                                  \
	{                                                                                          \
		unit_tests[__COUNTER__] = (struct CMUnitTest)cmocka_unit_test_setup_teardown(      \
			test, set_up, tear_down);                                                  \
	}                                                                                          \
	static void test(void **state)

#define TEST(test) TEST_WITH(test, NULL, NULL)

#ifndef OWN_MAIN
int main(void)
{
	return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
#endif
