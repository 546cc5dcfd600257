/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces in Perfetto's native format (protobuf), for ui.perfetto.dev and trace_processor:
 * the messages of tests/unit/perfetto.proto, on one sequence, with interned names and paths and
 * compressed packets.
 *
 *   slices    calls and faults on their thread's track, nested as they happened, or on a track
 *             below if they cross another's end; spans on tracks "spans" below their thread;
 *             io_uring and libaio operations on tracks of their process; requests on tracks of
 *             their device
 *   instants  marked instants, and bios where a thread queued them, with flows to the request
 *   counters  bytes read, written and brought into the cache per second, by process
 */
#ifndef FAULTLINE_EXPORT_PERFETTO_H
#define FAULTLINE_EXPORT_PERFETTO_H

#include "output/base/export.h"

/* Memory grows with the number of processes, threads, files, strings and open spans. */
export_stream export_perfetto;
/* Writes a description of the format, for people. */
void export_perfetto_describe(struct sink *out);

#endif
