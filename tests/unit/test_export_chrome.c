/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What `faultline export --to chrome` makes of the traces of export_sample.h, and of more threads
 * than it tells apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export_sample.h"
#include "output/chrome.h"
#include "output/chrome_threads.h"

static void test_export(void **state)
{
	run_script("tests/unit/_export_chrome.py");
}

#define FURTHER 1000

static size_t count_of(const struct sink *text, const char *part)
{
	size_t count = 0, length = strlen(part), left = text->used;
	const char *at = text->buffer, *found;

	while ((found = memmem(at, left, part, length))) {
		count++;
		left -= found + length - at;
		at = found + length;
	}
	return count;
}

/* Further threads share one of their process; none of what they did is left out. */
static void test_many_threads(void **state)
{
	static const char *const name = "many.flt";
	const struct chrome_options options = { .until_ns = UINT64_MAX, .pid = CHROME_ANY_PID };
	struct trace_error error = { "" };
	struct made_trace made;
	struct sink text;

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < CHROME_THREADS_MOST + FURTHER; i++)
		CALL(&made, .time = START + i * 10, .dur = 5, .pid = 10, .tid = 1000 + i,
		     .op = M_READ, .file = 1, .asked = 1, .result = 1);
	made_finish(&made, START, START + 100 * MS);
	sink_open_memory(&text);
	assert_int_equal(chrome_write(&text, &made.reader, &name, 1, &options, &error), 0);
	assert_int_equal(count_of(&text, "\"ph\":\"X\""), CHROME_THREADS_MOST + FURTHER);
	assert_int_equal(count_of(&text, "\"1000 events of further threads\""), 1);
	assert_int_equal(count_of(&text, "further threads"), 1);
	sink_close(&text);
	made_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
