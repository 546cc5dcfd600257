/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads limits and mounts from /proc and the cgroup file systems. */
#include "capture/host/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/number.h"
#include "capture/host/mounts.h"

#define MOUNTS_MAX 1024

struct limits {
	uint64_t memory_bytes, cgroup_memory_bytes;
	uint64_t cpu_milli;	      /* 0: no fewer than the machine has */
	uint64_t throttled_ns;	      /* at the start */
	char cpu_directory[PATH_MAX]; /* of the cgroup with the lowest quota; "": none */
	uint64_t dirty_bytes, dirty_background_bytes;
	struct trace_mount *mounts;
	size_t count;
};

/* --- small files --- */

static bool read_number(const char *path, uint64_t *number)
{
	FILE *file = fopen(path, "re");
	bool found = file && fscanf(file, "%" SCNu64, number) == 1;

	if (file)
		fclose(file);
	return found;
}

/* Returns a page count from /proc/vmstat in bytes. */
static uint64_t vmstat_bytes(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "re");
	uint64_t pages, found = 0;
	char key[64];

	while (file && fscanf(file, "%63s %" SCNu64, key, &pages) == 2)
		if (!strcmp(key, name))
			found = pages * sysconf(_SC_PAGESIZE);
	if (file)
		fclose(file);
	return found;
}

/* --- the cgroup --- */

/* The hierarchy of a controller. */
struct limit_hierarchy {
	const char *controller;
	struct cgroup_mount mount;
	bool is_first_version;
};

static bool has_option(const char *options, const char *option)
{
	size_t length = strlen(option);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, option, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* If both versions are mounted, version 1 limits what it has a controller for. */
static int take_hierarchy(void *context, const struct mount *mount)
{
	struct limit_hierarchy *hierarchy = context;
	bool is_first = !strcmp(mount->type, "cgroup") &&
			has_option(mount->super_options, hierarchy->controller);

	if (is_first && !hierarchy->is_first_version)
		*hierarchy = (struct limit_hierarchy) { hierarchy->controller,
							.is_first_version = true };
	if (is_first || (!hierarchy->is_first_version && !strcmp(mount->type, "cgroup2")))
		cgroup_mount_take(&hierarchy->mount, mount);
	return 0;
}

/* Finds this process's cgroup in the hierarchy: "N:CONTROLLERS:PATH", or "0::PATH" in version 2. */
static bool find_cgroup(const struct limit_hierarchy *hierarchy, char cgroup[PATH_MAX])
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *rest = line, *controllers, *path;

		strsep(&rest, ":");
		controllers = strsep(&rest, ":");
		path = strsep(&rest, "\n");
		if (!path)
			continue;
		found = hierarchy->is_first_version ? has_option(controllers, hierarchy->controller)
						    : !*controllers;
		snprintf(cgroup, PATH_MAX, "%s", path);
	}
	if (file)
		fclose(file);
	return found;
}

/* A limit of a cgroup; UINT64_MAX: none. */
typedef uint64_t limit_fn(const char *directory, bool is_first_version);

/* Returns the lowest limit of the cgroup and its ancestors, or UINT64_MAX, and in which directory
 * it is. */
static uint64_t lowest_limit(const char *controller, limit_fn *limit_of, char found[PATH_MAX])
{
	struct limit_hierarchy hierarchy = { .controller = controller };
	char cgroup[PATH_MAX], *below;
	uint64_t lowest = UINT64_MAX;

	mounts_each(take_hierarchy, &hierarchy);
	if (!hierarchy.mount.path[0] || !find_cgroup(&hierarchy, cgroup))
		return UINT64_MAX;
	below = (char *)cgroup_mount_below(&hierarchy.mount, cgroup);
	for (;;) {
		char path[2 * PATH_MAX], *last;
		uint64_t limit;

		snprintf(path, sizeof(path), "%s%s", hierarchy.mount.path, below);
		limit = limit_of(path, hierarchy.is_first_version);
		if (limit < lowest) {
			lowest = limit;
			snprintf(found, PATH_MAX, "%.*s", PATH_MAX - 1, path);
		}
		last = strrchr(below, '/');
		if (!last)
			break;
		*last = 0;
	}
	return lowest;
}

static bool read_limit(const char *directory, const char *name, uint64_t *number)
{
	char path[2 * PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return read_number(path, number);
}

static uint64_t memory_limit(const char *directory, bool is_first_version)
{
	const char *name = is_first_version ? "memory.limit_in_bytes" : "memory.max";
	uint64_t bytes;

	/* Version 1 uses a number near 2^63 for "no limit". */
	if (!read_limit(directory, name, &bytes) || bytes >= INT64_MAX - (1 << 20))
		return UINT64_MAX;
	return bytes;
}

/* In thousandths of a CPU. */
static uint64_t cpu_limit(const char *directory, bool is_first_version)
{
	char path[2 * PATH_MAX + 64];
	uint64_t quota_us = 0, period_us = 0;
	FILE *file;

	if (is_first_version) {
		/* -1: no limit */
		if (!read_limit(directory, "cpu.cfs_quota_us", &quota_us) || quota_us > INT64_MAX ||
		    !read_limit(directory, "cpu.cfs_period_us", &period_us) || !period_us)
			return UINT64_MAX;
		return quota_us * 1000 / period_us;
	}
	snprintf(path, sizeof(path), "%s/cpu.max", directory);
	file = fopen(path, "re");
	/* "max PERIOD": no limit */
	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &quota_us, &period_us) != 2)
		period_us = 0;
	if (file)
		fclose(file);
	return period_us ? quota_us * 1000 / period_us : UINT64_MAX;
}

/* Returns how long the cgroup's CPUs were throttled so far, summed over CPUs; 0 if unknown. */
static uint64_t throttled_ns(const char *directory)
{
	char path[PATH_MAX + 64], key[64];
	uint64_t value, found_ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpu.stat", directory);
	file = fopen(path, "re");
	while (file && fscanf(file, "%63s %" SCNu64, key, &value) == 2)
		if (!strcmp(key, "throttled_usec"))
			found_ns = value * 1000;
		else if (!strcmp(key, "throttled_time")) /* version 1 */
			found_ns = value;
	if (file)
		fclose(file);
	return found_ns;
}

static void find_cpus(struct limits *limits)
{
	const uint64_t online = 1000ull * sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	limits->cpu_milli = lowest_limit("cpu", cpu_limit, limits->cpu_directory);
	if (limits->cpu_milli != UINT64_MAX)
		limits->throttled_ns = throttled_ns(limits->cpu_directory);
	if (!sched_getaffinity(0, sizeof(set), &set) &&
	    1000ull * CPU_COUNT(&set) < limits->cpu_milli)
		limits->cpu_milli = 1000ull * CPU_COUNT(&set);
	if (limits->cpu_milli >= online)
		limits->cpu_milli = 0;
}

uint64_t limits_throttled_ns(const struct limits *limits)
{
	const uint64_t now_ns = limits->cpu_directory[0] ? throttled_ns(limits->cpu_directory) : 0;

	return number_sub(now_ns, limits->throttled_ns);
}

/* --- mounts --- */

static const char *const no_storage[] = {
	"autofs", "binfmt_misc", "bpf",	       "cgroup",     "cgroup2",	  "configfs", "debugfs",
	"devpts", "efivarfs",	 "fusectl",    "hugetlbfs",  "mqueue",	  "nsfs",     "proc",
	"pstore", "ramfs",	 "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",    "tracefs",
};

static uint64_t readahead_bytes(const struct mount *mount)
{
	char path[64];
	uint64_t kilobytes = 0;

	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", mount->major,
		 mount->minor);
	return read_number(path, &kilobytes) ? kilobytes * 1024 : 0;
}

static int take_mount(void *context, const struct mount *mount)
{
	struct limits *limits = context;
	struct trace_mount *taken = &limits->mounts[limits->count];
	char *options = NULL;

	for (size_t i = 0; i < sizeof(no_storage) / sizeof(no_storage[0]); i++)
		if (!strcmp(mount->type, no_storage[i]))
			return 0;
	if (limits->count == MOUNTS_MAX)
		return 0;
	/* Options of the mount and of the file system; the latter often repeat the first one. */
	if (asprintf(&options, "%s,%s", mount->options, mount->super_options) < 0)
		return -ENOMEM;
	*taken = (struct trace_mount) {
		.dev = mount->major << 20 | mount->minor,
		.type = strdup(mount->type),
		.options = options,
		.path = strdup(mount->path),
		.readahead_bytes = readahead_bytes(mount),
	};
	limits->count++;
	return taken->type && taken->path ? 0 : -ENOMEM;
}

int limits_open(struct limits **out)
{
	struct limits *limits = calloc(1, sizeof(*limits));
	char memory_directory[PATH_MAX];
	struct sysinfo info;
	int err;

	if (!limits)
		return -ENOMEM;
	limits->mounts = calloc(MOUNTS_MAX, sizeof(*limits->mounts));
	err = limits->mounts ? mounts_each(take_mount, limits) : -ENOMEM;
	if (err) {
		limits_close(limits);
		return err;
	}
	if (!sysinfo(&info))
		limits->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	limits->cgroup_memory_bytes = lowest_limit("memory", memory_limit, memory_directory);
	if (limits->cgroup_memory_bytes == UINT64_MAX)
		limits->cgroup_memory_bytes = 0;
	find_cpus(limits);
	limits->dirty_bytes = vmstat_bytes("nr_dirty_threshold");
	limits->dirty_background_bytes = vmstat_bytes("nr_dirty_background_threshold");
	*out = limits;
	return 0;
}

void limits_close(struct limits *limits)
{
	if (!limits)
		return;
	for (size_t i = 0; limits->mounts && i < limits->count; i++) {
		free((char *)limits->mounts[i].type);
		free((char *)limits->mounts[i].options);
		free((char *)limits->mounts[i].path);
	}
	free(limits->mounts);
	free(limits);
}

void limits_describe(const struct limits *limits, struct trace_header *header)
{
	header->memory_bytes = limits->memory_bytes;
	header->cgroup_memory_bytes = limits->cgroup_memory_bytes;
	header->cpu_milli = limits->cpu_milli;
	header->dirty_bytes = limits->dirty_bytes;
	header->dirty_background_bytes = limits->dirty_background_bytes;
	header->mounts = limits->mounts;
	header->mount_count = limits->count;
}
