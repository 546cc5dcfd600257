/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The common interface of exports to a single stream. */
#ifndef FAULTLINE_EXPORT_H
#define FAULTLINE_EXPORT_H

#include "analysis/order/filter.h"
#include "output/base/sink.h"
#include "trace/read/reader.h"

struct export_options {
	const struct filter *filter; /* NULL: all events */
	/* Called periodically with the fraction done, 0 to 1; may be NULL. */
	void (*progress)(void *context, double done);
	void *context;
};

/*
 * Writes traces, as one job, in a single-stream format. Returns 0, the sink's error, -ENOMEM, or
 * the error of a trace or a filter, which `error` describes.
 */
typedef int export_stream(struct sink *out, struct trace_reader *const *traces,
			  const char *const *names, size_t trace_count,
			  const struct export_options *options, struct trace_error *error);

#endif
