/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The mappings of a process, read line by line from /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct mapping {
	uint64_t start, end;
	unsigned int major, minor;
	uint64_t inode; /* 0: no file */
	bool code;
	const char *path; /* "": none; valid until the next line is read; hostile */
};

struct maps {
	FILE *file; /* NULL: the process has ended, or may not be read */
	char *line;
	size_t room;
};

void maps_open(struct maps *maps, uint32_t pid);
/* Returns false after the last one. */
bool maps_next(struct maps *maps, struct mapping *mapping);
void maps_close(struct maps *maps);
