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

#include "output/export.h"

/* Memory grows with the number of processes, files, strings and open spans. */
export_stream export_pfw;
/* What there is in it, for people. */
void export_pfw_describe(struct sink *out);

#endif
