/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes traces as lines of DFTracer's format. */
#include "output/timeline/export_pfw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "base/grow.h"
#include "output/base/args.h"
#include "output/base/json.h"

struct pfw_span {
	uint64_t name, category, args; /* string ids of its trace */
};

struct pfw {
	const struct export_options *options;
	struct sink *out;
	struct job job;
	struct row_resolver *resolver;
	struct map reported; /* hashes already announced */
	bool *started;	     /* by process: already announced */
	size_t started_room;
	struct pfw_span *spans; /* by slot */
	size_t span_room;
	uint64_t base_ns; /* the run's start */
};

/* --- names --- */

/* DFTracer's name for the C library function that makes the call, where names differ. */
static const struct {
	const char *op, *name;
} renamed[] = {
	{ "open", "open64" },	    { "openat", "open64" },	 { "openat2", "open64" },
	{ "creat", "creat64" },	    { "pread64", "pread" },	 { "pwrite64", "pwrite" },
	{ "preadv2", "preadv" },    { "pwritev2", "pwritev" },	 { "lseek", "lseek64" },
	{ "newfstatat", "stat" },   { "statx", "stat" },	 { "newlstat", "lstat" },
	{ "newstat", "stat" },	    { "newfstat", "fstat" },	 { "mmap", "mmap64" },
	{ "getdents", "readdir" },  { "getdents64", "readdir" }, { "faccessat", "access" },
	{ "faccessat2", "access" }, { "mkdirat", "mkdir" },	 { "unlinkat", "unlink" },
	{ "renameat", "rename" },   { "renameat2", "rename" },	 { "readlinkat", "readlink" },
	{ "linkat", "link" },	    { "symlinkat", "symlink" },	 { "fchmodat", "chmod" },
	{ "fchownat", "chown" },
};

static const char *name_of(const struct resolved_row *row)
{
	const char *name = row->name;

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(renamed[i].op, name)) {
			name = renamed[i].name;
			break;
		}
	/* Current C libraries implement fstat with a call that names no path. */
	if (!strcmp(name, "stat") &&
	    (row->kind == TRACE_SYSCALL || !row->values[SYSCALL_PATH_PATH]))
		return "fstat";
	return name;
}

/* --- hashes --- */

/* FNV-1a with a final mix. Never 0. Equal names hash equally everywhere. */
static uint64_t hash_of(struct trace_string text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (unsigned char)text.bytes[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

static void write_hash(struct sink *out, const char *before, uint64_t hash)
{
	sink_text(out, before);
	sink_format(out, "\"%016" PRIx64 "\"", hash);
}

static uint64_t host_of(const struct pfw *pfw, uint32_t trace)
{
	const char *host = pfw->job.traces[trace].header->host;

	return hash_of((struct trace_string) { host, strlen(host) });
}

/* --- lines --- */

struct pfw_line {
	struct trace_string name, category;
	uint64_t pid, tid;
	uint32_t trace;
};

static struct trace_string literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

static void open_line(struct sink *out, const struct pfw_line *line, char phase)
{
	sink_text(out, "{\"name\":");
	json_text(out, line->name.bytes, line->name.length);
	sink_text(out, ",\"cat\":");
	json_text(out, line->category.bytes, line->category.length);
	sink_text(out, ",\"pid\":");
	sink_uint(out, line->pid);
	sink_text(out, ",\"tid\":");
	sink_uint(out, line->tid);
	sink_text(out, ",\"ph\":\"");
	sink_char(out, phase);
	sink_char(out, '"');
}

static uint64_t rounded_us(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

/* Writes an event up to its arguments, of which the host is the first. */
static void open_event(struct pfw *pfw, const struct pfw_line *line, uint64_t start_ns,
		       uint64_t end_ns)
{
	open_line(pfw->out, line, 'X');
	sink_text(pfw->out, ",\"ts\":");
	sink_uint(pfw->out, rounded_us(start_ns));
	sink_text(pfw->out, ",\"dur\":");
	sink_uint(pfw->out, rounded_us(end_ns - start_ns));
	write_hash(pfw->out, ",\"args\":{\"hhash\":", host_of(pfw, line->trace));
}

static void close_event(struct pfw *pfw)
{
	sink_text(pfw->out, "}}\n");
}

static void write_meta(struct pfw *pfw, const struct pfw_line *of, const char *kind,
		       struct trace_string name, struct trace_string value)
{
	struct pfw_line line = *of;

	line.name = literal(kind);
	line.category = literal("dftracer");
	open_line(pfw->out, &line, 'M');
	write_hash(pfw->out, ",\"args\":{\"hhash\":", host_of(pfw, of->trace));
	sink_text(pfw->out, ",\"name\":");
	json_text(pfw->out, name.bytes, name.length);
	sink_text(pfw->out, ",\"value\":");
	json_text(pfw->out, value.bytes, value.length);
	close_event(pfw);
}

/* Writes a hash's meaning once; kinds do not share hashes. Returns 0 or -ENOMEM. */
static int emit_hash(struct pfw *pfw, const struct pfw_line *of, const char *kind,
		     struct trace_string name, uint64_t hash)
{
	const uint64_t key[] = { hash, (uint64_t)kind[0] << 32 | host_of(pfw, of->trace) >> 32 };
	char digits[17];
	bool added;

	if (!map_add(&pfw->reported, key, &added))
		return -ENOMEM;
	snprintf(digits, sizeof(digits), "%016" PRIx64, hash);
	if (added)
		write_meta(pfw, of, kind, name, literal(digits));
	return 0;
}

/* --- processes --- */

/* Joins arguments with spaces. */
static void join_command(struct sink *joined, struct trace_string command)
{
	for (size_t i = 0; i < command.length; i++)
		if (command.bytes[i] || i + 1 < command.length)
			sink_char(joined, command.bytes[i] ? command.bytes[i] : ' ');
}

static int write_start(struct pfw *pfw, uint32_t number, struct pfw_line *line)
{
	const struct process *process = &pfw->job.processes.processes[number];
	const struct trace_reader *reader = pfw->job.traces[process->trace].reader;
	struct trace_string comm = trace_reader_string(reader, process->comm);
	struct sink joined;
	char rank[24];
	int status;

	sink_open_memory(&joined);
	join_command(&joined, trace_reader_string(reader, process->command));
	status = joined.error;
	if (!status && joined.used)
		status = emit_hash(pfw, line, "SH",
				   (struct trace_string) { joined.buffer, joined.used },
				   hash_of((struct trace_string) { joined.buffer, joined.used }));
	if (!status && comm.length)
		status = emit_hash(pfw, line, "SH", comm, hash_of(comm));
	if (process->rank >= 0) {
		snprintf(rank, sizeof(rank), "%" PRId64, process->rank);
		write_meta(pfw, line, "PR", literal("rank"), literal(rank));
	}
	if (comm.length)
		write_meta(pfw, line, "PR", literal("comm"), comm);
	line->name = literal("start");
	line->category = literal("dftracer");
	open_event(pfw, line, process->start_ns, process->start_ns);
	sink_text(pfw->out, ",\"ppid\":");
	sink_uint(pfw->out, process->ppid);
	if (comm.length)
		write_hash(pfw->out, ",\"exec_hash\":", hash_of(comm));
	if (joined.used)
		write_hash(pfw->out, ",\"cmd_hash\":",
			   hash_of((struct trace_string) { joined.buffer, joined.used }));
	close_event(pfw);
	sink_close(&joined);
	return status;
}

/* Writes the metadata of a process and its host before its first line. */
static int start_process(struct pfw *pfw, uint32_t number, uint32_t trace)
{
	const struct process *process = &pfw->job.processes.processes[number];
	struct pfw_line line = { .pid = process->pid, .tid = process->pid, .trace = trace };
	struct trace_string host;
	int status;

	if (!GROW(pfw->started, pfw->started_room, (size_t)number + 1))
		return -ENOMEM;
	if (pfw->started[number])
		return 0;
	pfw->started[number] = true;
	if (number != PROCESS_UNKNOWN)
		line.trace = process->trace;
	host = literal(pfw->job.traces[line.trace].header->host);
	status = emit_hash(pfw, &line, "HH", host, host_of(pfw, line.trace));
	return status || number == PROCESS_UNKNOWN ? status : write_start(pfw, number, &line);
}

/* --- calls and faults --- */

static const char *category_of(enum trace_kind kind)
{
	switch (kind) {
	case TRACE_FAULT:
		return "MMAP_FAULT";
	case TRACE_ASYNC:
		return "ASYNC";
	case TRACE_VFS:
		return "VFS";
	default:
		return "POSIX";
	}
}

static void write_call_args(struct pfw *pfw, const struct event *event,
			    const struct resolved_row *row)
{
	const struct operation *operation = &pfw->job.operations[event->operation];
	uint64_t result = row->values[SYSCALL_RESULT];

	/* Readers would take the results of calls like readlink for bytes. */
	if (event_moves_bytes(operation->family) && !result_is_error(result)) {
		sink_text(pfw->out, ",\"ret\":");
		sink_uint(pfw->out, result);
	}
	if ((int64_t)row->values[SYSCALL_OFFSET] >= 0) {
		sink_text(pfw->out, ",\"offset\":");
		sink_uint(pfw->out, row->values[SYSCALL_OFFSET]);
	}
	if (result_is_error(result)) {
		sink_text(pfw->out, ",\"errno\":");
		sink_uint(pfw->out, -result);
	}
	if (row->kind == TRACE_VFS)
		return;
	sink_text(pfw->out, ",\"fetched_bytes\":");
	sink_uint(pfw->out, row->values[SYSCALL_FETCHED]);
}

static void write_fault_args(struct pfw *pfw, const struct resolved_row *row)
{
	sink_text(pfw->out, ",\"offset\":");
	sink_uint(pfw->out, row->values[FAULT_OFFSET]);
	sink_text(pfw->out, ",\"fetched_bytes\":");
	sink_uint(pfw->out, row->values[FAULT_FETCHED]);
	sink_text(pfw->out,
		  row->values[FAULT_FLAGS] & TRACE_FAULT_MAJOR ? ",\"major\":1" : ",\"major\":0");
}

_Static_assert((int)FAULT_PID == (int)SYSCALL_PID && (int)FAULT_TID == (int)SYSCALL_TID &&
		       (int)VFS_PID == (int)SYSCALL_PID && (int)VFS_TID == (int)SYSCALL_TID,
	       "write_operation reads these columns for all kinds");

static int write_operation(struct pfw *pfw, const struct event *event)
{
	struct resolved_row row;
	struct pfw_line line = { .trace = event->block->trace };
	uint64_t fhash = 0;
	int status = start_process(pfw, event->process, event->block->trace);

	if (status)
		return status;
	row_resolve(pfw->resolver, event, &row);
	line.pid = row.values[SYSCALL_PID];
	line.tid = row.values[SYSCALL_TID];
	if (row.path.length) {
		fhash = hash_of(row.path);
		status = emit_hash(pfw, &line, "FH", row.path, fhash);
	}
	line.name = literal(row.kind == TRACE_FAULT ? row.name : name_of(&row));
	line.category = literal(category_of(row.kind));
	open_event(pfw, &line, event->start, event->end);
	if (fhash)
		write_hash(pfw->out, ",\"fhash\":", fhash);
	if (row.kind == TRACE_FAULT)
		write_fault_args(pfw, &row);
	else
		write_call_args(pfw, event, &row);
	close_event(pfw);
	return status;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct pfw *pfw = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++)
		if (event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC | EVENT_VFS) &&
		    !(event->flags & EVENT_SECOND))
			status = write_operation(pfw, event);
	return status ? status : pfw->out->error;
}

/* --- spans --- */

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct pfw *pfw = state;

	if (!GROW(pfw->spans, pfw->span_room, pfw->job.spans.room))
		return -ENOMEM;
	pfw->spans[slot] = (struct pfw_span) {
		.name = event_value(event, SPAN_BEGIN_NAME),
		.category = event_value(event, SPAN_BEGIN_CATEGORY),
		.args = event_value(event, SPAN_BEGIN_ARGS),
	};
	return 0;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	/* Readers expect these members on calls only. */
	static const char *const taken[] = { "hhash", "fhash", "ret", "offset", "size_sum", NULL };
	struct pfw *pfw = state;
	const struct span *span = &pfw->job.spans.slots[slot];
	const struct process *process = &pfw->job.processes.processes[span->process];
	const struct trace_reader *reader = pfw->job.traces[process->trace].reader;
	struct pfw_line line = { .pid = process->pid,
				 .tid = span->thread,
				 .trace = process->trace };
	bool any = true;
	int status;

	if (!filter_wants(pfw->options->filter, process, pfw->base_ns, span->begin_ns,
			  span->end_ns))
		return 0;
	status = start_process(pfw, span->process, process->trace);
	line.name = trace_reader_string(reader, pfw->spans[slot].name);
	line.category = trace_reader_string(reader, pfw->spans[slot].category);
	open_event(pfw, &line, span->begin_ns, span->end_ns);
	args_json_members(pfw->out, trace_reader_string(reader, pfw->spans[slot].args), taken,
			  &any);
	close_event(pfw);
	return status ? status : pfw->out->error;
}

/* --- the walk --- */

static int write_all(struct pfw *pfw, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events,
						 .span_begun = span_begun,
						 .span_ended = span_ended };
	const struct walk_consumer consumer = { &calls, pfw };
	struct walk walk = {
		.cursor = { .kinds = CURSOR_SPAN_KINDS | 1ull << TRACE_SYSCALL |
				     1ull << TRACE_SYSCALL_PATH | 1ull << TRACE_ASYNC |
				     1ull << TRACE_FAULT | 1ull << TRACE_VFS,
			    .whole_rows = true },
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = pfw->options->progress,
		.context = pfw->options->context,
	};
	int status;

	pfw->base_ns = pfw->job.start_ns;
	status = filter_start(&walk.filter, pfw->options->filter, &pfw->job, error);
	filter_set_cursor(walk.filter, &walk.cursor);
	if (!status)
		status = row_resolver_open(&pfw->resolver, &pfw->job);
	if (!status)
		status = walk_run(&pfw->job, &walk, error);
	filter_close(walk.filter);
	/* Include processes without any events. */
	for (size_t i = 1; i < pfw->job.processes.count && !status; i++) {
		const struct process *process = &pfw->job.processes.processes[i];

		if (filter_wants(pfw->options->filter, process, pfw->base_ns, process->start_ns,
				 process->ended ? process->end_ns : UINT64_MAX))
			status = start_process(pfw, i, process->trace);
	}
	return status ? status : pfw->out->error;
}

int export_pfw(struct sink *out, struct trace_reader *const *traces, const char *const *names,
	       size_t trace_count, const struct export_options *options, struct trace_error *error)
{
	struct pfw pfw = { .options = options, .out = out };
	int status = job_load(&pfw.job, traces, names, trace_count, error);

	map_init(&pfw.reported, 2, 1);
	if (!status)
		status = write_all(&pfw, error);
	row_resolver_close(pfw.resolver);
	map_free(&pfw.reported);
	free(pfw.started);
	free(pfw.spans);
	job_free(&pfw.job);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}

void export_pfw_describe(struct sink *out)
{
	sink_text(
		out,
		"One JSON object per line, in DFTracer's format; compressed if FILE ends in .gz.\n"
		"ts and dur are whole us, ts since 1970; hashes are 16 hexadecimal digits.\n\n"
		"  ph X  name, cat, pid, tid, ts, dur, args {hhash}:\n"
		"        cat POSIX       system calls, by DFTracer's names (open64, pread,\n"
		"                        fstat): fhash, ret (bytes moved, unless the call\n"
		"                        failed), offset, errno, fetched_bytes (from storage)\n"
		"        cat ASYNC, VFS  io_uring and libaio operations, VFS operations: the same\n"
		"        cat MMAP_FAULT  page faults: fhash, offset, fetched_bytes, major\n"
		"        cat dftracer    \"start\", one per process: ppid, exec_hash, cmd_hash\n"
		"        others          spans, with the program's name, category and arguments\n"
		"  ph M  HH, FH, SH: args {name, value}: host, file or text of a hash\n"
		"        PR: args {name, value}: rank and comm of a process\n");
}
