/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Making the file that a trace goes into.
 */
#ifndef FAULTLINE_TRACEFILE_H
#define FAULTLINE_TRACEFILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Replaces %h (host), %p (pid), %t (unix time) and %% in `pattern`. Logs and returns -EINVAL for
 * another letter or a result that does not fit. */
int tracefile_name(const char *pattern, pid_t pid, char out[PATH_MAX]);

/*
 * Creates it with mode 0600, as that user, whose it then is: a wrapper run by root must not write
 * where its user could not. An existing file is an error unless `force`, which replaces it.
 * Returns a descriptor, or logs and returns a negative errno.
 */
int tracefile_create(const char *path, bool force, uid_t uid, gid_t gid);
/* Removes it, as that user; for a recording that did not come about. */
void tracefile_remove(const char *path, uid_t uid);

#endif
