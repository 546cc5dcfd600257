/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report as a page in a file, for the commands that write one.
 */
#ifndef FAULTLINE_PAGE_H
#define FAULTLINE_PAGE_H

#include "analysis/report/report.h"

/* Writes the page of a report that was made with pictures; *bytes is what it took so far. Returns 0
 * or -errno. */
int page_write_to(int fd, const struct report *report, uint64_t *bytes);

/*
 * The same to a file, which appears under its name when it is whole and replaces what was there, or
 * what a link leads to; "-" is standard output. Only its owner may read it: paths and command lines
 * may hold secrets. Through sudo that is who called it: the process is theirs from then on. Returns
 * 0 or an exit status after a line on stderr.
 */
int page_write(const struct report *report, const char *path);

#endif
