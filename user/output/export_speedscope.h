/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where I/O that no compute hid was, as flame graphs for speedscope (speedscope.app, "file format
 * schema"): spans from the outermost to the innermost, then the file, then the call. A graph for
 * the job and one for each rank; their widths are ns, and add up to what the report says is
 * unoverlapped (where no compute is marked: to all of the I/O).
 */
#ifndef FAULTLINE_EXPORT_SPEEDSCOPE_H
#define FAULTLINE_EXPORT_SPEEDSCOPE_H

#include "output/export.h"

/* Memory grows with the number of different stacks. */
export_stream export_speedscope;
/* What there is in it, for people. */
void export_speedscope_describe(struct sink *out);

#endif
