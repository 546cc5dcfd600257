/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From records to rows. Knows the records and the columns, nothing of rings and files.
 */
#include "capture/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cgroups.h"
#include "capture/environments.h"
#include "capture/names.h"
#include "capture/span_ends.h"

#define ENVIRONMENTS_MORE 16 /* than there are rings: execs that were preempted, or lost */

/* Execs whose cgroup is being looked up. */
#define WAITING_MAX 256

struct waiting_exec {
	uint64_t row[EXEC_COLUMNS];
	uint64_t cgroup_id;
	unsigned int ring;
};

struct decoder {
	struct trace_writer *writer;
	struct cgroups *cgroups;
	struct waiting_exec waiting[WAITING_MAX];
	size_t waiting_count;
	unsigned int page_bytes, rings;
	uint64_t start_ns;
	uint64_t taken[EVENT_KIND_COUNT], refused[EVENT_KIND_COUNT];
	decoder_code_fn tell_code;
	void *tell_context;
	struct environments *environments;
	struct span_ends *span_ends;
};

/* --- one function per kind of record --- */

static void fill_call(const struct decoder *decoder, const struct event_syscall *event,
		      uint64_t *row)
{
	row[SYSCALL_TIME] = event->header.time_ns;
	row[SYSCALL_DUR] = event->duration_ns;
	row[SYSCALL_PID] = event->header.pid;
	row[SYSCALL_TID] = event->header.tid;
	row[SYSCALL_OP] = event->op;
	row[SYSCALL_FILE] = event->file;
	row[SYSCALL_OFFSET] = event->offset;
	row[SYSCALL_ASKED] = event->asked_bytes;
	row[SYSCALL_RESULT] = event->result;
	row[SYSCALL_FLAGS] = event->flags;
	row[SYSCALL_FETCHED] = (uint64_t)event->fetched_pages * decoder->page_bytes;
	row[SYSCALL_FAULT_FETCHED] = (uint64_t)event->fault_fetched_pages * decoder->page_bytes;
	row[SYSCALL_MAJOR] = event->major_faults;
	row[SYSCALL_CREATED] = (uint64_t)event->created_pages * decoder->page_bytes;
	row[SYSCALL_DIRTIED] = (uint64_t)event->dirtied_pages * decoder->page_bytes;
}

/* `address` 0: by an exec. */
static void tell_code(struct decoder *decoder, const struct event_header *header, uint64_t address,
		      uint64_t bytes)
{
	if (decoder->tell_code)
		decoder->tell_code(decoder->tell_context, header->pid, address, bytes,
				   header->time_ns);
}

static void take_syscall(struct decoder *decoder, unsigned int ring, const void *record)
{
	uint64_t row[SYSCALL_COLUMNS];

	fill_call(decoder, record, row);
	trace_writer_append(decoder->writer, TRACE_SYSCALL, ring, row);
}

static void take_syscall_path(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_syscall_path *event = record;
	uint64_t row[SYSCALL_PATH_COLUMNS];

	fill_call(decoder, &event->call, row);
	row[SYSCALL_PATH_FILE2] = event->file2;
	row[SYSCALL_PATH_DIR] = event->dir;
	row[SYSCALL_PATH_PATH] =
		trace_writer_string(decoder->writer, event->text, event->path_bytes);
	row[SYSCALL_PATH_DIR2] = event->dir2;
	row[SYSCALL_PATH_PATH2] = trace_writer_string(
		decoder->writer, event->text + event->path_bytes, event->path2_bytes);
	trace_writer_append(decoder->writer, TRACE_SYSCALL_PATH, ring, row);
}

static void take_pagecache(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_pagecache *event = record;
	uint64_t row[PAGECACHE_COLUMNS] = {
		[PAGECACHE_TIME] = event->header.time_ns,
		[PAGECACHE_PID] = event->header.pid,
		[PAGECACHE_TID] = event->header.tid,
		[PAGECACHE_FILE] = event->file,
		[PAGECACHE_OFFSET] = event->offset,
		[PAGECACHE_BYTES] = (uint64_t)event->fetched_pages * decoder->page_bytes,
		[PAGECACHE_CREATED] = (uint64_t)event->created_pages * decoder->page_bytes,
		[PAGECACHE_CALL] = event->op ? event->op + 1 : 0,
	};

	trace_writer_append(decoder->writer, TRACE_PAGECACHE, ring, row);
}

static void take_fork(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_fork *event = record;
	uint64_t row[FORK_COLUMNS] = {
		[FORK_TIME] = event->header.time_ns, [FORK_PID] = event->header.pid,
		[FORK_TID] = event->header.tid,	     [FORK_CHILD_PID] = event->child_pid,
		[FORK_CHILD_TID] = event->child_tid,
	};

	if (event->child_pid == event->child_tid)
		span_ends_fork(decoder->span_ends, event->header.pid, event->child_pid);
	trace_writer_append(decoder->writer, TRACE_FORK, ring, row);
}

static void take_environ(struct decoder *decoder, unsigned int ring, const void *record)
{
	environments_add(decoder->environments, record);
}

static int64_t take_rank(struct decoder *decoder, uint32_t tid)
{
	size_t bytes;
	const char *text = environments_take(decoder->environments, tid, &bytes);

	return text ? names_rank(text, bytes) : -1;
}

static uint64_t comm_string(struct decoder *decoder, const char *comm)
{
	return trace_writer_string(decoder->writer, comm, strnlen(comm, EVENT_COMM_BYTES));
}

/* False while the cgroup is being looked up. */
static bool write_exec(struct decoder *decoder, struct waiting_exec *exec, bool wait)
{
	char cgroup[PATH_MAX];

	if (!cgroups_path(decoder->cgroups, exec->cgroup_id, wait, cgroup))
		return false;
	exec->row[EXEC_CGROUP] = trace_writer_string(decoder->writer, cgroup, strlen(cgroup));
	trace_writer_append(decoder->writer, TRACE_EXEC, exec->ring, exec->row);
	return true;
}

void decoder_settle(struct decoder *decoder, bool wait)
{
	size_t left = 0;

	for (size_t i = 0; i < decoder->waiting_count; i++)
		if (!write_exec(decoder, &decoder->waiting[i], wait))
			decoder->waiting[left++] = decoder->waiting[i];
	decoder->waiting_count = left;
}

static void take_exec(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_exec *event = record;
	struct waiting_exec exec = { .cgroup_id = event->cgroup_id, .ring = ring };
	size_t bytes = event->command_bytes;
	uint64_t *row = exec.row;

	while (bytes && !event->command[bytes - 1])
		bytes--;
	row[EXEC_TIME] = event->header.time_ns;
	row[EXEC_PID] = event->header.pid;
	row[EXEC_TID] = event->header.tid;
	row[EXEC_PPID] = event->ppid;
	row[EXEC_UID] = event->uid;
	row[EXEC_COMM] = comm_string(decoder, event->comm);
	row[EXEC_COMMAND] = trace_writer_string(decoder->writer, event->command, bytes);
	row[EXEC_RANK] = take_rank(decoder, event->header.tid);
	row[EXEC_FLAGS] = event->flags;
	/* Lanes are drained one after the other: a child's exec may come before the command's. */
	if (!decoder->start_ns || event->header.time_ns < decoder->start_ns)
		decoder->start_ns = event->header.time_ns;
	if (!(event->flags & TRACE_EXEC_NOT_FOLLOWED))
		tell_code(decoder, &event->header, 0, 0);
	if (write_exec(decoder, &exec, false))
		return;
	if (decoder->waiting_count == WAITING_MAX)
		decoder_settle(decoder, true);
	decoder->waiting[decoder->waiting_count++] = exec;
}

static void take_exit(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_exit *event = record;
	uint64_t row[EXIT_COLUMNS] = {
		[EXIT_TIME] = event->header.time_ns,
		[EXIT_PID] = event->header.pid,
		[EXIT_TID] = event->header.tid,
		[EXIT_PROCESS] = event->process_ends,
		[EXIT_CODE] = (uint32_t)event->code,
		[EXIT_COMM] = comm_string(decoder, event->comm),
		[EXIT_MAJOR] = event->major_faults,
		[EXIT_MINOR] = event->minor_faults,
	};

	trace_writer_append(decoder->writer, TRACE_EXIT, ring, row);
}

static void take_file(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_file *event = record;
	char path[NAMES_PATH_BYTES];
	uint64_t row[FILE_COLUMNS] = {
		[FILE_TIME] = event->header.time_ns,
		[FILE_ID] = event->id,
		[FILE_DEV] = event->dev,
		[FILE_INO] = event->ino,
		[FILE_GENERATION] = event->generation,
		[FILE_MODE] = event->mode,
		[FILE_SIZE] = event->size_bytes,
		[FILE_FLAGS] = event->flags,
		[FILE_READAHEAD] = (uint64_t)event->readahead_pages * decoder->page_bytes,
		[FILE_FILESYSTEM] =
			trace_writer_string(decoder->writer, event->filesystem,
					    strnlen(event->filesystem, sizeof(event->filesystem))),
	};

	row[FILE_PATH] = trace_writer_string(decoder->writer, path, names_path(event, path));
	trace_writer_append(decoder->writer, TRACE_FILE, ring, row);
}

static void take_span_begin(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span *event = record;
	const char *category = event->text + event->name_bytes;
	struct trace_writer *writer = decoder->writer;
	uint64_t row[SPAN_BEGIN_COLUMNS] = {
		[SPAN_BEGIN_TIME] = event->header.time_ns,
		[SPAN_BEGIN_PID] = event->header.pid,
		[SPAN_BEGIN_TID] = event->header.tid,
		[SPAN_BEGIN_ID] = event->id,
		[SPAN_BEGIN_NAME] = trace_writer_string(writer, event->text, event->name_bytes),
		[SPAN_BEGIN_CATEGORY] =
			trace_writer_string(writer, category, event->category_bytes),
		[SPAN_BEGIN_ARGS] = trace_writer_args(writer, category + event->category_bytes,
						      event->args_bytes),
		[SPAN_BEGIN_FLAGS] = event->flags,
	};

	span_ends_begin(decoder->span_ends, event->header.pid, event->id);
	trace_writer_append(writer, TRACE_SPAN_BEGIN, ring, row);
}

static void take_span_end(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span_end *event = record;
	uint64_t row[SPAN_END_COLUMNS] = {
		[SPAN_END_TIME] = event->header.time_ns,
		[SPAN_END_PID] = event->header.pid,
		[SPAN_END_TID] = event->header.tid,
		[SPAN_END_ID] = event->id,
	};

	span_ends_end(decoder->span_ends, event->header.pid, event->id);
	trace_writer_append(decoder->writer, TRACE_SPAN_END, ring, row);
}

static void take_instant(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_span *event = record;
	const char *category = event->text + event->name_bytes;
	struct trace_writer *writer = decoder->writer;
	uint64_t row[INSTANT_COLUMNS] = {
		[INSTANT_TIME] = event->header.time_ns,
		[INSTANT_PID] = event->header.pid,
		[INSTANT_TID] = event->header.tid,
		[INSTANT_NAME] = trace_writer_string(writer, event->text, event->name_bytes),
		[INSTANT_CATEGORY] = trace_writer_string(writer, category, event->category_bytes),
		[INSTANT_ARGS] = trace_writer_args(writer, category + event->category_bytes,
						   event->args_bytes),
		[INSTANT_FLAGS] = event->flags,
	};

	trace_writer_append(writer, TRACE_INSTANT, ring, row);
}

static void take_code(struct decoder *decoder, unsigned int ring, const void *record)
{
	const struct event_code *event = record;

	tell_code(decoder, &event->header, event->address, event->bytes);
}

/* --- how much follows a record's fields --- */

static size_t path_bytes(const void *record)
{
	const struct event_syscall_path *event = record;

	return (size_t)event->path_bytes + event->path2_bytes;
}

static size_t exec_bytes(const void *record)
{
	return ((const struct event_exec *)record)->command_bytes;
}

static size_t environ_bytes(const void *record)
{
	return ((const struct event_environ *)record)->bytes;
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

/* --- slots of lanes --- */

static void take_lane_fault(struct decoder *decoder, unsigned int lane,
			    const struct lane_fault *fault)
{
	uint64_t row[FAULT_COLUMNS] = {
		[FAULT_TIME] = fault->time_ns,
		[FAULT_DUR] = fault->duration_ns,
		[FAULT_PID] = fault->pid,
		[FAULT_TID] = fault->tid,
		[FAULT_FILE] = fault->file,
		[FAULT_OFFSET] = fault->offset,
		[FAULT_FLAGS] = fault->flags,
		[FAULT_FETCHED] = (uint64_t)fault->fetched_pages * decoder->page_bytes,
		[FAULT_DIRTIED] = (uint64_t)fault->dirtied_pages * decoder->page_bytes,
	};

	decoder->taken[EVENT_FAULT]++;
	trace_writer_append(decoder->writer, TRACE_FAULT, lane, row);
}

static void take_lane_call(struct decoder *decoder, unsigned int lane, const struct lane_call *call)
{
	uint64_t row[SYSCALL_COLUMNS] = {
		[SYSCALL_TIME] = call->time_ns,
		[SYSCALL_DUR] = call->duration_ns,
		[SYSCALL_PID] = call->pid,
		[SYSCALL_TID] = call->tid,
		[SYSCALL_OP] = call->op,
		[SYSCALL_FILE] = call->file,
		[SYSCALL_OFFSET] = call->offset,
		[SYSCALL_ASKED] = call->asked_bytes,
		[SYSCALL_RESULT] = call->result,
		[SYSCALL_FLAGS] = call->flags,
		[SYSCALL_FETCHED] = (uint64_t)call->fetched_pages * decoder->page_bytes,
		[SYSCALL_CREATED] = (uint64_t)call->created_pages * decoder->page_bytes,
	};

	decoder->taken[EVENT_SYSCALL]++;
	trace_writer_append(decoder->writer, TRACE_SYSCALL, lane, row);
}

void decoder_take_slots(void *context, unsigned int lane, const struct lane_slot *slots,
			size_t count)
{
	struct decoder *decoder = context;

	for (size_t i = 0; i < count; i++) {
		if (slots[i].call.op == OP_FAULT)
			take_lane_fault(decoder, lane, &slots[i].fault);
		else
			take_lane_call(decoder, lane, &slots[i].call);
	}
}

/* --- the table --- */

static const struct {
	const char *name, *layer;
	enum trace_kind kind;
	size_t size; /* of its fields */
	void (*take)(struct decoder *decoder, unsigned int ring, const void *record);
	size_t (*text_bytes)(const void *record); /* of what follows them; NULL: nothing */
} kinds[EVENT_KIND_COUNT] = {
	[EVENT_NONE] = { "none", "none", TRACE_KIND_COUNT, 0, NULL },
	[EVENT_SYSCALL] = { "syscall", "syscall", TRACE_SYSCALL, sizeof(struct event_syscall),
			    take_syscall },
	[EVENT_SYSCALL_PATH] = { "syscall_path", "syscall", TRACE_SYSCALL_PATH,
				 sizeof(struct event_syscall_path), take_syscall_path, path_bytes },
	[EVENT_FAULT] = { "fault", "fault", TRACE_FAULT, 0, NULL }, /* through lanes alone */
	[EVENT_PAGECACHE] = { "pagecache", "pagecache", TRACE_PAGECACHE,
			      sizeof(struct event_pagecache), take_pagecache },
	[EVENT_FORK] = { "fork", "task", TRACE_FORK, sizeof(struct event_fork), take_fork },
	[EVENT_EXEC] = { "exec", "task", TRACE_EXEC, sizeof(struct event_exec), take_exec,
			 exec_bytes },
	[EVENT_ENVIRON] = { "environment", "task", TRACE_KIND_COUNT, sizeof(struct event_environ),
			    take_environ, environ_bytes },
	[EVENT_EXIT] = { "exit", "task", TRACE_EXIT, sizeof(struct event_exit), take_exit },
	[EVENT_FILE] = { "file", "file", TRACE_FILE, sizeof(struct event_file), take_file,
			 file_bytes },
	[EVENT_SPAN_BEGIN] = { "span_begin", "span", TRACE_SPAN_BEGIN, sizeof(struct event_span),
			       take_span_begin, span_bytes },
	[EVENT_SPAN_END] = { "span_end", "span", TRACE_SPAN_END, sizeof(struct event_span_end),
			     take_span_end },
	[EVENT_CODE] = { "code", "span", TRACE_KIND_COUNT, sizeof(struct event_code), take_code },
	[EVENT_INSTANT] = { "instant", "span", TRACE_INSTANT, sizeof(struct event_span),
			    take_instant, span_bytes },
};

void decoder_take(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct decoder *decoder = context;

	if (size < sizeof(*header) || header->kind >= EVENT_KIND_COUNT || ring >= decoder->rings)
		return;
	if (!kinds[header->kind].take || size < kinds[header->kind].size ||
	    (kinds[header->kind].text_bytes &&
	     kinds[header->kind].text_bytes(record) > size - kinds[header->kind].size)) {
		decoder->refused[header->kind]++;
		return;
	}
	decoder->taken[header->kind]++;
	kinds[header->kind].take(decoder, ring, record);
}

uint64_t decoder_taken(const struct decoder *decoder, enum event_kind kind)
{
	return decoder->taken[kind];
}

uint64_t decoder_refused(const struct decoder *decoder, enum event_kind kind)
{
	return decoder->refused[kind];
}

uint64_t decoder_unbegun(const struct decoder *decoder)
{
	return span_ends_unbegun(decoder->span_ends);
}

enum trace_kind decoder_kind(enum event_kind kind)
{
	return kinds[kind].kind;
}

const char *decoder_kind_name(enum event_kind kind)
{
	return kinds[kind].name;
}

const char *decoder_kind_layer(enum event_kind kind)
{
	return kinds[kind].layer;
}

/* --- opening and closing --- */

int decoder_open(struct decoder **out, struct trace_writer *writer, unsigned int rings,
		 unsigned int page_bytes)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	int err = -ENOMEM;

	if (!decoder)
		return -ENOMEM;
	decoder->environments = environments_open(rings + ENVIRONMENTS_MORE);
	decoder->span_ends = span_ends_make();
	if (decoder->environments && decoder->span_ends)
		err = cgroups_open(&decoder->cgroups, NULL);
	if (err) {
		decoder_close(decoder);
		return err;
	}
	decoder->writer = writer;
	decoder->rings = rings;
	decoder->page_bytes = page_bytes;
	*out = decoder;
	return 0;
}

void decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return;
	environments_close(decoder->environments);
	span_ends_free(decoder->span_ends);
	cgroups_close(decoder->cgroups);
	free(decoder);
}

void decoder_tell_code(struct decoder *decoder, decoder_code_fn tell, void *context)
{
	decoder->tell_code = tell;
	decoder->tell_context = context;
}

uint64_t decoder_start_ns(const struct decoder *decoder)
{
	return decoder->start_ns;
}
