/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of spans that were missed: ends without a begin, and programs that were late.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/marker_programs.h"
#include "capture/span_ends.h"

static void test_unbegun(void **state)
{
	struct span_ends *ends = span_ends_make();

	assert_non_null(ends);
	assert_int_equal(span_ends_unbegun(ends), 0);
	for (uint64_t id = 1; id <= 1000; id++)
		span_ends_begin(ends, 10, id);
	for (uint64_t id = 1000; id; id--)
		span_ends_end(ends, 10, id);
	span_ends_end(ends, 10, 5);	     /* ended twice is no loss */
	span_ends_end(ends, 10, UINT64_MAX); /* no id of ours */
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_end(ends, 10, 1001);
	span_ends_end(ends, 11, 7); /* another process's */
	assert_int_equal(span_ends_unbegun(ends), 2);
	span_ends_begin(ends, 10, 1001); /* from another lane, drained later */
	assert_int_equal(span_ends_unbegun(ends), 1);
	span_ends_fork(ends, 10, 12);
	span_ends_fork(ends, 12, 11);
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_end(ends, 11, 5000);
	assert_int_equal(span_ends_unbegun(ends), 1);
	span_ends_fork(ends, 99, 11); /* the number was given twice: nothing is known */
	assert_int_equal(span_ends_unbegun(ends), 0);
	span_ends_free(ends);
	span_ends_free(NULL);
}

/* Numbers that lead nowhere and in circles. */
static void test_hostile(void **state)
{
	struct span_ends *ends = span_ends_make();

	assert_non_null(ends);
	for (uint32_t i = 0; i < 1000; i++)
		span_ends_fork(ends, i, (i + 1) % 1000);
	for (uint64_t i = 0; i < 50000; i++)
		span_ends_end(ends, i % 1000, i << 20);
	span_ends_unbegun(ends);
	for (uint64_t i = 0; i < 300000; i++) {
		span_ends_begin(ends, 1, i << 6);
		span_ends_end(ends, 2, i);
	}
	assert_int_equal(span_ends_unbegun(ends), 0); /* too many to tell */
	span_ends_free(ends);
}

static void test_late_programs(void **state)
{
	_Atomic uint64_t unheard = 0;
	struct marker_programs *programs = marker_programs_make(&unheard);

	assert_non_null(programs);
	marker_programs_set(programs, 10, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_set(programs, 10, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_set(programs, 10, 0, PROGRAM_ASKED); /* it was waiting all the time */
	assert_int_equal(unheard, 0);
	marker_programs_set(programs, 11, 0, PROGRAM_ASKED);
	marker_programs_set(programs, 11, 0, PROGRAM_LATE);
	assert_int_equal(unheard, 0);
	marker_programs_set(programs, 11, 1, PROGRAM_LATE);
	assert_int_equal(unheard, 1);
	marker_programs_free(programs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unbegun),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_late_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
