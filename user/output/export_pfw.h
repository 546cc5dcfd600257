/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as DFTracer writes them (.pfw, with gzip .pfw.gz), for DFAnalyzer and dftracer-utils
 * of 1.x and 2.x: a JSON object a line, without brackets around them and commas between.
 *
 *   X  calls (cat POSIX, by the names of DFTracer's own calls), operations of io_uring and libaio
 *      (ASYNC) and of the VFS (VFS), page faults (MMAP_FAULT), which readers do not count as reads;
 *      spans, name and category as the program gave them; "start" (dftracer) for each process
 *   M  HH, FH, SH: what hashes of hosts, files and command lines stand for, before they are used;
 *      PR: rank and program of a process
 *
 * Times are whole us since 1970, rounded.
 */
#ifndef FAULTLINE_EXPORT_PFW_H
#define FAULTLINE_EXPORT_PFW_H

#include "analysis/filter.h"
#include "output/sink.h"
#include "trace/reader.h"

struct pfw_options {
	const struct filter *filter; /* NULL: all events */
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/* Memory grows with the number of processes, files, strings and open spans. Returns 0, the sink's
 * error, -ENOMEM, or the error of a trace or a filter, and then `error` says which. */
int export_pfw(struct sink *out, struct trace_reader *const *traces, const char *const *names,
	       size_t trace_count, const struct pfw_options *options, struct trace_error *error);
/* What there is in it, for people. */
void export_pfw_describe(struct sink *out);

#endif
