/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report as one page that opens from disk and asks nobody for anything: its style and programs
 * were put into it when this program was built (html/), its data is JSON within it.
 */
#ifndef FAULTLINE_HTML_H
#define FAULTLINE_HTML_H

#include "analysis/report/report.h"
#include "output/sink.h"

/* What the page may take, whatever the traces. */
#define HTML_BYTES_MOST 3000000

/* The report must have been made with pictures. Errors of writing are the sink's; returns -ENOMEM
 * or the sink's error so far. */
int html_report(struct sink *out, const struct report *report);

#endif
