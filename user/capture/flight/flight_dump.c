/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes names first, then earlier state, then events. Computes totals from what is written: the
 * kernel's own count from the start of the recording.
 */
#include "capture/flight/flight_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/calls/calls.h"
#include "capture/drain/decode.h"
#include "capture/calls/op_sums.h"
#include "capture/session/session.h"
#include "trace/write/writer.h"

#define WRITER_LANES 8

struct dump {
	const struct flight_snapshot *snapshot;
	struct decoder *decoder;
	struct trace_writer *writer;
	struct trace_operation operations[OP_TABLE_SIZE];
	struct op_sums sums;
	struct flight_past past; /* device counters */
	uint64_t lost[FLIGHT_LOSSES];
	struct trace_kind_total kinds[RECORD_KIND_COUNT + LAYER_COUNT];
	struct trace_note notes[NOTE_COUNT];
	unsigned int page_bytes;
};

void flight_snapshot_free(struct flight_snapshot *snapshot)
{
	flight_slots_free(&snapshot->slots);
	free(snapshot->in_flight.rows);
	free(snapshot->names.memory);
	free(snapshot->past.memory);
	free(snapshot->records.memory);
	memset(snapshot, 0, sizeof(*snapshot));
}

/* --- totals --- */

/* Leaves out operations that only the kernel side counts: it counts from the start. */
static void leave_out_counts(struct dump *dump, struct trace_header *header)
{
	static const unsigned int counted[] = { OP_UNDECODED, OP_ANONYMOUS_FAULT, OP_SHMEM_FAULT,
						OP_UNKNOWN_FAULT, OP_DIRTIED };

	memcpy(dump->operations, header->operations,
	       header->operation_count * sizeof(*header->operations));
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		dump->operations[counted[i]] = dump->operations[OP_NONE];
	header->operations = dump->operations;
}

/* Fills in events by kind: written and lost. */
static size_t fill_kinds(struct dump *dump, struct flight_written *written)
{
	size_t n = 0;

	dump->lost[RECORD_SYSCALL] += dump->snapshot->slots.lost;
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++) {
		enum trace_kind rows = decoder_kind(kind);
		struct trace_kind_total *total = &dump->kinds[n++];

		total->kind = decoder_kind_name(kind);
		total->layer = decoder_kind_layer(kind);
		total->written = decoder_taken(dump->decoder, kind);
		total->lost = dump->lost[kind] + decoder_refused(dump->decoder, kind);
		if (rows != TRACE_KIND_COUNT) {
			total->written = trace_writer_rows(dump->writer, rows);
			total->lost += trace_writer_discarded(dump->writer, rows);
		}
		total->events = total->written + total->lost;
	}
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		uint64_t missed = dump->lost[FLIGHT_LOSS_LAYER + layer];

		if (missed)
			dump->kinds[n++] = (struct trace_kind_total) { "missed", layer_names[layer],
								       missed, 0, missed };
	}
	for (size_t i = 0; i < n; i++) {
		written->events += dump->kinds[i].events;
		written->lost += dump->kinds[i].lost;
	}
	return n;
}

/* Fills in what the kernel side could not see. Children count as unfollowed from then on. */
static size_t fill_notes(struct dump *dump)
{
	uint64_t *counts = &dump->lost[FLIGHT_LOSS_NOTE];

	counts[NOTE_UNFOLLOWED] = dump->snapshot->unfollowed;
	return session_name_notes(counts, dump->notes);
}

/* --- records --- */

static void take_any(void *context, unsigned int lane, const struct event_header *record)
{
	struct dump *dump = context;

	decoder_take(dump->decoder, lane, record, record->size);
}

static void take_past(void *context, unsigned int lane, const struct event_header *record)
{
	struct dump *dump = context;

	if (record->kind == RECORD_DEVICE)
		flight_past_take(&dump->past, lane, record);
	else
		take_any(dump, lane, record);
}

/* Counters start with the recording: subtracts those from before this period. */
static void take_device(struct dump *dump, unsigned int lane, const struct event_header *record)
{
	struct event_device device = *(const struct event_device *)record;

	flight_past_subtract(&dump->past, &device);
	decoder_take(dump->decoder, lane, &device, sizeof(device));
}

static void take_record(void *context, unsigned int lane, const struct event_header *record)
{
	const struct flight_loss *loss = (const void *)record;
	struct dump *dump = context;
	uint64_t end_ns = flight_record_end_ns(record);

	if (record->kind == RECORD_NONE) {
		/* The exact time is unknown: counts every loss that may fall into this period. */
		if (loss->found_ns >= dump->snapshot->from_ns && end_ns <= dump->snapshot->to_ns)
			dump->lost[loss->kind] += loss->count;
		return;
	}
	if (!flight_record_is_identity(record) &&
	    (end_ns < dump->snapshot->from_ns || end_ns > dump->snapshot->to_ns))
		return;
	if (record->kind == RECORD_DEVICE) {
		take_device(dump, lane, record);
		return;
	}
	op_sums_add_record(&dump->sums, record);
	decoder_take(dump->decoder, lane, record, record->size);
}

/* Takes the slots in runs of the same CPU buffer. */
static void take_slots(struct dump *dump)
{
	const struct flight_slots *slots = &dump->snapshot->slots;
	size_t first = 0, after = 0;

	for (; first < slots->count; first = after) {
		unsigned int lane = flight_slot_lane(&slots->slots[first]);

		for (; after < slots->count && flight_slot_lane(&slots->slots[after]) == lane;
		     after++)
			op_sums_add_slot(&dump->sums, &slots->slots[after]);
		decoder_take_slots(dump->decoder, lane, &slots->slots[first], after - first);
	}
}

/* Takes a fault in flight as a slot, like finished faults. */
static void take_waiting_fault(struct dump *dump, const struct event_in_flight *row)
{
	const struct lane_slot slot = {
		.fault = { .time_ns = row->start_ns,
			   .duration_ns = dump->snapshot->to_ns - row->start_ns,
			   .pid = row->pid,
			   .tid = row->tid,
			   .file = row->file,
			   .flags = TRACE_FAULT_UNFINISHED | TRACE_FAULT_WAITING |
				    (row->flags & IN_FLIGHT_BEFORE ? TRACE_FAULT_BEFORE : 0),
			   .op = OP_FAULT },
	};

	op_sums_add_slot(&dump->sums, &slot);
	decoder_take_slots(dump->decoder, 0, &slot, 1);
}

static void take_waiting_call(struct dump *dump, const struct event_in_flight *row)
{
	struct {
		struct event_syscall_path event;
		char text[IN_FLIGHT_PATH_BYTES];
	} record = { 0 };
	struct event_syscall *call = &record.event.call;
	size_t path_bytes = strnlen(row->path, sizeof(record.text));

	memcpy(record.event.text, row->path, path_bytes);
	record.event.path_bytes = path_bytes;
	*call = (struct event_syscall) {
		.header = { .time_ns = row->start_ns,
			    .kind = path_bytes ? RECORD_SYSCALL_PATH : RECORD_SYSCALL,
			    .pid = row->pid,
			    .tid = row->tid },
		.duration_ns = dump->snapshot->to_ns - row->start_ns,
		.offset = -1,
		.result = -EINPROGRESS,
		.file = row->file,
		.op = row->op,
		.flags = TRACE_OP_UNFINISHED |
			 (row->flags & IN_FLIGHT_BEFORE ? TRACE_OP_BEFORE : 0) |
			 (path_bytes + 1 >= IN_FLIGHT_PATH_BYTES ? TRACE_OP_PATH_CUT : 0),
	};
	call->header.size = path_bytes ? sizeof(record.event) + path_bytes : sizeof(*call);
	op_sums_add_record(&dump->sums, &call->header);
	decoder_take(dump->decoder, 0, call, call->header.size);
}

/* Takes operations in flight when the trace was requested, up to that time. */
static void take_in_flight(struct dump *dump)
{
	const struct in_flight_list *list = &dump->snapshot->in_flight;

	for (size_t i = 0; i < list->count; i++) {
		const struct event_in_flight *row = &list->rows[i];

		if (!(row->flags & IN_FLIGHT_KEPT) || row->start_ns >= dump->snapshot->to_ns)
			continue;
		if (row->op == OP_FAULT)
			take_waiting_fault(dump, row);
		else
			take_waiting_call(dump, row);
	}
}

static void take_all(struct dump *dump)
{
	flight_records_walk(&dump->snapshot->names, take_any, dump);
	flight_records_walk(&dump->snapshot->past, take_past, dump);
	flight_records_walk(&dump->snapshot->records, take_record, dump);
	take_slots(dump);
	take_in_flight(dump);
	decoder_settle(dump->decoder, true);
}

/* --- the trace --- */

static int end_trace(struct dump *dump, struct trace_header *header, struct flight_written *written)
{
	const struct flight_snapshot *snapshot = dump->snapshot;
	struct trace_totals totals = {
		.start_ns = snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns,
		.end_ns = snapshot->to_ns,
		.exit_code = -1,
		.operations = dump->sums.totals,
		.operation_count = header->operation_count,
		.kinds = dump->kinds,
		.notes = dump->notes,
		.note_count = fill_notes(dump),
	};
	int err;

	written->error = trace_writer_flush(dump->writer);
	totals.kind_count = fill_kinds(dump, written);
	err = trace_writer_finish(dump->writer, &totals);
	written->bytes = trace_writer_bytes(dump->writer);
	return err;
}

int flight_dump(const struct flight_snapshot *snapshot, const struct trace_header *header,
		const char *reason, int fd, struct flight_written *written)
{
	struct trace_writer_options options = { .lanes = WRITER_LANES };
	struct trace_header own = *header;
	struct dump *dump = calloc(1, sizeof(*dump));
	int err;

	memset(written, 0, sizeof(*written));
	if (!dump)
		return -ENOMEM;
	dump->snapshot = snapshot;
	dump->page_bytes = sysconf(_SC_PAGESIZE);
	own.flight.reason = reason;
	own.flight.complete_from_ns = snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns;
	own.flight.overwritten = snapshot->before;
	leave_out_counts(dump, &own);
	err = trace_writer_open(&dump->writer, fd, &own, &options);
	if (!err)
		err = decoder_open(&dump->decoder, dump->writer, snapshot->lanes, dump->page_bytes);
	if (!err) {
		take_all(dump);
		err = end_trace(dump, &own, written);
	}
	decoder_close(dump->decoder);
	trace_writer_close(dump->writer);
	flight_past_free(&dump->past);
	free(dump);
	return err;
}
