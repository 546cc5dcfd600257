/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the hierarchies in /proc/self/mountinfo, and cgroups' directories in them. */
#include "capture/follow/cgroup_target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "capture/names/cgroups.h"
#include "base/log.h"

#define HIERARCHIES_MAX 32
#define LINE_BYTES 8192

/* --- hierarchies --- */

struct hierarchy {
	unsigned int number;
	char root[PATH_MAX]; /* mount point */
};

struct hierarchies {
	struct hierarchy *each;
	size_t count;
};

/* Whether a comma-separated list contains a word. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(list, word); at && length; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* Finds the number of the hierarchy with a controller or name from a mount's options. */
static bool find_number(const char *options, unsigned int *number)
{
	char line[LINE_BYTES], controllers[256];
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *word, *rest = controllers;

		if (sscanf(line, "%u:%255[^:]:", number, controllers) != 2)
			continue;
		while (!found && (word = strsep(&rest, ",")))
			found = has_word(options, word);
	}
	if (file)
		fclose(file);
	return found;
}

bool cgroup_has_first_version(const char *controller)
{
	unsigned int number;

	return find_number(controller, &number);
}

/* "36 35 0:31 /root /mount options - type source superoptions" */
static void take_mount(struct hierarchies *all, char *line)
{
	char *behind = strstr(line, " - "), root[PATH_MAX], type[32], options[1024];
	struct hierarchy *one = &all->each[all->count];

	if (!behind || all->count == HIERARCHIES_MAX ||
	    sscanf(line, "%*s %*s %*s %*s %4095s", root) != 1 ||
	    sscanf(behind, " - %31s %*s %1023s", type, options) != 2)
		return;
	if (!strcmp(type, "cgroup2"))
		one->number = 0;
	else if (strcmp(type, "cgroup") || !find_number(options, &one->number))
		return;
	for (size_t i = 0; i < all->count; i++)
		if (all->each[i].number == one->number)
			return; /* mounted twice */
	strcpy(one->root, root);
	all->count++;
	/* Version 2 goes first: systemd and container engines refer to its cgroups. */
	if (!one->number) {
		struct hierarchy first = *one;

		*one = all->each[0];
		all->each[0] = first;
	}
}

/* Returns 0 or -ENOMEM, logged. */
static int hierarchies_find(struct hierarchies *all)
{
	char line[LINE_BYTES];
	FILE *file;

	*all = (struct hierarchies) { .each = calloc(HIERARCHIES_MAX, sizeof(*all->each)) };
	if (!all->each) {
		log_error("out of memory");
		return -ENOMEM;
	}
	file = fopen("/proc/self/mountinfo", "re");
	while (file && fgets(line, sizeof(line), file))
		take_mount(all, line);
	if (file)
		fclose(file);
	return 0;
}

/* --- directories --- */

static const struct hierarchy *hierarchy_of(const struct hierarchies *all, const char *path,
					    bool second)
{
	const struct hierarchy *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct hierarchy *one = &all->each[i];
		size_t length = strlen(one->root);

		if (strncmp(path, one->root, length) || (path[length] && path[length] != '/') ||
		    second != !one->number || length < most)
			continue;
		best = one;
		most = length;
	}
	return best;
}

/* Opens a cgroup's directory; returns -ENOTDIR if `path` exists but is not a cgroup. */
static int open_cgroup(struct cgroup_target *target, const struct hierarchies *all,
		       const char *path)
{
	const struct hierarchy *hierarchy;
	char whole[PATH_MAX];
	struct statfs system;
	struct stat status;

	if (!realpath(path, whole))
		return -errno;
	target->fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target->fd < 0)
		return -errno;
	if (fstat(target->fd, &status) || fstatfs(target->fd, &system))
		return -errno;
	if (system.f_type != CGROUP2_SUPER_MAGIC && system.f_type != CGROUP_SUPER_MAGIC)
		return -ENOTDIR;
	hierarchy = hierarchy_of(all, whole, system.f_type == CGROUP2_SUPER_MAGIC);
	if (!hierarchy)
		return -ENOTDIR;
	target->id = status.st_ino;
	target->hierarchy = hierarchy->number;
	strcpy(target->name, whole + strlen(hierarchy->root));
	if (!target->name[0])
		strcpy(target->name, "/");
	return 0;
}

int cgroup_target_by_path(struct cgroup_target *target, const char *path)
{
	struct hierarchies all;
	int err = hierarchies_find(&all);

	*target = (struct cgroup_target) { .fd = -1 };
	if (err)
		return err;
	err = open_cgroup(target, &all, path);
	for (size_t i = 0; err && i < all.count; i++) {
		char below[PATH_MAX];

		cgroup_target_close(target);
		if (snprintf(below, sizeof(below), "%s/%s", all.each[i].root, path) <
			    (int)sizeof(below) &&
		    !open_cgroup(target, &all, below))
			err = 0;
	}
	if (err)
		cgroup_target_close(target);
	if (err == -ENOTDIR)
		log_error("--cgroup %s: not a cgroup; give its directory below /sys/fs/cgroup or "
			  "its path from /proc/PID/cgroup",
			  path);
	else if (err)
		log_error("--cgroup %s: %s", path, strerror(-err));
	free(all.each);
	return err;
}

/* --- search --- */

struct search {
	bool (*is)(const char *path, const char *id);
	const char *id;
	size_t root_bytes; /* length of the hierarchy's mount point in paths */
	char found[PATH_MAX], other[PATH_MAX];
};

/* Stops at a match: descendants are part of it. */
static enum cgroups_seen look(void *context, const char *path)
{
	struct search *search = context;

	if (!search->is(path + search->root_bytes, search->id))
		return CGROUPS_GO_ON;
	strcpy(search->found[0] ? search->other : search->found, path);
	return CGROUPS_NOT_BELOW;
}

int cgroup_target_by_name(struct cgroup_target *target,
			  bool (*is)(const char *path, const char *id), const char *what,
			  const char *id)
{
	struct search *search = calloc(1, sizeof(*search));
	struct hierarchies all = { .count = 0 };
	int err = -ENOMEM;
	char path[PATH_MAX];

	*target = (struct cgroup_target) { .fd = -1 };
	if (!search)
		log_error("out of memory");
	else
		err = hierarchies_find(&all);
	if (err)
		goto out;
	search->is = is;
	search->id = id;
	for (size_t i = 0; i < all.count && !search->found[0]; i++) {
		strcpy(path, all.each[i].root);
		search->root_bytes = strlen(path);
		cgroups_walk(path, 0, look, search);
	}
	if (!search->found[0]) {
		log_error("%s %s has no cgroup on this node", what, id);
		err = -ENOENT;
	} else if (search->other[0]) {
		log_error("%s %s is ambiguous: %s and %s; choose one with --cgroup PATH", what, id,
			  search->found, search->other);
		err = -EINVAL;
	} else {
		err = open_cgroup(target, &all, search->found);
		if (err)
			log_error("%s: %s", search->found, strerror(-err));
	}
out:
	free(all.each);
	free(search);
	return err;
}

/* --- processes --- */

static int reads(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = 0;
	return got;
}

/* Searches the tree: version 1 has no file that covers descendants. */
static bool has_processes(int dir, int depth)
{
	struct dirent *entry;
	bool found;
	char text[64];
	DIR *list;
	int copy;

	found = reads(dir, "cgroup.procs", text, sizeof(text)) > 0;
	copy = found || depth == CGROUPS_DEPTH_MAX ? -1 : openat(dir, ".", O_RDONLY | O_CLOEXEC);
	list = copy >= 0 ? fdopendir(copy) : NULL;
	if (!list && copy >= 0)
		close(copy);
	while (list && !found && (entry = readdir(list))) {
		int below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (below < 0)
			continue;
		found = has_processes(below, depth + 1);
		close(below);
	}
	if (list)
		closedir(list);
	return found;
}

bool cgroup_target_populated(const struct cgroup_target *target)
{
	char text[256];

	/* Version 2's root has no such file. */
	if (!target->hierarchy && reads(target->fd, "cgroup.events", text, sizeof(text)) > 0)
		return strstr(text, "populated 1");
	return has_processes(target->fd, 0);
}

void cgroup_target_close(struct cgroup_target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}
