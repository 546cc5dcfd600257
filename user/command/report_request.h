/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What faultline report was asked for, and what its parts share.
 */
#ifndef FAULTLINE_REPORT_REQUEST_H
#define FAULTLINE_REPORT_REQUEST_H

#include <string.h>
#include <unistd.h>

#include "analysis/model/filter.h"
#include "analysis/report/report.h"
#include "command/fail_above.h"
#include "output/sink.h"
#include "trace/error.h"

struct report_request {
	const char *format, *spans, *explain, *colour;
	const char *table, *columns, *sort, *by, *against, *against_spans, *html;
	const char *fail_above;
	bool list_tables, list_columns;
	uint64_t top, memory, slowest;
	struct filter filter;
};

static inline bool report_is_text(const struct report_request *request)
{
	return !strcmp(request->format, "text");
}

/* Standard output, as a sink. Returns 0 or -ENOMEM. */
static inline int report_open(const struct report_request *request, struct sink *out)
{
	return report_is_text(request) ? sink_open_text(out, STDOUT_FILENO)
				       : sink_open(out, STDOUT_FILENO);
}

#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX

static inline uint64_t report_top(const struct report_request *request)
{
	return request->top == TOP_UNSET ? TOP_DEFAULT : request->top;
}

/* Says what is wrong, and whose fault it is; returns the exit status. */
int report_failed(int status, const struct trace_error *error);
/* Reads when a GPU computed; returns 0 or an exit status after a line on stderr. */
int report_read_gpu(struct gpu *gpu, const char *path);

/* report_against.c: reads the run of --against with the same options, and prints both side by side.
 * `allowed` is judged by both. Returns 0 or an exit status. */
int report_against(const struct report *report, const struct report_request *request,
		   const struct report_options *options, struct fail_above *allowed);

#endif
