/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file that a command writes: it gets its name only when it is complete. Until then it has a
 * temporary name next to that, and is removed on an error or a signal that ends the program. One at
 * a time.
 */
#pragma once

#include <stdbool.h>

/* Initialize with zeros and fd -1. */
struct output_file {
	const char *name;
	int fd;
	char *made;   /* its temporary name; NULL: written in place */
	bool replace; /* an existing file of that name */
};

/* Opens `name` with mode 0600, for this user only. An existing pipe or device is written into. An
 * existing file is -EEXIST without `replace`. A symbolic link is -ELOOP, because it may lead
 * anywhere, unless root owns it and it leads to a pipe or device. Returns 0 or -errno. */
int output_file_open(struct output_file *file, const char *name, bool replace);
/* The file is complete: closes it and gives it its name. Returns 0 or -errno. */
int output_file_finish(struct output_file *file);
/* Removes an incomplete file. Does nothing after output_file_finish. */
void output_file_drop(struct output_file *file);
