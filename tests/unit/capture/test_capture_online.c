// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * CPU lists in the kernel's format, and invalid ones; CPUs that came online since the last check.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/host/online.h"

#define CPUS 8
#define GONE(cpu) "offline@/devices/system/cpu/cpu" cpu "\0ACTION=offline"

static void check(const char *text, unsigned int expected)
{
	bool set[CPUS];

	assert_true(online_parse(text, set, CPUS));
	for (int cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(set[cpu], expected >> cpu & 1);
}

TEST(test_lists)
{
	check("0\n", 1);
	check("0-1\n", 3);
	check("0,2-4,7", 0x9d);
	check("0-511\n", 0xff); /* CPUs beyond the possible ones are ignored */
	check("9", 0);
}

TEST(test_no_lists)
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

/* None arrives: the online CPUs were online before. */
TEST(test_this_machine)
{
	struct online *online = online_open(4096);
	int arrived = 0;

	assert_non_null(online);
	online_look(online, 1000000000, note, &arrived);
	online_look(online, 2000000000, note, &arrived);
	assert_int_equal(arrived, 0);
	online_close(online);
}

static void write_list(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) > 0);
	assert_int_equal(fclose(file), 0);
}

static void count(void *context, int cpu)
{
	*(int *)context += cpu ? 10 : 1;
}

/* Counts each arrival once, whether the CPU was offline at a check or only between two checks. */
TEST(test_coming_and_going)
{
	static const struct {
		const char *list, *event;
		size_t bytes;
		int came; /* 1 for each arrival of CPU 0, 10 for another CPU's */
	} rows[] = {
		{ "0-1\n", NULL, 0, 0 },
		{ "0\n", NULL, 0, 0 },
		{ "0\n", GONE("1"), sizeof(GONE("1")), 0 },
		{ "0-1\n", NULL, 0, 10 },
		{ "0-1\n", NULL, 0, 0 },
		{ "0-1\n", GONE("1"), sizeof(GONE("1")), 10 },
		{ "0-1\n", NULL, 0, 0 },
		{ "0\n", GONE("1"), sizeof(GONE("1")), 0 },
		{ "0-1\n", NULL, 0, 10 },
		{ "0-1\n", GONE("99"), sizeof(GONE("99")), 0 },
		{ "0-1\n", GONE(""), sizeof(GONE("")), 0 },
		{ "0-1\n", GONE("1x"), sizeof(GONE("1x")), 0 },
		{ "0-1\n", GONE("1/cache"), sizeof(GONE("1/cache")), 0 },
		{ "0-1\n", "offline@/devices/system/memory/memory1", 39, 0 },
		{ "0-1\n", "o", 1, 0 },
	};
	char path[] = "/tmp/faultline-online-XXXXXX";
	struct online *online;
	int events[2], file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, events), 0);
	write_list(path, "0-1\n");
	online = online_open_from(path, events[0], CPUS);
	assert_non_null(online);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int came = 0;

		write_list(path, rows[i].list);
		if (rows[i].event)
			assert_int_equal(write(events[1], rows[i].event, rows[i].bytes),
					 rows[i].bytes);
		online_look(online, (i + 1) * 1000000000ull, count, &came);
		if (came != rows[i].came)
			fail_msg("row %zu: %d, not %d", i, came, rows[i].came);
	}
	online_close(online);
	close(events[1]);
	unlink(path);
}
