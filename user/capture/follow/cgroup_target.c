/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the mounted hierarchies, and cgroups' directories in them. */
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

#include "collections/compare.h"
#include "base/log.h"
#include "capture/host/mounts.h"
#include "capture/names/cgroups.h"

#define HIERARCHIES_MAX 32
#define LINE_BYTES 8192

/* --- hierarchies --- */

struct hierarchy {
	unsigned int number; /* 0: version 2 */
	struct cgroup_mount mount;
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

static int take_mount(void *context, const struct mount *mount)
{
	struct hierarchies *all = context;
	unsigned int number = 0;
	size_t i = 0;

	if (strcmp(mount->type, "cgroup2") != 0 &&
	    (strcmp(mount->type, "cgroup") != 0 || !find_number(mount->super_options, &number)))
		return 0;
	while (i < all->count && all->each[i].number != number)
		i++;
	if (i == HIERARCHIES_MAX)
		return 0;
	all->count += i == all->count;
	all->each[i].number = number;
	cgroup_mount_take(&all->each[i].mount, mount);
	return 0;
}

COMPARE_BY(compare_numbers, struct hierarchy, COMPARE(a->number, b->number))

/* Version 2 goes first: systemd and container engines refer to its cgroups. Returns 0 or -ENOMEM,
 * logged. */
static int hierarchies_find(struct hierarchies *all)
{
	*all = (struct hierarchies) { .each = calloc(HIERARCHIES_MAX, sizeof(*all->each)) };
	if (!all->each) {
		log_error("out of memory");
		return -ENOMEM;
	}
	mounts_each(take_mount, all);
	qsort(all->each, all->count, sizeof(*all->each), compare_numbers);
	return 0;
}

/* --- directories --- */

static const struct hierarchy *hierarchy_of(const struct hierarchies *all, const char *path,
					    bool second)
{
	const struct hierarchy *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct hierarchy *one = &all->each[i];
		size_t length = strlen(one->mount.path);

		if (strncmp(path, one->mount.path, length) ||
		    (path[length] && path[length] != '/') || second != !one->number ||
		    length < longest)
			continue;
		best = one;
		longest = length;
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
	strcpy(target->name, whole + strlen(hierarchy->mount.path));
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
		if (snprintf(below, sizeof(below), "%s/%s", all.each[i].mount.path, path) <
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
		strcpy(path, all.each[i].mount.path);
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
