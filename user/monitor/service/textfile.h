/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A file that is always complete: readers see either the old contents or the new. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct textfile;

/* Writes nothing yet. Returns 0 or a negative errno, logged: -EINVAL if the path cannot be such a
 * file. */
int textfile_open(struct textfile **file, const char *path);
/* Removes the file if it was ever written, because nobody updates it any more. NULL is fine. */
void textfile_close(struct textfile *file);

/* Replaces the contents. Logs a failure when it begins, then at most every ten minutes, and when it
 * ends; may be retried at any time. Returns 0 or a negative errno. */
int textfile_write(struct textfile *file, const char *text, size_t length, uint64_t now_ns);
