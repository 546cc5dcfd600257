/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A directory of small files, named by numbers. */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes files 0 to files - 1 of `size` bytes each. Returns 0 or -1, as all functions here. */
static inline int small_files_make(int directory, unsigned int files, const uint8_t *bytes,
				   size_t size)
{
	for (unsigned int i = 0; i < files; i++) {
		char name[16];
		ssize_t wrote;
		int fd;

		snprintf(name, sizeof(name), "%u", i);
		fd = openat(directory, name, O_WRONLY | O_CREAT, 0600);
		if (fd < 0)
			return -1;
		wrote = write(fd, bytes, size);
		close(fd);
		if (wrote != (ssize_t)size)
			return -1;
	}
	return 0;
}

/* Loads one file as an image loader does: open, fstat, read, close. */
static inline int small_files_load(int directory, unsigned int number, uint8_t *bytes, size_t size)
{
	char name[16];
	struct stat about;
	ssize_t got = -1;
	int fd;

	snprintf(name, sizeof(name), "%u", number);
	fd = openat(directory, name, O_RDONLY);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &about))
		got = read(fd, bytes, size);
	close(fd);
	return got == (ssize_t)size ? 0 : -1;
}
