/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a trace of closed segments: names first, then earlier state, then the segments. Frames are
 * copied as they are, except those with strings, whose ids differ, and those at the edges of the
 * period: their rows are appended one by one. Computes totals from what is written: the kernel's
 * own count from the start of the recording.
 */
#include "capture/flight/flight_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "collections/bisect.h"
#include "capture/drain/decode.h"
#include "capture/calls/op_sums.h"
#include "capture/session/session.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"
#include "collections/compare.h"

#define WRITER_LANES 8

struct dump {
	const struct flight_snapshot *snapshot;
	struct decoder *decoder;
	struct trace_writer *writer;
	struct trace_operation operations[OP_TABLE_SIZE];
	struct op_sums sums;
	struct op_sums left_out; /* of rows outside of the period */
	struct flight_past past; /* device counters */
	uint64_t before;
	uint64_t lost[FLIGHT_LOSSES];
	struct trace_kind_total kinds[RECORD_KIND_COUNT + LAYER_COUNT];
	struct trace_note notes[NOTE_COUNT];
};

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

	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++) {
		struct trace_kind_total *total = &dump->kinds[n++];

		total->kind = decoder_kind_name(kind);
		total->layer = decoder_kind_layer(kind);
		total->written = decoder_taken(dump->decoder, kind);
		total->lost = dump->lost[kind] + decoder_refused(dump->decoder, kind);
		decoder_add_rows(dump->decoder, dump->writer, kind, &total->written, &total->lost);
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

/* Fills in the kernel side's notes. They include all children that were ever left unfollowed. */
static size_t fill_notes(struct dump *dump)
{
	uint64_t *counts = &dump->lost[FLIGHT_LOSS_NOTE];

	counts[NOTE_UNFOLLOWED] = dump->snapshot->unfollowed;
	return session_name_notes(counts, dump->notes);
}

/* --- records --- */

static void take_past(void *context, unsigned int ring, const void *record, size_t size)
{
	struct dump *dump = context;

	if (((const struct event_header *)record)->kind == RECORD_DEVICE)
		flight_past_take(&dump->past, ring, record, size);
	else
		decoder_take(dump->decoder, ring, record, size);
}

/* Counters start with the recording: subtracts those from before this period. */
static void take_device(struct dump *dump, const struct event_device *record)
{
	struct event_device device = *record;

	flight_past_subtract(&dump->past, &device);
	decoder_take(dump->decoder, 0, &device, sizeof(device));
}

static void take_record(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct dump *dump = context;

	if (!flight_record_is_identity(header) &&
	    (header->time_ns < dump->snapshot->from_ns || header->time_ns > dump->snapshot->to_ns))
		return;
	if (header->kind == RECORD_DEVICE)
		take_device(dump, record);
	else
		decoder_take(dump->decoder, ring, record, size);
}

/* --- frames --- */

static bool has_strings(const struct trace_schema *schema)
{
	for (size_t c = 0; c < schema->column_count; c++)
		if (schema->columns[c].type == TRACE_STRING)
			return true;
	return false;
}

/* Returns the end of a row of the block read last. A pause is recorded before it has passed. */
static uint64_t row_end(const struct trace_reader *reader, enum trace_kind kind, size_t row)
{
	int duration = trace_schemas[kind].duration;
	uint64_t time_ns = trace_reader_column(reader, TRACE_COL_TIME)[row];

	return duration < 0 || kind == TRACE_THROTTLE
		       ? time_ns
		       : time_ns + trace_reader_column(reader, duration)[row];
}

/* Replaces a string of the segment by one of the trace. */
static uint64_t move_string(struct dump *dump, struct trace_reader *reader, const char *column,
			    uint64_t id)
{
	struct trace_string string = trace_reader_args(reader, id);

	return strcmp(column, "args")
		       ? trace_writer_string(dump->writer, string.bytes, string.length)
		       : trace_writer_args(dump->writer, string.bytes, string.length);
}

/* Descriptions of stacks belong to all rows of their segment, whatever their time. */
static bool is_of_stacks(enum trace_kind kind)
{
	return kind == TRACE_FRAME || kind == TRACE_STACK;
}

static int compare_thread(const void *tid, const void *row)
{
	return COMPARE(*(const uint32_t *)tid,
		       ((const struct event_thread_now *)row)->time.header.tid);
}

static const struct event_thread_now *find_thread(const struct dump *dump, uint32_t tid)
{
	const struct thread_list *threads = &dump->snapshot->threads;

	return threads->count ? bsearch(&tid, threads->rows, threads->count, sizeof(*threads->rows),
					compare_thread)
			      : NULL;
}

/* Whether a thread sent these times after to_ns, but before its row of the snapshot, which go on
 * from there. */
static bool is_continued(const struct dump *dump, const uint64_t *row, uint64_t end_ns)
{
	const struct event_thread_now *thread = find_thread(dump, row[THREAD_TIME_TID]);

	return thread && thread->time.header.time_ns >= end_ns;
}

/* Cuts a wait that ended after to_ns. Returns false if the snapshot has it. */
static bool cut_wait(const struct dump *dump, uint64_t *row)
{
	const struct event_thread_now *thread = find_thread(dump, row[WAIT_TID]);
	const uint64_t to_ns = dump->snapshot->to_ns;

	if (row[WAIT_TIME] >= to_ns ||
	    (thread && thread->wait.duration_ns && thread->wait.header.time_ns == row[WAIT_TIME]))
		return false;
	row[WAIT_DUR] = to_ns - row[WAIT_TIME];
	row[WAIT_FLAGS] |= TRACE_WAIT_UNFINISHED;
	return true;
}

/* Whether a row belongs to the trace; it may be cut. */
static bool is_inside(const struct dump *dump, enum trace_kind kind, uint64_t *row, uint64_t end_ns)
{
	if (is_of_stacks(kind))
		return true;
	if (end_ns < dump->snapshot->from_ns)
		return false;
	if (end_ns <= dump->snapshot->to_ns)
		return true;
	if (kind == TRACE_WAIT)
		return cut_wait(dump, row);
	return kind == TRACE_THREAD_TIME && is_continued(dump, row, end_ns);
}

/* Appends the rows of the block read last, except those outside the period. */
static void move_rows(struct dump *dump, struct trace_reader *reader,
		      const struct trace_block_info *info)
{
	const struct trace_schema *schema = &trace_schemas[info->kind];
	uint64_t row[TRACE_COLUMNS_MAX];

	for (size_t i = 0; i < info->rows; i++) {
		for (size_t c = 0; c < schema->column_count; c++)
			row[c] = trace_reader_column(reader, c)[i];
		if (!is_inside(dump, info->kind, row, row_end(reader, info->kind, i))) {
			op_sums_add_row(&dump->left_out, info->kind, row);
			continue;
		}
		for (size_t c = 0; c < schema->column_count; c++)
			if (schema->columns[c].type == TRACE_STRING)
				row[c] = move_string(dump, reader, schema->columns[c].name, row[c]);
		trace_writer_append(dump->writer, info->kind, 0, row);
	}
}

static int read_block(struct trace_reader *reader, size_t number)
{
	const struct trace_block_info *info = trace_reader_block_info(reader, number);
	struct trace_error error;

	return trace_reader_read(reader, number,
				 (1ull << trace_schemas[info->kind].column_count) - 1, &error);
}

static int take_block(struct dump *dump, const struct flight_segment *segment,
		      struct trace_reader *reader, size_t number)
{
	const struct trace_block_info *info = trace_reader_block_info(reader, number);
	const uint8_t *frame = segment->trace + info->offset;
	size_t bytes = ZSTD_findFrameCompressedSize(frame, segment->bytes - info->offset);
	int err;

	if (info->start >= dump->snapshot->from_ns && info->end <= dump->snapshot->to_ns &&
	    !has_strings(&trace_schemas[info->kind])) {
		trace_writer_copy(dump->writer, info, frame, bytes);
		return 0;
	}
	err = read_block(reader, number);
	if (!err)
		move_rows(dump, reader, info);
	return err;
}

static int take_frames(struct dump *dump, const struct flight_segment *segment)
{
	const uint64_t *taken = (const uint64_t *)segment->sums.totals;
	uint64_t *sums = (uint64_t *)dump->sums.totals;
	struct trace_reader *reader;
	struct trace_error error;
	int err = trace_reader_open_memory(&reader, segment->trace, segment->bytes, &error);

	for (size_t i = 0; !err && i < trace_reader_block_count(reader); i++)
		err = take_block(dump, segment, reader, i);
	trace_reader_close(reader);
	for (size_t i = 0; i < sizeof(dump->sums.totals) / 8; i++)
		sums[i] += taken[i];
	return err;
}

static void subtract_left_out(struct dump *dump)
{
	const uint64_t *left_out = (const uint64_t *)dump->left_out.totals;
	uint64_t *sums = (uint64_t *)dump->sums.totals;

	for (size_t i = 0; i < sizeof(dump->sums.totals) / 8; i++)
		sums[i] -= left_out[i];
}

/* Counts a segment's rows that ended before the period. */
static int count_before(struct dump *dump, const struct flight_segment *segment)
{
	uint64_t from_ns = dump->snapshot->from_ns;
	struct trace_reader *reader;
	struct trace_error error;
	int err = trace_reader_open_memory(&reader, segment->trace, segment->bytes, &error);

	for (size_t i = 0; !err && i < trace_reader_block_count(reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);

		if (info->start >= from_ns || is_of_stacks(info->kind))
			continue;
		err = read_block(reader, i);
		for (size_t row = 0; !err && row < info->rows; row++)
			dump->before += row_end(reader, info->kind, row) < from_ns;
	}
	trace_reader_close(reader);
	return err;
}

/* --- operations and waits in flight --- */

/* Samples what a blocked thread waits for; its stack is read at once: see take_in_flight. */
static void take_sample(struct dump *dump, struct event_sample sample,
			const struct blocked_thread *blocked)
{
	if (!dump->snapshot->stacks)
		return;
	sample.header.kind = RECORD_SAMPLE;
	sample.header.size = sizeof(sample);
	sample.duration_ns = dump->snapshot->to_ns - sample.header.time_ns;
	sample.weight_ns = sample.duration_ns;
	sample.offset = -1;
	sample.flags = TRACE_SAMPLE_UNFINISHED;
	sample.thread_pointer = blocked->thread_pointer;
	sample.tid_inside = blocked->tid_inside;
	sample.runs = blocked->runs;
	decoder_take(dump->decoder, 0, &sample, sizeof(sample));
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
		struct event_syscall_path event; /* struct event_async is alike */
		char text[IN_FLIGHT_PATH_BYTES];
	} record = { 0 };
	struct event_syscall *call = &record.event.call;
	size_t path_bytes = strnlen(row->path, sizeof(record.text));
	bool async = row->flags & IN_FLIGHT_ASYNC;

	memcpy(record.event.text, row->path, path_bytes);
	record.event.path_bytes = path_bytes;
	*call = (struct event_syscall) {
		.header = { .time_ns = row->start_ns,
			    .kind = async	 ? RECORD_ASYNC
				    : path_bytes ? RECORD_SYSCALL_PATH
						 : RECORD_SYSCALL,
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
	call->header.size = async || path_bytes ? sizeof(record.event) + path_bytes : sizeof(*call);
	op_sums_add_record(&dump->sums, &call->header);
	decoder_take(dump->decoder, 0, call, call->header.size);
}

static bool is_taken(const struct dump *dump, const struct event_in_flight *row)
{
	return row->flags & IN_FLIGHT_KEPT && row->start_ns < dump->snapshot->to_ns;
}

static void take_operation(struct dump *dump, const struct event_in_flight *row)
{
	if (row->op == OP_FAULT)
		take_waiting_fault(dump, row);
	else
		take_waiting_call(dump, row);
	if (!(row->flags & IN_FLIGHT_ASYNC))
		take_sample(dump,
			    (struct event_sample) {
				    .header = { .time_ns = row->start_ns,
						.pid = row->pid,
						.tid = row->tid },
				    .file = row->file,
				    .op = row->op,
				    .state = SAMPLE_IO,
			    },
			    &row->blocked);
}

static bool is_in_operation(const struct dump *dump, uint32_t tid)
{
	const struct in_flight_list *list = &dump->snapshot->in_flight;
	size_t row = BISECT(i, 0, list->count, list->rows[i].tid < tid);

	for (; row < list->count && list->rows[row].tid == tid; row++)
		if (!(list->rows[row].flags & IN_FLIGHT_ASYNC) && is_taken(dump, &list->rows[row]))
			return true;
	return false;
}

/* Adds the times of a thread since its last record, and its current wait, if any. */
static void take_thread(struct dump *dump, const struct event_thread_now *row)
{
	struct event_thread_time time = row->time;
	struct event_wait wait = row->wait;

	time.header.kind = RECORD_THREAD_TIME;
	time.header.size = sizeof(time);
	wait.header.kind = RECORD_WAIT;
	wait.header.size = sizeof(wait);
	if (time.header.time_ns && time.duration_ns)
		decoder_take(dump->decoder, 0, &time, sizeof(time));
	if (!wait.duration_ns || wait.header.time_ns >= dump->snapshot->to_ns)
		return;
	wait.duration_ns = dump->snapshot->to_ns - wait.header.time_ns;
	decoder_take(dump->decoder, 0, &wait, sizeof(wait));
	if (!is_in_operation(dump, wait.header.tid))
		take_sample(dump,
			    (struct event_sample) {
				    .header = wait.header, .op = OP_NONE, .state = wait.state },
			    &row->blocked);
}

/* Takes what was in flight when the trace was requested, up to that time. */
static void take_in_flight(struct dump *dump)
{
	const struct flight_snapshot *snapshot = dump->snapshot;

	for (size_t i = 0; i < snapshot->in_flight.count; i++)
		if (is_taken(dump, &snapshot->in_flight.rows[i]))
			take_operation(dump, &snapshot->in_flight.rows[i]);
	for (size_t i = 0; i < snapshot->threads.count; i++)
		if (snapshot->threads.rows[i].flags & IN_FLIGHT_KEPT)
			take_thread(dump, &snapshot->threads.rows[i]);
	decoder_read_unfinished(dump->decoder, snapshot->live);
}

static int take_all(struct dump *dump)
{
	const struct flight_snapshot *snapshot = dump->snapshot;
	int err = 0;

	flight_records_walk(&snapshot->names, decoder_take, dump->decoder);
	flight_records_walk(&snapshot->past, take_past, dump);
	take_in_flight(dump); /* now: a thread may go on, and then its stack is unknown */
	for (size_t i = 0; i < snapshot->count; i++)
		flight_records_walk(&snapshot->segments[i]->records, take_record, dump);
	for (size_t i = 0; i < snapshot->count && !err; i++) {
		const struct flight_segment *segment = snapshot->segments[i];

		for (int kind = 0; kind < FLIGHT_LOSSES; kind++)
			dump->lost[kind] += segment->lost[kind];
		if (segment->trace)
			err = take_frames(dump, segment);
	}
	subtract_left_out(dump);
	decoder_settle(dump->decoder, true);
	return err;
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

/* The header, which is written first, has this count. Segments are opened one at a time, here and
 * later: an open one has all its strings in memory. */
static int count_all_before(struct dump *dump)
{
	const struct flight_snapshot *snapshot = dump->snapshot;
	int err = 0;

	dump->before = snapshot->before;
	for (size_t i = 0; snapshot->from_ns && i < snapshot->count && !err; i++)
		if (snapshot->segments[i]->trace)
			err = count_before(dump, snapshot->segments[i]);
	return err;
}

static struct stack_ids last_stacks(const struct flight_snapshot *snapshot)
{
	struct stack_ids last = { 0 };

	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->segments[i]->last_stacks.stack)
			last = snapshot->segments[i]->last_stacks;
	return last;
}

static int write_trace(struct dump *dump, const struct trace_header *header, const char *reason,
		       int fd, struct flight_written *written)
{
	struct trace_writer_options options = { .lanes = WRITER_LANES };
	const struct flight_snapshot *snapshot = dump->snapshot;
	struct trace_header own = *header;
	int err = count_all_before(dump);

	own.flight.reason = reason;
	own.flight.complete_from_ns = snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns;
	own.flight.overwritten = dump->before;
	leave_out_counts(dump, &own);
	if (!err)
		err = trace_writer_open(&dump->writer, fd, &own, &options);
	if (!err)
		err = decoder_open(&dump->decoder, dump->writer, snapshot->lanes,
				   dump->sums.page_bytes);
	if (!err)
		decoder_continue_stacks(dump->decoder, last_stacks(snapshot));
	if (!err)
		err = take_all(dump);
	return err ? err : end_trace(dump, &own, written);
}

int flight_dump(const struct flight_snapshot *snapshot, const struct trace_header *header,
		const char *reason, int fd, struct flight_written *written)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	int err;

	memset(written, 0, sizeof(*written));
	if (!dump)
		return -ENOMEM;
	dump->snapshot = snapshot;
	dump->sums.page_bytes = sysconf(_SC_PAGESIZE);
	err = write_trace(dump, header, reason, fd, written);
	decoder_close(dump->decoder);
	trace_writer_close(dump->writer);
	flight_past_free(&dump->past);
	free(dump);
	return err;
}
