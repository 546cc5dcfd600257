/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opening software perf events. Knows nothing of what is attached to them.
 */
#include "capture/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned long config;
} events[] = {
	{ "page-faults-maj", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "page-faults-min", PERF_COUNT_SW_PAGE_FAULTS_MIN },
};

int perf_open(const char *event, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
	};
	int fd;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(events[i].name, event))
			continue;
		attr.config = events[i].config;
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	return -ENOENT;
}
