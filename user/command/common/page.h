/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes a report to a file as an HTML page. */
#pragma once

#include "analysis/report/report.h"

/* Writes the page of a report that was made with pictures; *bytes receives how much was written.
 * Returns 0 or -errno. */
int page_write_to(int fd, const struct report *report, uint64_t *bytes);

/*
 * The same to a file, which gets its name when it is complete and replaces an existing file, or the
 * one that a link leads to; "-" is standard output. Only its owner may read it: paths and command
 * lines may hold secrets. Under sudo the owner is the caller of sudo, and the process runs as that
 * user from then on. Returns 0 or an exit status after a line on stderr.
 */
int page_write(const struct report *report, const char *path);
