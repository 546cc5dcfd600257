/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report as a page in a file, for the commands that write one.
 */
#ifndef FAULTLINE_PAGE_H
#define FAULTLINE_PAGE_H

#include "analysis/report.h"

/*
 * Writes the page of a report that was made with pictures to a file, which appears under its name
 * when it is whole and replaces what was there; "-" is standard output. Only its owner may read it:
 * paths and command lines may hold secrets. Returns 0 or an exit status after a line on stderr.
 */
int page_write(const struct report *report, const char *path);

#endif
