/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens perf events, including classic tracepoints and kprobes. */
#include "capture/support/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/records/event_python.h"

static const struct software_event {
	const char *name;
	int number;
	uint64_t period; /* events, or ns */
	uint64_t sample_type;
} events[] = {
	{ "page-faults-maj", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, PERF_SAMPLE_ADDR },
	{ "page-faults-min", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_SAMPLE_ADDR },
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK, STACK_CPU_NS, 0 },
};

static const struct software_event *find_event(const char *name)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

int perf_open(const char *name, int cpu)
{
	const struct software_event *event = find_event(name);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.exclude_idle = 1, /* no followed task is idle */
	};
	int fd;

	if (!event)
		return -ENOENT;
	attr.config = event->number;
	attr.sample_period = event->period;
	attr.sample_type = event->sample_type;
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- classic tracepoints and kprobes --- */

/* Reads a number from a file. Returns the number or a negative errno. */
static long read_number(int dir, const char *path)
{
	char text[32] = "";
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	if (fd < 0)
		return -errno;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	return bytes > 0 ? strtol(text, NULL, 10) : -EIO;
}

/* Opens tracefs without a mount point, for machines that have not mounted it. */
static int open_tracefs(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), mount = -1;

	if (context < 0)
		return -errno;
	if (!fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (mount < 0)
		mount = -errno;
	close(context);
	return mount;
}

static long tracepoint_id(const char *target)
{
	static const char *const directories[] = { "/sys/kernel/tracing",
						   "/sys/kernel/debug/tracing" };
	char path[192];
	long id = -ENOENT;
	int tracefs;

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]) && id < 0; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/id", directories[i], target);
		id = read_number(AT_FDCWD, path);
	}
	if (id >= 0)
		return id;
	tracefs = open_tracefs();
	if (tracefs < 0)
		return id;
	snprintf(path, sizeof(path), "events/%s/id", target);
	id = read_number(tracefs, path);
	close(tracefs);
	return id;
}

/* One event covers the whole machine, but the system call requires a CPU. */
static int open_for_all(struct perf_event_attr *attr)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_has_tracepoint(const char *target)
{
	long id = tracepoint_id(target);

	return id < 0 ? id : 0;
}

int perf_open_tracepoint(const char *target)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	long id = tracepoint_id(target);

	if (id < 0)
		return id;
	attr.config = id;
	return open_for_all(&attr);
}

#define RETPROBE 1 /* format/retprobe of the device */

int perf_open_kprobe(const char *function, bool at_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	long type = read_number(AT_FDCWD, "/sys/bus/event_source/devices/kprobe/type");

	if (type < 0) /* only kernels built with kprobes have the device */
		return type == -ENOENT ? -EOPNOTSUPP : type;
	attr.type = type;
	attr.config = at_return ? RETPROBE : 0;
	attr.config1 = (uintptr_t)function;
	return open_for_all(&attr);
}
