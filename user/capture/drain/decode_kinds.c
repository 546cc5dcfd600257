/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decodes records to rows: one function and one table row per kind of record. */
#include "capture/drain/decode_state.h"
#include "capture/calls/file_choice.h"
#include "capture/calls/wait_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/names/cgroups.h"
#include "capture/names/names.h"
#include "capture/native/unwinder.h"
#include "capture/python/frames.h"
#include "capture/host/proc.h"
#include "capture/drain/span_ends.h"
#include "trace/write/redact.h"
#include "collections/grow.h"

/* Copies corresponding fields from `event` to `row`, by the lists in columns.h. */
#define COPY_HEAD(field) event->header.field
#define COPY_FIELD(type, field) event->field
#define COPY_PAGES(type, field) (uint64_t) event->field * decoder->page_bytes
#define COPY_RARE COPY_FIELD
#define COPY_RARE_PAGES COPY_PAGES
#define COPY_CALL(type, field) (event->field ? event->field + 1 : 0)
#define COPY_TEXT(bytes, field) text_name(decoder, TRACE_NAME_PROGRAM, event->field, bytes)
#define COPY_PART(member) event->member
#define COPY_PART_TEXT(member)                                                                     \
	text_name(decoder, TRACE_NAME_DEVICE, event->member, sizeof(event->member))
#define COPY_BY_HAND 0
#define COPY(id, number, name, type, unit, source, meaning) row[id] = COPY_##source;

static uint64_t text_name(const struct decoder *decoder, enum trace_name sort, const char *text,
			  size_t size)
{
	return trace_writer_name(decoder->writer, sort, text, strnlen(text, size));
}

/* Defines how to take a record that its list describes completely. */
#define TAKE(name, record_type, ID)                                                                \
	static void name(struct decoder *decoder, unsigned int ring, const void *record)           \
	{                                                                                          \
		const struct record_type *event = record;                                          \
		uint64_t row[ID##_COLUMNS];                                                        \
                                                                                                   \
		TRACE_COLUMNS(ID, COPY)                                                            \
		trace_writer_append(decoder->writer, TRACE_##ID, ring, row);                       \
	}

TAKE(take_syscall, event_syscall, SYSCALL)
TAKE(take_vfs, event_vfs, VFS)
TAKE(take_pagecache, event_pagecache, PAGECACHE)
TAKE(take_throttle, event_throttle, THROTTLE)
TAKE(take_device, event_device, DEVICE)
TAKE(take_thread_time, event_thread_time, THREAD_TIME)

static void take_wait(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_wait *event = record;
	const char *state = thread_state_name(event->state), *call = wait_call_name(event->call);
	uint64_t row[WAIT_COLUMNS];

	TRACE_COLUMNS(WAIT, COPY)
	row[WAIT_STATE] = trace_writer_string(decoder->writer, state, strlen(state));
	row[WAIT_CALL] = trace_writer_string(decoder->writer, call, strlen(call));
	trace_writer_append(decoder->writer, TRACE_WAIT, ring, row);
}

static void fill_call(const struct decoder *decoder, const struct event_syscall *event,
		      uint64_t *row)
{
	TRACE_COLUMNS(SYSCALL, COPY)
}

/* Lets the unwinder look at a process while it runs. */
static void note(struct decoder *decoder, enum unwind_kind kind, const struct event_header *header,
		 uint32_t pid)
{
	if (decoder->unwinder)
		unwinder_note(decoder->unwinder, kind, pid, header->pid, header->time_ns);
}

static void emit_code(struct decoder *decoder, const struct event_header *header)
{
	const struct code_mapping mapping = code_mapping_of(header);

	note(decoder, header->kind == RECORD_EXEC ? UNWIND_EXEC : UNWIND_CODE, header, header->pid);

	if (decoder->emit_code)
		decoder->emit_code(decoder->emit_context, &mapping);
}

static void fill_paths(const struct decoder *decoder, const char *text, size_t bytes, size_t bytes2,
		       uint64_t *row)
{
	row[SYSCALL_PATH_PATH] = trace_writer_name(decoder->writer, TRACE_NAME_PATH, text, bytes);
	row[SYSCALL_PATH_PATH2] =
		trace_writer_name(decoder->writer, TRACE_NAME_PATH, text + bytes, bytes2);
}

static void take_syscall_path(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_syscall_path *event = record;
	uint64_t row[SYSCALL_PATH_COLUMNS];

	fill_call(decoder, &event->call, row);
	TRACE_COLUMNS(PATHS, COPY)
	fill_paths(decoder, event->text, event->path_bytes, event->path2_bytes, row);
	trace_writer_append(decoder->writer, TRACE_SYSCALL_PATH, ring, row);
}

static void take_async(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_async *event = record;
	uint64_t row[ASYNC_COLUMNS];

	fill_call(decoder, &event->call, row);
	TRACE_COLUMNS(PATHS, COPY)
	fill_paths(decoder, event->text, event->path_bytes, event->path2_bytes, row);
	trace_writer_append(decoder->writer, TRACE_ASYNC, ring, row);
}

static void take_fork(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_fork *event = record;
	uint64_t row[FORK_COLUMNS];

	TRACE_COLUMNS(FORK, COPY)
	if (event->child_pid == event->child_tid) {
		span_ends_fork(decoder->span_ends, event->header.pid, event->child_pid);
		note(decoder, UNWIND_FORK, &event->header, event->child_pid);
	}
	trace_writer_append(decoder->writer, TRACE_FORK, ring, row);
}

/* Returns false while the cgroup is being looked up. */
static bool write_exec(struct decoder *decoder, struct waiting_exec *exec, bool wait)
{
	char cgroup[PATH_MAX];

	if (!cgroups_path(decoder->cgroups, exec->cgroup_id, wait, cgroup))
		return false;
	exec->row[EXEC_CGROUP] =
		trace_writer_name(decoder->writer, TRACE_NAME_PATH, cgroup, strlen(cgroup));
	trace_writer_append(decoder->writer, TRACE_EXEC, exec->ring, exec->row);
	return true;
}

void decoder_settle(struct decoder *decoder, bool wait)
{
	size_t left = 0;

	decoder_settle_samples(decoder, wait);
	if (decoder->native)
		native_samples_settle(decoder->native, decoder->writer, wait);
	for (size_t i = 0; i < decoder->waiting_count; i++)
		if (!write_exec(decoder, &decoder->waiting[i], wait))
			decoder->waiting[left++] = decoder->waiting[i];
	decoder->waiting_count = left;
}

/* Reads a command line that the kernel side could not, because another process moved this one. */
static uint64_t read_command(struct decoder *decoder, uint32_t pid)
{
	size_t bytes;
	char *text = proc_arguments(pid, EVENT_COMMAND_BYTES, &bytes);
	uint64_t string =
		trace_writer_name(decoder->writer, TRACE_NAME_COMMAND, text ? text : "", bytes);

	free(text);
	return string;
}

static void take_exec(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_exec *event = record;
	struct waiting_exec exec = { .cgroup_id = event->cgroup_id, .ring = ring };
	size_t bytes = event->command_bytes;
	uint64_t *row = exec.row;

	while (bytes && !event->command[bytes - 1])
		bytes--;
	TRACE_COLUMNS(EXEC, COPY)
	row[EXEC_COMMAND] = bytes || !(event->flags & TRACE_EXEC_JOINED)
				    ? trace_writer_name(decoder->writer, TRACE_NAME_COMMAND,
							event->command, bytes)
				    : read_command(decoder, event->header.pid);
	row[EXEC_RANK] = names_rank(&event->ranks);
	/* CPU buffers are drained in turn: a child's exec may come before the command's. */
	if (!decoder->start_ns || event->header.time_ns < decoder->start_ns)
		decoder->start_ns = event->header.time_ns;
	if (event->flags & (TRACE_EXEC_PRESENT | TRACE_EXEC_JOINED))
		span_ends_present(decoder->span_ends, event->header.pid);
	if (!(event->flags & (TRACE_EXEC_NOT_FOLLOWED | TRACE_EXEC_PRESENT)))
		emit_code(decoder, &event->header);
	if (write_exec(decoder, &exec, false))
		return;
	if (decoder->waiting_count == WAITING_MAX)
		decoder_settle(decoder, true);
	decoder->waiting[decoder->waiting_count++] = exec;
}

#define STRIPED_MAX 4096

/* Keeps a copy of the record of a file whose stripes can be read. */
static void keep_striped(struct decoder *decoder, const struct event_file *event)
{
	size_t bytes = sizeof(*event) + event->names_bytes;
	struct event_file *copy;

	if (!S_ISREG(event->mode) || decoder->stripes.count ||
	    strncmp(event->filesystem, "lustre", sizeof(event->filesystem)) ||
	    decoder->striped_count == STRIPED_MAX ||
	    !GROW(decoder->striped, decoder->striped_room, decoder->striped_count + 1))
		return;
	copy = malloc(bytes);
	if (!copy)
		return;
	memcpy(copy, event, bytes);
	decoder->striped[decoder->striped_count++] = copy;
}

static void take_file(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_file *event = record;
	char path[NAMES_PATH_BYTES + 1];
	size_t path_bytes = names_path(event, path);
	uint64_t row[FILE_COLUMNS];

	TRACE_COLUMNS(FILE, COPY)
	row[FILE_PATH] = trace_writer_name(decoder->writer, TRACE_NAME_PATH, path, path_bytes);
	row[FILE_STRIPES] = decoder->stripes.count;
	row[FILE_STRIPE_BYTES] = decoder->stripes.bytes;
	trace_writer_append(decoder->writer, TRACE_FILE, ring, row);
	keep_striped(decoder, event);
	path[path_bytes] = '\0';
	if (decoder->choice)
		file_choice_name(decoder->choice, event->id, path);
}

/* Fills three columns, from the name on, with the three consecutive texts of a record. */
static void fill_texts(const struct decoder *decoder, const struct event_span *event,
		       uint64_t *columns)
{
	const char *category = event->text + event->name_bytes;
	struct trace_writer *writer = decoder->writer;

	columns[0] = trace_writer_string(writer, event->text, event->name_bytes);
	columns[1] = trace_writer_string(writer, category, event->category_bytes);
	columns[2] = trace_writer_args(writer, category + event->category_bytes, event->args_bytes);
}

#define IN_ORDER(first) (first##_CATEGORY == first##_NAME + 1 && first##_ARGS == first##_NAME + 2)
_Static_assert(IN_ORDER(SPAN_BEGIN) && IN_ORDER(INSTANT), "fill_texts fills three columns");

static void take_span_begin(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span *event = record;
	uint64_t row[SPAN_BEGIN_COLUMNS];

	TRACE_COLUMNS(SPAN_BEGIN, COPY)
	fill_texts(decoder, event, &row[SPAN_BEGIN_NAME]);
	span_ends_begin(decoder->span_ends, event->header.pid, event->id);
	trace_writer_append(decoder->writer, TRACE_SPAN_BEGIN, ring, row);
}

static void take_span_end(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span_end *event = record;
	uint64_t row[SPAN_END_COLUMNS];

	TRACE_COLUMNS(SPAN_END, COPY)
	span_ends_end(decoder->span_ends, event->header.pid, event->id);
	trace_writer_append(decoder->writer, TRACE_SPAN_END, ring, row);
}

static void take_instant(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span *event = record;
	uint64_t row[INSTANT_COLUMNS];

	TRACE_COLUMNS(INSTANT, COPY)
	fill_texts(decoder, event, &row[INSTANT_NAME]);
	trace_writer_append(decoder->writer, TRACE_INSTANT, ring, row);
}

static void take_exit(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_exit *event = record;
	uint64_t row[EXIT_COLUMNS];

	TRACE_COLUMNS(EXIT, COPY)
	row[EXIT_STACK] =
		decoder->exits_have_rows
			? event->stack
			: decoder_stack(decoder, ring, event->header.time_ns, event->stack);
	trace_writer_append(decoder->writer, TRACE_EXIT, ring, row);
}

static void take_code(struct decoder *decoder, unsigned int ring, const void *record)
{
	emit_code(decoder, record);
}

static void take_frame(struct decoder *decoder, unsigned int ring, const void *record)
{
	python_frames_take_code(decoder->frames, record);
}

static void take_stack(struct decoder *decoder, unsigned int ring, const void *record)
{
	python_frames_take_stack(decoder->frames, record);
}

static void take_sample(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_sample *event = record;
	const char *state =
		event->state == SAMPLE_IO ? SAMPLE_IO_NAME : thread_state_name(event->state);
	struct waiting_sample sample = { .stack = event->stack, .ring = ring };
	uint64_t *row = sample.row;

	TRACE_COLUMNS(SAMPLE, COPY)
	row[SAMPLE_STATE] = trace_writer_string(decoder->writer, state, strlen(state));
	if (event->flags & TRACE_SAMPLE_UNFINISHED)
		decoder_keep_unfinished(decoder, event, &sample);
	else if (!decoder->native || !native_samples_take(decoder->native, event, &sample))
		decoder_write_sample(decoder, &sample);
}

/* Returns the size of the bio record that follows; 0: none. */
static size_t request_bytes(const void *record)
{
	const struct event_request *event = record;

	return event->header.size == sizeof(struct event_request_single) ? sizeof(struct event_bio)
									 : 0;
}

/* Requests to devices and servers are recorded for all files, but only chosen files are named. */
static uint64_t named_file(const struct decoder *decoder, uint32_t id)
{
	return decoder->choice && file_choice_leaves(decoder->choice, id) ? 0 : id;
}

/* Like TAKE, for such requests. */
#define TAKE_NAMED(name, record_type, ID)                                                          \
	static void name(struct decoder *decoder, unsigned int ring, const void *record)           \
	{                                                                                          \
		const struct record_type *event = record;                                          \
		uint64_t row[ID##_COLUMNS];                                                        \
                                                                                                   \
		TRACE_COLUMNS(ID, COPY)                                                            \
		row[ID##_FILE] = named_file(decoder, event->file);                                 \
		trace_writer_append(decoder->writer, TRACE_##ID, ring, row);                       \
	}

TAKE_NAMED(take_bio, event_bio, BIO)
TAKE_NAMED(take_remote, event_remote, REMOTE)

static void take_request(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_request *event = record;
	uint64_t row[REQUEST_COLUMNS];

	if (request_bytes(record))
		decoder_take(decoder, ring, event + 1, sizeof(struct event_bio));
	TRACE_COLUMNS(REQUEST, COPY)
	row[REQUEST_FILE] = named_file(decoder, event->file);
	trace_writer_append(decoder->writer, TRACE_REQUEST, ring, row);
}

/* --- bytes after a record's fields --- */

static size_t path_bytes(const void *record)
{
	const struct event_syscall_path *event = record;

	return (size_t)event->path_bytes + event->path2_bytes;
}

static size_t exec_bytes(const void *record)
{
	return ((const struct event_exec *)record)->command_bytes;
}

static size_t file_bytes(const void *record)
{
	return ((const struct event_file *)record)->names_bytes;
}

static size_t span_bytes(const void *record)
{
	const struct event_span *event = record;

	return (size_t)event->name_bytes + event->category_bytes + event->args_bytes;
}

static size_t frame_bytes(const void *record)
{
	return ((const struct event_frame *)record)->table_bytes;
}

static size_t stack_bytes(const void *record)
{
	return ((const struct event_stack *)record)->count * sizeof(struct python_frame);
}

/* The copy of a stack follows, if stacks are unwound. */
static size_t sample_bytes(const void *record)
{
	const struct event_header *header = record;

	return header->size >= sizeof(struct event_native_sample) ? sizeof(struct native_copy) : 0;
}

/* --- the table --- */

const struct decode_kind decode_kinds[RECORD_KIND_COUNT] = {
	[RECORD_NONE] = { TRACE_KIND_COUNT },
	[RECORD_SYSCALL] = { TRACE_SYSCALL, sizeof(struct event_syscall), take_syscall },
	[RECORD_SYSCALL_PATH] = { TRACE_SYSCALL_PATH, sizeof(struct event_syscall_path),
				  take_syscall_path, path_bytes },
	[RECORD_FAULT] = { TRACE_FAULT }, /* only in slots */
	[RECORD_PAGECACHE] = { TRACE_PAGECACHE, sizeof(struct event_pagecache), take_pagecache },
	[RECORD_FORK] = { TRACE_FORK, sizeof(struct event_fork), take_fork },
	[RECORD_EXEC] = { TRACE_EXEC, sizeof(struct event_exec), take_exec, exec_bytes },
	[RECORD_EXIT] = { TRACE_EXIT, sizeof(struct event_exit), take_exit },
	[RECORD_FILE] = { TRACE_FILE, sizeof(struct event_file), take_file, file_bytes },
	[RECORD_SPAN_BEGIN] = { TRACE_SPAN_BEGIN, sizeof(struct event_span), take_span_begin,
				span_bytes },
	[RECORD_SPAN_END] = { TRACE_SPAN_END, sizeof(struct event_span_end), take_span_end },
	[RECORD_INSTANT] = { TRACE_INSTANT, sizeof(struct event_span), take_instant, span_bytes },
	[RECORD_CODE] = { TRACE_KIND_COUNT, sizeof(struct event_code), take_code },
	[RECORD_THROTTLE] = { TRACE_THROTTLE, sizeof(struct event_throttle), take_throttle },
	[RECORD_REQUEST] = { TRACE_REQUEST, sizeof(struct event_request), take_request,
			     request_bytes },
	[RECORD_BIO] = { TRACE_BIO, sizeof(struct event_bio), take_bio },
	[RECORD_DEVICE] = { TRACE_DEVICE, sizeof(struct event_device), take_device },
	[RECORD_ASYNC] = { TRACE_ASYNC, sizeof(struct event_async), take_async, path_bytes },
	[RECORD_VFS] = { TRACE_VFS, sizeof(struct event_vfs), take_vfs },
	[RECORD_THREAD_TIME] = { TRACE_THREAD_TIME, sizeof(struct event_thread_time),
				 take_thread_time },
	[RECORD_WAIT] = { TRACE_WAIT, sizeof(struct event_wait), take_wait },
	[RECORD_FRAME] = { TRACE_FRAME, sizeof(struct event_frame), take_frame, frame_bytes },
	[RECORD_STACK] = { TRACE_STACK, sizeof(struct event_stack), take_stack, stack_bytes },
	[RECORD_SAMPLE] = { TRACE_SAMPLE, sizeof(struct event_sample), take_sample, sample_bytes },
#define KIND_OF_SERVER(id, ...)                                                                    \
	[RECORD_##id] = { TRACE_REMOTE, sizeof(struct event_remote), take_remote },
	TRACE_SERVER_LAYERS(KIND_OF_SERVER)
};

/* --- any record --- */

bool decoder_is_whole(const void *record, size_t size)
{
	const struct event_header *header = record;
	const struct decode_kind *kind;

	if (size < sizeof(*header) || header->kind >= RECORD_KIND_COUNT)
		return false;
	kind = &decode_kinds[header->kind];
	return kind->take && size >= kind->size &&
	       (!kind->text_bytes || kind->text_bytes(record) <= size - kind->size);
}

void decoder_take(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct decoder *decoder = context;

	if (size < sizeof(*header) || header->kind >= RECORD_KIND_COUNT || ring >= decoder->rings)
		return;
	if (!decoder_is_whole(record, size)) {
		decoder->refused[header->kind]++;
		return;
	}
	decoder->taken[header->kind]++;
	if (decoder->choice && file_choice_leaves_record(decoder->choice, header))
		return;
	decode_kinds[header->kind].take(decoder, ring, record);
}
