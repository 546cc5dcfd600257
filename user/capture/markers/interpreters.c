/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds Python interpreters among mapped files and stores their layouts for the kernel side. */
#include "capture/markers/interpreters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/markers/marker_files.h"
#include "capture/python/layout.h"

static void path_of(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = 0;
}

/* Gets a file's name without directories. */
static void name_of(int fd, char *name, size_t size)
{
	char path[PATH_MAX], *slash;

	path_of(fd, path);
	slash = strrchr(path, '/');
	snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
}

static uint32_t generation_of(int content)
{
	uint32_t generation[2] = { 0 }; /* the kernel says a long, and writes an int */

	return ioctl(content, FS_IOC_GETVERSION, generation) ? 0 : generation[0];
}

uint32_t interpreters_generation(int fd)
{
	int content = marker_files_reopen(fd);
	uint32_t generation;

	if (content < 0)
		return 0;
	generation = generation_of(content);
	close(content);
	return generation;
}

/* Notes that a file's stacks are not recorded, once. */
static void refuse(struct refused_interpreters *refused, int fd, int status)
{
	uint32_t count = atomic_load(&refused->count);
	char path[PATH_MAX];

	path_of(fd, path);
	path[sizeof(refused->files[0].path) - 1] = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(refused->files[i].path, path))
			return;
	if (count == REFUSED_INTERPRETERS_MAX) {
		atomic_fetch_add(&refused->more, 1);
		return;
	}
	strcpy(refused->files[count].path, path);
	refused->files[count].status = status;
	atomic_store(&refused->count, count + 1);
}

void interpreters_look(const struct interpreters *interpreters, const struct code_file *file,
		       int fd)
{
	struct python_layout layout;
	char name[NAME_MAX + 1];
	int content, err;

	if (interpreters->files < 0 || !bpf_map_lookup_elem(interpreters->files, file, &layout))
		return;
	content = marker_files_reopen(fd);
	if (content < 0)
		return;
	name_of(fd, name, sizeof(name));
	err = python_layout_find(content, name, &layout);
	close(content);
	if (err == -ENOTSUP || err == -ENODATA)
		refuse(interpreters->refused, fd, err);
	/* All zeros: not an interpreter, or an unsupported one; the kernel side stops asking. Other
	 * errors may be temporary, so nothing is stored. */
	if (!err || err == -ENOEXEC || err == -ENOTSUP || err == -ENODATA || err == -E2BIG)
		bpf_map_update_elem(interpreters->files, file, &layout, BPF_ANY);
}

void interpreters_expect(const struct interpreters *interpreters, int fd)
{
	struct python_layout layout;
	char name[NAME_MAX + 1];
	struct code_file file;
	struct stat status;
	int content;

	name_of(fd, name, sizeof(name));
	if (interpreters->files < 0 || !python_layout_may_be(name) || fstat(fd, &status))
		return;
	content = marker_files_reopen(fd);
	if (content < 0)
		return;
	file = (struct code_file) { .ino = status.st_ino,
				    .dev = major(status.st_dev) << 20 | minor(status.st_dev),
				    .generation = generation_of(content) };
	if (bpf_map_lookup_elem(interpreters->files, &file, &layout) &&
	    !python_layout_find(content, name, &layout))
		bpf_map_update_elem(interpreters->files, &file, &layout, BPF_ANY);
	close(content);
}

bool interpreters_library(int fd, const char *directory, char path[PATH_MAX])
{
	char program[PATH_MAX], *name;
	int length;

	path_of(fd, program);
	name = strrchr(program, '/');
	if (!name || strncmp(name, "/python3.", 9) != 0)
		return false;
	*name++ = 0;
	length = snprintf(path, PATH_MAX, "%s/../%s/lib%s.so.1.0", program, directory, name);
	return length < PATH_MAX;
}

void interpreters_set_process(const struct interpreters *interpreters, uint32_t pid,
			      const struct code_file *file, uint64_t address, int fd)
{
	struct python_process process = { 0 };
	struct python_mapping *mapping;
	char name[NAME_MAX + 1];

	if (interpreters->processes < 0)
		return;
	name_of(fd, name, sizeof(name));
	if (bpf_map_lookup_elem(interpreters->processes, &pid, &process))
		memset(&process, 0, sizeof(process));
	mapping = strncmp(name, "lib", 3) ? &process.program : &process.library;
	*mapping = (struct python_mapping) { *file, address };
	bpf_map_update_elem(interpreters->processes, &pid, &process, BPF_ANY);
}
