/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The page that `run --html` leaves at the end. Its file and a way to read the trace are had at the
 * start, as who the command runs as; what it takes to open files may be given up after that.
 */
#ifndef FAULTLINE_RUN_PAGE_H
#define FAULTLINE_RUN_PAGE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct run_page {
	const char *pattern; /* as tracefile_name has it; NULL: no page is wanted */
	char path[PATH_MAX];
	int fd, trace_fd; /* -1: not open */
	uid_t uid;
};

/* Creates the file. Logs and returns a negative errno. */
int run_page_open(struct run_page *page, pid_t pid, bool force, uid_t uid, gid_t gid, int trace_fd);
/* Once the trace is whole: makes the report and writes it. What goes wrong is said, and the file
 * removed; it never changes what becomes of the command. Gives up all capabilities. */
void run_page_write(struct run_page *page, const char *trace_path);
/* Of a recording that did not come about. */
void run_page_remove(struct run_page *page);

#endif
