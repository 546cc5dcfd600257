/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads host facts and clocks. */
#include "capture/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

int host_open_below(int root, const char *path, int flags)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int64_t clock_ahead_ns;

static void read_clock_ahead(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, ns;

	if (!file)
		return;
	if (fscanf(file, "monotonic %lld %lld", &seconds, &ns) == 2)
		clock_ahead_ns = seconds * 1000000000 + ns;
	fclose(file);
}

int64_t host_clock_ahead_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_clock_ahead);
	return clock_ahead_ns;
}

uint64_t host_now_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC) - host_clock_ahead_ns();
}

struct timespec host_after_ns(uint64_t ns)
{
	uint64_t then_ns = clock_now_ns(CLOCK_MONOTONIC) + ns;

	return (struct timespec) { .tv_sec = then_ns / 1000000000,
				   .tv_nsec = then_ns % 1000000000 };
}

uint64_t host_unix_now_ns(void)
{
	return clock_now_ns(CLOCK_REALTIME);
}

int host_program_path(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	path[length] = 0;
	return 0;
}

uint64_t host_raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return UINT64_MAX;
	if (limit.rlim_cur != limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur;
}

static const char *boot_id(void)
{
	static char text[64];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* Reads both clocks at the same time: the closest of a few readings. */
static void clock_pair(struct trace_header *header)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = host_now_ns(), wall = clock_now_ns(CLOCK_REALTIME);
		uint64_t after = host_now_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		header->clock_monotonic_ns = before + (after - before) / 2;
		header->clock_realtime_ns = wall;
	}
}

void host_describe(struct trace_header *header)
{
	static struct utsname name;

	uname(&name);
	header->version = TRACE_VERSION;
	header->tool = FAULTLINE_VERSION;
	header->host = name.nodename;
	header->boot_id = boot_id();
	header->kernel = name.release;
	header->machine = name.machine;
	header->page_bytes = sysconf(_SC_PAGESIZE);
	header->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	clock_pair(header);
}
