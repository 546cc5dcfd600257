/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The request of faultline report, and what its parts share. */
#pragma once

#include <string.h>
#include <unistd.h>

#include "analysis/order/filter.h"
#include "analysis/report/report.h"
#include "command/common/fail_above.h"
#include "output/base/sink.h"
#include "trace/read/error.h"

struct report_request {
	const char *format, *spans, *explain, *colour;
	const char *table, *columns, *sort, *by, *against, *compare_spans, *html;
	const char *fail_above;
	bool list_tables, list_columns, json_schema;
	uint64_t top, memory, slowest;
	struct filter filter;
};

static inline bool report_is_text(const struct report_request *request)
{
	return !strcmp(request->format, "text");
}

/* Opens standard output as a sink. Returns 0 or -ENOMEM. */
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

/* Logs what is wrong; returns the exit status, which depends on whose fault it is. */
int report_failed(int status, const struct trace_error *error);
/* Reads when a GPU computed. Returns 0, or an exit status after a line on stderr. */
int report_read_gpu(struct gpu *gpu, const char *path);

/* report_compare.c: reads the run of --against with the same options, and prints both side by side.
 * Compares both for `limits`. Returns 0 or an exit status. */
int report_compare(const struct report *report, const struct report_request *request,
		   const struct report_options *options, struct fail_above *limits);
