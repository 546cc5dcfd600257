/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `faultline export --to speedscope` on the traces of export_sample.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export_sample.h"

static void test_export(void **state)
{
	run_script("tests/unit/_export_speedscope.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_export) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
