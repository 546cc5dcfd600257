// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Waiting for running programs: which CPUs are visited, and when the kernel is asked instead. The
 * machine is simulated: the source is included here, with its C library functions replaced.
 */
#include "unit_test.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* CPU masks: online, allowed for this thread, and refusing to be visited. */
static uint64_t online, may_run, refusing;
static unsigned int present;
static uint64_t visited[80];
static size_t visits, barriers;
static bool tickless; /* then the kernel call fails */

static uint64_t mask_of(const cpu_set_t *set)
{
	uint64_t mask = 0;

	for (int cpu = 0; cpu < 64; cpu++)
		mask |= CPU_ISSET(cpu, set) ? UINT64_C(1) << cpu : 0;
	return mask;
}

static unsigned int fake_present_end(int cpus)
{
	return present;
}

static long fake_sysconf(int name)
{
	if (name == _SC_NPROCESSORS_ONLN)
		return __builtin_popcountll(online);
	return name == _SC_NPROCESSORS_CONF ? 64 : -1;
}

static int fake_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (may_run >> cpu & 1)
			CPU_SET(cpu, set);
	return 0;
}

static int fake_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	uint64_t mask = mask_of(set);

	assert_int_equal(pid, 0);
	if (!(mask & online & ~refusing)) {
		errno = EINVAL;
		return -1;
	}
	visited[visits++] = mask;
	return 0;
}

static long fake_syscall(long number, ...)
{
	va_list rest;

	assert_int_equal(number, SYS_membarrier);
	va_start(rest, number);
	assert_int_equal(va_arg(rest, int), MEMBARRIER_CMD_GLOBAL);
	va_end(rest);
	if (tickless) {
		errno = EINVAL;
		return -1;
	}
	barriers++;
	return 0;
}

#define present_end fake_present_end
#define sysconf fake_sysconf
#define sched_getaffinity fake_sched_getaffinity
#define sched_setaffinity fake_sched_setaffinity
#define syscall fake_syscall
#include "capture/drain/quiesce.c"

static void machine(uint64_t are_online, uint64_t may, unsigned int are_present)
{
	online = are_online;
	may_run = may;
	present = are_present;
	refusing = visits = barriers = 0;
	tickless = false;
}

/* Asserts that each CPU was visited in turn, and then all allowed ones restored. */
static void assert_visited(uint64_t cpus)
{
	size_t at = 0;

	for (int cpu = 0; cpu < 64; cpu++)
		if (cpus >> cpu & 1)
			assert_int_equal(visited[at++], UINT64_C(1) << cpu);
	assert_int_equal(visited[at++], may_run);
	assert_int_equal(visits, at);
	assert_int_equal(barriers, 0);
}

TEST(test_every_cpu)
{
	machine(1, 1, 1);
	quiesce(false);
	assert_visited(1);
	machine(0xffff, 0xffff, 16);
	quiesce(false);
	assert_visited(0xffff);
}

TEST(test_offline)
{
	machine(0xd, 0xd, 4);
	quiesce(false);
	assert_visited(0xd);
	/* The last one is. */
	machine(0x7, 0x7, 4);
	quiesce(false);
	assert_visited(0x7);
}

/* A preempted program may continue afterwards: only the kernel knows. */
TEST(test_preempted)
{
	machine(0x3, 0x3, 2);
	quiesce(true);
	assert_int_equal(visits, 0);
	assert_int_equal(barriers, 1);
}

TEST(test_not_everywhere)
{
	machine(0xf, 0x3, 4);
	quiesce(false);
	assert_int_equal(visits, 0);
	assert_int_equal(barriers, 1);
}

TEST(test_many)
{
	machine(0x1ffff, 0x1ffff, 17);
	quiesce(false);
	assert_int_equal(visits, 0);
	assert_int_equal(barriers, 1);
}

/* A CPU goes offline: the kernel is asked, and this thread's affinity is restored. */
TEST(test_refused)
{
	machine(0xf, 0xf, 4);
	refusing = 0x4;
	quiesce(false);
	assert_int_equal(visits, 3);
	assert_int_equal(visited[2], 0xf);
	assert_int_equal(barriers, 1);
}

/* The kernel does not wait (nohz_full): the CPUs are visited, however many they are. */
TEST(test_tickless)
{
	machine(0x1ffff, 0x1ffff, 17);
	tickless = true;
	assert_true(quiesce(false));
	assert_visited(0x1ffff);
	machine(0x3, 0x3, 2);
	tickless = true;
	assert_true(quiesce_slowly());
	assert_visited(0x3);
	/* If neither way works, the failure is reported. */
	machine(0xf, 0x3, 4);
	tickless = true;
	assert_false(quiesce(false));
	assert_false(quiesce_slowly());
	machine(0x3, 0x3, 2);
	tickless = true;
	assert_false(quiesce(true));
	assert_int_equal(visits, 0);
}

/* The slow variant asks the kernel. */
TEST(test_slowly)
{
	machine(0x3, 0x3, 2);
	assert_true(quiesce_slowly());
	assert_int_equal(visits, 0);
	assert_int_equal(barriers, 1);
}
