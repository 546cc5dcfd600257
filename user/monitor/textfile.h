/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file that is always whole: whoever reads it finds what was there before, or what is there now.
 * Knows nothing of what stands in it.
 */
#ifndef FAULTLINE_MONITOR_TEXTFILE_H
#define FAULTLINE_MONITOR_TEXTFILE_H

#include <stddef.h>
#include <stdint.h>

struct textfile;

/* Nothing is written yet. Returns 0 or a negative errno, logged: -EINVAL where it cannot be such a
 * file. */
int textfile_open(struct textfile **file, const char *path);
/* Removes it, unless it could never be written: what nobody writes any more tells nothing. NULL is
 * fine. */
void textfile_close(struct textfile *file);

/* Replaces what is there. A failure is logged when it begins, then at most every ten minutes, and
 * its end; it may be tried again at any time. Returns 0 or a negative errno. */
int textfile_write(struct textfile *file, const char *text, size_t length, uint64_t now_ns);

#endif
