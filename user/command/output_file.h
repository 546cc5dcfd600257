/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file that a command writes: it takes its name only once it is whole. Until then it stands next
 * to that under a name of its own, which goes away on an error, and on a signal that ends the
 * program. One at a time.
 */
#ifndef FAULTLINE_OUTPUT_FILE_H
#define FAULTLINE_OUTPUT_FILE_H

#include <stdbool.h>

/* All zeros but fd -1 is none. */
struct output_file {
	const char *name;
	int fd;
	char *made;   /* its name until it is whole; NULL: it is written where it stands */
	bool replace; /* a file of that name */
};

/* Opens `name`, mode 0600, for this user only. What is there and no file (a pipe, a device) is
 * written into. Without `replace` a file that is there is -EEXIST; a symbolic link is -ELOOP
 * always: it may be another user's, and lead anywhere. Returns 0 or -errno. */
int output_file_open(struct output_file *file, const char *name, bool replace);
/* It is whole: closes it and gives it its name. Returns 0 or -errno. */
int output_file_finish(struct output_file *file);
/* Removes what is not whole. Does nothing after output_file_finish. */
void output_file_drop(struct output_file *file);

#endif
