/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where I/O that no compute hid was, as flame graphs for speedscope (speedscope.app, "file format
 * schema"): spans from the outermost to the innermost, then the file, then the call. A graph for
 * the job and one for each rank; their widths are ns, and add up to what the report says is
 * unoverlapped (where no compute is marked: to all of the I/O).
 */
#ifndef FAULTLINE_EXPORT_SPEEDSCOPE_H
#define FAULTLINE_EXPORT_SPEEDSCOPE_H

#include "analysis/filter.h"
#include "output/sink.h"
#include "trace/reader.h"

struct speedscope_options {
	const struct filter *filter; /* NULL: all events */
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/* Memory grows with the number of different stacks. Returns 0, the sink's error, -ENOMEM, or the
 * error of a trace or a filter, and then `error` says which. */
int export_speedscope(struct sink *out, struct trace_reader *const *traces,
		      const char *const *names, size_t trace_count,
		      const struct speedscope_options *options, struct trace_error *error);
/* What there is in it, for people. */
void export_speedscope_describe(struct sink *out);

#endif
