/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers in output and in options: units, rounding at their edges, and the largest values. */
#include "unit_test.h"

#include <stdbool.h>

#include "base/units.h"

struct sample {
	uint64_t value;
	const char *text;
};

static void check(char *(*format)(char *, uint64_t), const struct sample *samples, size_t count)
{
	char text[UNITS_TEXT];

	for (size_t i = 0; i < count; i++)
		assert_string_equal(format(text, samples[i].value), samples[i].text);
}

TEST(test_bytes)
{
	static const struct sample samples[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ 102348, "99.9 KiB" },
		{ 102400, "100 KiB" },
		{ 1048063, "1023 KiB" },
		{ 1048064, "1.0 MiB" }, /* 1023.5 KiB: never "1024 KiB" */
		{ 1610612736, "1.5 GiB" },
		{ 536870912, "512 MiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};

	check(units_bytes, samples, sizeof(samples) / sizeof(samples[0]));
}

TEST(test_ns)
{
	static const struct sample samples[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.0 us" },
		{ 12345678, "12.3 ms" },
		{ 999499999, "999 ms" },
		{ 999500000, "1.0 s" },
		{ 59949999999, "59.9 s" },
		{ 59950000000, "1m 00s" },
		{ 100000000000, "1m 40s" },
		{ 3599499999999, "59m 59s" },
		{ 3599500000000, "1h 00m" },
		{ 7500000000000, "2h 05m" },
		{ 86400000000000, "1d 00h" },
		{ UINT64_MAX, "213503d 23h" },
	};

	check(units_ns, samples, sizeof(samples) / sizeof(samples[0]));
}

TEST(test_count)
{
	static const struct sample samples[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};

	check(units_count, samples, sizeof(samples) / sizeof(samples[0]));
}

TEST(test_share)
{
	char text[UNITS_TEXT];

	assert_string_equal(units_share(text, 0), "0%");
	assert_string_equal(units_share(text, 0.0001), "<0.1%");
	assert_string_equal(units_share(text, 0.123), "12.3%");
	assert_string_equal(units_share(text, 1), "100.0%");
	assert_string_equal(units_share(text, 0.0 / 0.0), "-");
	assert_string_equal(units_share(text, 1e300), "100000000.0%");
}

TEST(test_bounded_shares)
{
	char text[UNITS_TEXT];

	assert_string_equal(units_share_bound(text, "", 0.5), "50.0%");
	assert_string_equal(units_share_bound(text, "≥", 0.5), "≥50.0%");
	assert_string_equal(units_share_bound(text, "≤", 0.5), "≤50.0%");
	assert_string_equal(units_share_bound(text, "", 0.0001), "<0.1%");
	assert_string_equal(units_share_bound(text, "≤", 0.0001), "<0.1%");
	assert_string_equal(units_share_bound(text, "≥", 0.0001), ">0%");
}

TEST(test_device)
{
	char text[UNITS_TEXT];

	assert_string_equal(units_device(text, 259u << 20 | 3), "259:3");
	assert_string_equal(units_device(text, UINT64_MAX), "17592186044415:1048575");
}

/* --- numbers in options --- */

struct written {
	const char *text;
	bool read; /* valid */
	uint64_t value;
};

TEST(test_written_numbers)
{
	static const struct written sizes[] = {
		{ "0", true, 0 },
		{ "4096", true, 4096 },
		{ "64K", true, 64 << 10 },
		{ "64kB", true, 64 << 10 },
		{ "2GiB", true, 2ull << 30 },
		{ "3t", true, 3ull << 40 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "16777215T", true, 16777215ull << 40 },
		{ "16777216T", false, 0 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "K", false, 0 },
		{ "1Ki", true, 1024 },
		{ "1KK", false, 0 },
		{ "1B", false, 0 },
		{ "1P", false, 0 },
		{ "1K\n", false, 0 },
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(units_read_number(sizes[i].text, true, &value), sizes[i].read);
		if (sizes[i].read)
			assert_int_equal(value, sizes[i].value);
	}
	assert_true(units_read_number("12", false, &value));
	assert_false(units_read_number("12K", false, &value));
}

TEST(test_written_times)
{
	static const struct written times[] = {
		{ "0", true, 0 },
		{ "1.5", true, 1500000000 },
		{ "1.5h", true, 5400000000000 },
		{ "250ms", true, 250000000 },
		{ "10us", true, 10000 },
		{ "7ns", true, 7 },
		{ "0.5ns", true, 0 },
		{ "18446744073.709551615", true, UINT64_MAX },
		{ "18446744073.709551616", false, 0 },
		{ "5124096h", false, 0 },
		{ "", false, 0 },
		{ ".5", false, 0 },
		{ "-1", false, 0 },
		{ "1e3", false, 0 },
		{ "nan", false, 0 },
		{ "inf", false, 0 },
		{ "1 s", false, 0 },
		{ "1d", false, 0 },
	};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(units_read_time(times[i].text, &ns), times[i].read);
		if (times[i].read)
			assert_int_equal(ns, times[i].value);
	}
}
