/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names made from what the kernel side read. Everything comes from traced programs: bounded, and
 * never taken for text that ends with a NUL.
 */
#include "capture/names.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- paths --- */

/* Turns "leaf\0dir\0top\0" into "/top/dir/leaf". */
static size_t reverse_components(const char *names, size_t bytes, const char *lead, char *out)
{
	size_t length = 0, end = bytes;

	length += sprintf(out, "%s", lead);
	while (end > 0) {
		size_t start = end - 1;

		while (start > 0 && names[start - 1])
			start--;
		out[length++] = '/';
		memcpy(out + length, names + start, end - 1 - start);
		length += end - 1 - start;
		end = start;
	}
	if (!bytes)
		out[length++] = '/';
	return length;
}

static size_t device_name(uint32_t rdev, char *out)
{
	char link[64], target[256];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", rdev >> 20, rdev & 0xfffff);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return sprintf(out, "[block device %u:%u]", rdev >> 20, rdev & 0xfffff);
	target[n] = 0;
	name = strrchr(target, '/');
	return sprintf(out, "[block device %s]", name ? name + 1 : target);
}

size_t names_path(const struct event_file *file, char *out)
{
	size_t bytes = file->names_bytes;
	unsigned long long ino = file->ino;

	if (bytes > EVENT_PATH_BYTES + 256)
		bytes = EVENT_PATH_BYTES + 256;
	if (!(file->flags & TRACE_FILE_NAMELESS)) {
		bool cut = file->flags & TRACE_FILE_PATH_CUT;

		if (!bytes && cut && file->class == FILE_CLASS_BLK)
			return device_name(file->rdev, out);
		if (!bytes && cut)
			return sprintf(out, "[inode %llu of device %u:%u]", ino, file->dev >> 20,
				       file->dev & 0xfffff);
		return reverse_components(file->names, bytes, cut ? "..." : "", out);
	}
	switch (file->class) {
	case FILE_CLASS_FIFO:
		return sprintf(out, "pipe:[%llu]", ino);
	case FILE_CLASS_SOCK:
		return sprintf(out, "socket:[%llu]", ino);
	case FILE_CLASS_ANON:
		return sprintf(out, "anon_inode:%.*s", (int)(bytes ? bytes - 1 : 0), file->names);
	}
	bytes = bytes ? bytes - 1 : 0;
	memcpy(out, file->names, bytes);
	return bytes ? bytes : (size_t)sprintf(out, "[inode %llu without a name]", ino);
}

/* --- ranks --- */

#define RANK_DIGITS_MAX 9

static const char *find_variable(const char *environment, size_t bytes, const char *name,
				 size_t *length)
{
	size_t n = strlen(name);

	for (size_t at = 0; at < bytes;) {
		const char *entry = environment + at;
		const char *end = memchr(entry, 0, bytes - at);
		size_t size = end ? (size_t)(end - entry) : bytes - at;

		if (size > n && entry[n] == '=' && !memcmp(entry, name, n)) {
			*length = size - n - 1;
			return entry + n + 1;
		}
		at += size + 1;
	}
	return NULL;
}

int64_t names_rank(const char *environment, size_t bytes)
{
	static const char *const variables[] = { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
						 "PMI_RANK", "PMIX_RANK" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		size_t length = 0, digits = 0;
		int64_t rank = 0;
		const char *value = find_variable(environment, bytes, variables[i], &length);

		while (value && digits < length && digits < RANK_DIGITS_MAX &&
		       value[digits] >= '0' && value[digits] <= '9')
			rank = rank * 10 + value[digits++] - '0';
		if (digits && digits == length)
			return rank;
	}
	return -1;
}

/* --- cgroups --- */

#define CGROUP_DEPTH_MAX 12
#define CGROUPS_REMEMBERED 64

static char cgroup_root[PATH_MAX];

static void find_cgroup_root(void)
{
	char line[8192], mount[PATH_MAX];
	FILE *file = fopen("/proc/self/mountinfo", "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " - cgroup2 "))
			continue;
		if (sscanf(line, "%*s %*s %*s %*s %4095s", mount) == 1)
			snprintf(cgroup_root, sizeof(cgroup_root), "%s", mount);
	}
	if (file)
		fclose(file);
	if (!cgroup_root[0])
		strcpy(cgroup_root, "-");
}

/* A cgroup's id is the inode number of its directory. */
static bool search_cgroup(char *path, size_t length, uint64_t id, int depth)
{
	struct dirent *entry;
	bool found = false;
	struct stat status;
	DIR *dir;

	if (!stat(path, &status) && status.st_ino == id)
		return true;
	if (depth == CGROUP_DEPTH_MAX)
		return false;
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + strlen(entry->d_name) + 2 > PATH_MAX)
			continue;
		sprintf(path + length, "/%s", entry->d_name);
		found = search_cgroup(path, strlen(path), id, depth + 1);
		if (!found)
			path[length] = 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

const char *names_cgroup(uint64_t id)
{
	static struct {
		uint64_t id;
		char *path;
	} known[CGROUPS_REMEMBERED];
	static size_t next;
	static char path[PATH_MAX];
	size_t slot;

	if (!cgroup_root[0])
		find_cgroup_root();
	if (cgroup_root[0] != '/')
		return "";
	for (size_t i = 0; i < CGROUPS_REMEMBERED; i++)
		if (known[i].path && known[i].id == id)
			return known[i].path;
	strcpy(path, cgroup_root);
	if (!search_cgroup(path, strlen(path), id, 0))
		return "";
	memmove(path, path + strlen(cgroup_root), strlen(path + strlen(cgroup_root)) + 1);
	if (!path[0])
		strcpy(path, "/");
	slot = next++ % CGROUPS_REMEMBERED;
	free(known[slot].path);
	known[slot].id = id;
	known[slot].path = strdup(path);
	return path;
}
