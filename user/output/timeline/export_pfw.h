/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces in DFTracer's format (.pfw, with gzip .pfw.gz), for DFAnalyzer and dftracer-utils
 * of 1.x and 2.x: one JSON object per line, without enclosing brackets or separating commas.
 *
 *   X  calls (cat POSIX, by DFTracer's names), io_uring and libaio operations (ASYNC), VFS
 *      operations (VFS), page faults (MMAP_FAULT, which readers do not count as reads); spans with
 *      the program's name and category; "start" (dftracer) for each process
 *   M  HH, FH, SH: meanings of the hashes of hosts, files and command lines, before their first
 *      use; PR: rank and program of a process
 *
 * Times are whole us since 1970, rounded.
 */
#ifndef FAULTLINE_EXPORT_PFW_H
#define FAULTLINE_EXPORT_PFW_H

#include "output/base/export.h"

/* Memory grows with the number of processes, files, strings and open spans. */
export_stream export_pfw;
/* Writes a description of the format, for people. */
void export_pfw_describe(struct sink *out);

#endif
