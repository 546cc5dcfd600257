/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report as a page that opens from disk and makes no network requests. Style and scripts are
 * embedded at build time (html/), the data as JSON.
 */
#pragma once

#include "analysis/report/report.h"
#include "output/base/sink.h"

/* Maximum size of the page, whatever the traces. */
#define HTML_BYTES_MAX 4000000

/* The report must have been made with pictures. Write errors are kept in the sink; returns -ENOMEM
 * or the sink's error so far. */
int html_report(struct sink *out, const struct report *report);
