/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads facts about processes from /proc. */
#include "monitor/intake/process_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "capture/host/host.h"
#include "capture/host/proc.h"

#define TEXT_BYTES 16384
#define STAT_BEFORE_START 19 /* spaces between the state and the start time */
#define PF_EXITING 0x4	     /* a task flag of the kernel */

bool process_parse_stat(const char *text, char comm[16], uint64_t *start_ticks)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')'), *at;
	size_t length;
	char *end;

	if (!open || !close || close < open)
		return false;
	length = close - open - 1;
	if (length > 15)
		length = 15;
	memcpy(comm, open + 1, length);
	comm[length] = 0;
	at = close + 1;
	for (int i = 0; i <= STAT_BEFORE_START; i++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	*start_ticks = strtoull(at, &end, 10);
	return end != at;
}

/* Converts ticks since boot, suspend included, to CLOCK_MONOTONIC, which excludes it. Too early for
 * processes that have seen a suspend: when each one happened is not known. */
static uint64_t start_ns(uint64_t ticks)
{
	struct timespec boot, monotonic;
	int64_t asleep;
	uint64_t ns = ticks * (1000000000ull / sysconf(_SC_CLK_TCK));

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	asleep = (boot.tv_sec - monotonic.tv_sec) * 1000000000ll + boot.tv_nsec - monotonic.tv_nsec;
	/* The clocks are read one after the other: less than a tick is no suspend. */
	if (asleep < 10000000)
		asleep = 0;
	ns = number_sub(ns, asleep + host_clock_ahead_ns());
	return ns ? ns : 1;
}

static bool read_stat(uint32_t pid, char comm[16], uint64_t *start)
{
	char *text = proc_text(pid, "stat", TEXT_BYTES);
	uint64_t ticks;
	bool ok = text && process_parse_stat(text, comm, &ticks);

	if (ok)
		*start = start_ns(ticks);
	free(text);
	return ok;
}

uint64_t process_start_ns(uint32_t pid)
{
	char comm[16];
	uint64_t start;

	return proc_is_of_kernel_side() && read_stat(pid, comm, &start) ? start : 0;
}

/* Returns whether it is ending or gone. */
static bool is_ending(uint32_t pid)
{
	char *text = proc_text(pid, "stat", TEXT_BYTES);
	const char *close = text ? strrchr(text, ')') : NULL;
	unsigned int flags;
	bool ending = !close || sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
		      flags & PF_EXITING;

	free(text);
	return ending;
}

/*
 * In cgroup v1 hierarchies an ending task is shown in the root, wherever it was (proc_cgroup_show).
 * If it is not ending after the text was read, the text is valid.
 */
static bool shows_cgroup(uint32_t pid, const char *text)
{
	bool only_v2 = !strncmp(text, "0::", 3) && text[strcspn(text, "\n")] == '\n' &&
		       !text[strcspn(text, "\n") + 1];

	return only_v2 || !is_ending(pid);
}

bool process_cgroup(uint32_t pid, char *path, size_t size)
{
	char *text = proc_is_of_kernel_side() ? proc_text(pid, "cgroup", TEXT_BYTES) : NULL;
	bool ok = text && shows_cgroup(pid, text) && job_labels_choose(text, path, size);

	free(text);
	return ok;
}

bool process_read_facts(uint32_t pid, struct process_facts *facts)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (!proc_is_of_kernel_side() || stat(path, &status) || proc_is_kernel(pid))
		return false;
	facts->uid = status.st_uid;
	return read_stat(pid, facts->comm, &facts->start_ns) &&
	       process_cgroup(pid, facts->cgroup, sizeof(facts->cgroup));
}
