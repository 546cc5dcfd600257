/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces in Perfetto's own format (protobuf), for ui.perfetto.dev and trace_processor: the messages
 * of tests/unit/perfetto.proto, all on one sequence, names and paths interned, packets compressed.
 *
 *   slices    calls and faults on the track of their thread, nested as they happened; what crosses
 *             the end of another is on a track below; spans on tracks "spans" below their thread;
 *             operations of io_uring and libaio on tracks of their process; requests on tracks of
 *             their device
 *   instants  moments, and bios where a thread queued them, from where flows lead to the request
 *   counters  bytes read, written and brought into the cache, a second, by process
 */
#ifndef FAULTLINE_EXPORT_PERFETTO_H
#define FAULTLINE_EXPORT_PERFETTO_H

#include "output/export.h"

/* Memory grows with the number of processes, threads, files and strings, and with that of the spans
 * that are open at a time. */
export_stream export_perfetto;
/* What there is in it, for people. */
void export_perfetto_describe(struct sink *out);

#endif
