/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Creates the file for a trace. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Replaces %h (host), %p (pid), %t (Unix time) and %% in `pattern`. Logs and returns -EINVAL for
 * any other letter, an empty pattern, or a result that does not fit. */
int tracefile_name(const char *pattern, pid_t pid, char out[PATH_MAX]);

/* Replaces only %r, by a rank; keeps the rest for tracefile_name. Logs and returns -EINVAL if there
 * is no rank (-1), or the result does not fit. */
int tracefile_rank(const char *pattern, int64_t rank, char out[PATH_MAX]);

/*
 * Creates the file with mode 0600 as that user, who then owns it: a wrapper run by root must not
 * write where its user could not. An existing file is an error unless `force`, which replaces it.
 * Returns a descriptor, or logs and returns a negative errno.
 */
int tracefile_create(const char *path, bool force, uid_t uid, gid_t gid);
/* Removes the file as that user, for a recording that did not start. */
void tracefile_remove(const char *path, uid_t uid);
