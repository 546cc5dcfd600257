/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capture/markers/interpreters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/markers/marker_files.h"
#include "capture/python/layout.h"

/* Gets a file's name without directories. */
static void name_of(int fd, char *name, size_t size)
{
	char link[64], path[PATH_MAX], *slash;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	slash = strrchr(path, '/');
	snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : path);
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
	/* All zeros if it is none, or of a version that is not known: then it is not asked for
	 * again. Other errors may pass. */
	if (!err || err == -ENOEXEC || err == -ENOTSUP || err == -E2BIG)
		bpf_map_update_elem(interpreters->files, file, &layout, BPF_ANY);
}

void interpreters_expect(const struct interpreters *interpreters, int fd)
{
	char name[NAME_MAX + 1];
	struct code_file file;
	struct stat status;

	name_of(fd, name, sizeof(name));
	if (!python_layout_may_be(name) || fstat(fd, &status))
		return;
	file = (struct code_file) { .ino = status.st_ino,
				    .dev = major(status.st_dev) << 20 | minor(status.st_dev) };
	interpreters_look(interpreters, &file, fd);
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
