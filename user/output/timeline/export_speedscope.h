/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports unoverlapped I/O as flame graphs for speedscope (speedscope.app, "file format schema"):
 * spans from outermost to innermost, then the file, then the call. One graph for the job and one
 * per rank. Widths are ns and add up to the report's unoverlapped I/O (if no compute is marked, to
 * all I/O).
 */
#ifndef FAULTLINE_EXPORT_SPEEDSCOPE_H
#define FAULTLINE_EXPORT_SPEEDSCOPE_H

#include "output/base/export.h"

/* Memory grows with the number of different stacks. */
export_stream export_speedscope;
/* Writes a description of the format, for people. */
void export_speedscope_describe(struct sink *out);

#endif
