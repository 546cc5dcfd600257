/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The page that `run --html` writes at the end. Its file, and a descriptor to read the trace, are
 * opened at the start as the command's user, because the privileges to open files may be dropped
 * later.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct run_page {
	const char *pattern; /* see tracefile_name; NULL: no page */
	char path[PATH_MAX];
	int fd, trace_fd; /* -1: not open */
	uid_t uid;
};

/* Creates the file. Logs and returns a negative errno on failure. */
int run_page_open(struct run_page *page, pid_t pid, bool force, uid_t uid, gid_t gid, int trace_fd);
/* Once the trace is complete: makes the report and writes the page. On an error, logs it and
 * removes the file; the command's result is never affected. Gives up all capabilities. */
void run_page_write(struct run_page *page, const char *trace_path);
/* For a recording that failed to start. */
void run_page_remove(struct run_page *page);
