/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the files that a process has mapped. Opens them through
 * /proc/PID/map_files, whose links are right in any mount namespace and after a file was replaced.
 */
#include "capture/native/mapped_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collections/map.h"
#include "capture/host/maps.h"
#include "capture/native/symbols.h"

#define FILES_MAX 4096
#define FILES_SPARE 256 /* what one process may add */
#define LINES_MAX 65536 /* of /proc/PID/maps */

struct mapped_files {
	struct map numbers; /* by device and inode */
	struct mapped_file *all[FILES_MAX];
	size_t count;
};

struct mapped_files *mapped_files_make(void)
{
	struct mapped_files *files = calloc(1, sizeof(*files));

	if (files)
		map_init(&files->numbers, 2, 1);
	return files;
}

bool mapped_files_are_full(const struct mapped_files *files)
{
	return files->count > FILES_MAX - FILES_SPARE;
}

void mapped_files_forget(struct mapped_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		symbols_close(files->all[i]->symbols);
		if (files->all[i]->fd >= 0)
			close(files->all[i]->fd);
		free(files->all[i]);
	}
	files->count = 0;
	map_free(&files->numbers);
	map_init(&files->numbers, 2, 1);
}

/* Opens a regular file for reading, without waiting for anything, if it has this inode number. */
static int open_regular(const char *path, uint64_t inode)
{
	struct stat status;
	char link[64];
	int fd = open(path, O_PATH | O_CLOEXEC), content = -1;

	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_ino == inode)
		content = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(fd);
	return content;
}

static void set_path(struct mapped_file *file, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path);

	if (length > sizeof(deleted) - 1 && !strcmp(path + length - sizeof(deleted) + 1, deleted))
		length -= sizeof(deleted) - 1;
	snprintf(file->path, sizeof(file->path), "%.*s", (int)length, path);
}

/* The links in map_files need a capability; without it, uses the path. */
static int open_mapping(uint32_t pid, const struct mapping *mapping)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	fd = open_regular(path, mapping->inode);
	if (fd >= 0 || snprintf(path, sizeof(path), "/proc/%u/root%s", pid, mapping->path) >=
			       (int)sizeof(path))
		return fd;
	return open_regular(path, mapping->inode);
}

/* Returns NULL if there is no room. */
static struct mapped_file *find_file(struct mapped_files *files, uint32_t pid,
				     const struct mapping *mapping)
{
	const uint64_t key[] = { (uint64_t)mapping->major << 32 | mapping->minor, mapping->inode };
	uint64_t *known = map_find(&files->numbers, key);
	struct mapped_file *file;
	bool added;

	if (known) {
		file = files->all[*known];
		if (file->fd < 0) /* it was tried through a process that had ended */
			file->fd = open_mapping(pid, mapping);
		return file;
	}
	if (files->count == FILES_MAX)
		return NULL;
	file = calloc(1, sizeof(*file));
	known = file ? map_add(&files->numbers, key, &added) : NULL;
	if (!known) {
		free(file);
		return NULL;
	}
	file->major = mapping->major;
	file->minor = mapping->minor;
	file->inode = mapping->inode;
	set_path(file, mapping->path);
	file->fd = open_mapping(pid, mapping);
	*known = files->count;
	files->all[files->count++] = file;
	return file;
}

static bool continues(const struct mapping *mapping, const struct mapping *group)
{
	return group->inode && mapping->inode == group->inode && mapping->major == group->major &&
	       mapping->minor == group->minor;
}

size_t mapped_files_of(struct mapped_files *files, uint32_t pid, struct mapped_module *modules)
{
	struct mapping group = { .inode = 0 }, mapping;
	struct mapped_module *last = NULL;
	size_t count = 0, lines = 0;
	struct maps maps;

	maps_open(&maps, pid);
	while (count < MAPPED_MODULES_MAX && lines++ < LINES_MAX && maps_next(&maps, &mapping)) {
		const bool vdso = !strcmp(mapping.path, "[vdso]");

		if (!mapping.inode && !vdso)
			continue; /* anonymous memory between mappings of a file */
		if (!continues(&mapping, &group)) {
			group = mapping;
			last = NULL;
		}
		if (!last && mapping.code) {
			struct mapped_file *file = vdso ? NULL : find_file(files, pid, &mapping);

			if (!file && !vdso)
				continue;
			last = &modules[count++];
			*last = (struct mapped_module) { .start = group.start, .file = file };
		}
		if (last)
			last->end = mapping.end;
	}
	maps_close(&maps);
	return count;
}
