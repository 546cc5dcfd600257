/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Draws each kind of row on a timeline. */
#include "output/timeline/chrome_rows.h"

#include <string.h>
#include <sys/wait.h>

#include "analysis/events/event.h"
#include "output/base/args.h"
#include "output/base/json.h"

/* A row being drawn. */
struct drawn_row {
	const struct event *event;
	struct resolved_row resolved;
	uint32_t process, thread;
};

struct row_rule {
	int (*write)(struct chrome_rows *rows, const struct drawn_row *row);
	uint8_t pid, tid; /* columns */
};

/* --- calls and faults --- */

static int count_bytes(struct chrome_rows *rows, const struct event *event, uint32_t process)
{
	int status = chrome_counters_add(rows->counters, process, COUNTER_FETCHED,
					 event->fetched_bytes, event->start, event->end);

	if (!status)
		status = chrome_counters_add(rows->counters, process, COUNTER_CREATED,
					     event->created_bytes, event->start, event->end);
	if (!status && (event->class == IO_READ || event->class == IO_WRITE))
		status = chrome_counters_add(rows->counters, process,
					     event->class == IO_READ ? COUNTER_READ
								     : COUNTER_WRITTEN,
					     event->bytes, event->start, event->end);
	return status;
}

/* Returns the sink for a slice, or NULL if it is not drawn. */
static struct sink *place_slice(struct chrome_rows *rows, const struct drawn_row *row,
				struct chrome_slice *slice)
{
	const struct event *event = row->event;

	if (!chrome_slice_cut(slice, rows->window, event->start, event->end) ||
	    event->end - event->start < rows->min_duration_ns)
		return NULL;
	slice->place = chrome_place_of(rows->threads, row->thread);
	if (event->flags & EVENT_ASYNC)
		return chrome_spans_place_aside(rows->spans, slice);
	return chrome_spans_place(rows->spans, row->thread, slice);
}

static void add_path(struct chrome_args *args, const char *name, struct trace_string path)
{
	if (path.length)
		chrome_add_text(args, name, path);
}

/* For values that are usually 0. */
static void add_unless_zero(struct chrome_args *args, const char *name, uint64_t value)
{
	if (value)
		chrome_add_uint(args, name, value);
}

static void add_result(struct chrome_args *args, enum trace_family family, uint64_t result)
{
	bool failed = result_is_error(result);
	const char *error = failed ? strerrorname_np(-(int)result) : NULL;

	if (event_moves_bytes(family))
		chrome_add_uint(args, "bytes", failed ? 0 : result);
	chrome_add_int(args, "result", result);
	if (error)
		chrome_add_word(args, "error", error);
}

static int write_call(struct chrome_rows *rows, const struct drawn_row *row)
{
	const struct resolved_row *resolved = &row->resolved;
	enum trace_family family = rows->job->operations[row->event->operation].family;
	struct chrome_slice slice = { .name = chrome_text(resolved->name),
				      .category = chrome_text(trace_family_names[family]) };
	struct sink *out = place_slice(rows, row, &slice);
	const uint64_t *values = resolved->values;
	struct chrome_args args;

	if (!out)
		return 0;
	args = chrome_slice_begin(out, &slice);
	add_path(&args, "file", resolved->path);
	add_path(&args, "file2", resolved->path2);
	if ((int64_t)values[SYSCALL_OFFSET] >= 0)
		chrome_add_uint(&args, "offset", values[SYSCALL_OFFSET]);
	add_unless_zero(&args, "asked", values[SYSCALL_ASKED]);
	add_result(&args, family, values[SYSCALL_RESULT]);
	chrome_add_uint(&args, "fetched_bytes", values[SYSCALL_FETCHED]);
	add_unless_zero(&args, "created_bytes", values[SYSCALL_CREATED]);
	add_unless_zero(&args, "read_for_write_bytes", values[SYSCALL_READ_FOR_WRITE]);
	add_unless_zero(&args, "fault_fetched_bytes", values[SYSCALL_FAULT_FETCHED]);
	add_unless_zero(&args, "major", values[SYSCALL_MAJOR]);
	chrome_add_flags(&args, resolved->kind, values[SYSCALL_FLAGS]);
	chrome_slice_end(&args, &slice);
	return 0;
}

static int write_vfs(struct chrome_rows *rows, const struct drawn_row *row)
{
	const struct resolved_row *resolved = &row->resolved;
	enum trace_family family = rows->job->operations[row->event->operation].family;
	struct chrome_slice slice = { .name = chrome_text(resolved->name),
				      .category = chrome_text(trace_family_names[family]) };
	struct sink *out = place_slice(rows, row, &slice);
	const uint64_t *values = resolved->values;
	struct chrome_args args;

	if (!out)
		return 0;
	args = chrome_slice_begin(out, &slice);
	add_path(&args, "file", resolved->path);
	if ((int64_t)values[VFS_OFFSET] >= 0)
		chrome_add_uint(&args, "offset", values[VFS_OFFSET]);
	add_unless_zero(&args, "asked", values[VFS_ASKED]);
	add_result(&args, family, values[VFS_RESULT]);
	chrome_add_flags(&args, resolved->kind, values[VFS_FLAGS]);
	chrome_slice_end(&args, &slice);
	return 0;
}

static int write_fault(struct chrome_rows *rows, const struct drawn_row *row)
{
	const struct resolved_row *resolved = &row->resolved;
	struct chrome_slice slice = { .name = chrome_text(resolved->name),
				      .category =
					      chrome_text(trace_family_names[TRACE_FILEFAULT]) };
	struct sink *out = place_slice(rows, row, &slice);
	const uint64_t *values = resolved->values;
	struct chrome_args args;

	if (!out)
		return 0;
	args = chrome_slice_begin(out, &slice);
	add_path(&args, "file", resolved->path);
	chrome_add_uint(&args, "offset", values[FAULT_OFFSET]);
	chrome_add_uint(&args, "fetched_bytes", values[FAULT_FETCHED]);
	chrome_add_flags(&args, resolved->kind, values[FAULT_FLAGS]);
	chrome_slice_end(&args, &slice);
	return 0;
}

/* --- instants --- */

/* `scope` is "t" for a thread's instant, "p" for a process's. */
static struct chrome_args begin_moment(struct chrome_rows *rows, const struct drawn_row *row,
				       struct trace_string name, struct trace_string category,
				       const char *scope)
{
	struct chrome_place place = chrome_place_of(rows->threads, row->thread);
	struct sink *out = rows->threads->out;

	sink_text(out, ",\n");
	chrome_open(out, name, category, 'i', place);
	chrome_time(out, "ts", row->event->start - rows->window->base_ns);
	sink_text(out, ",\"s\":\"");
	sink_text(out, scope);
	sink_char(out, '"');
	return chrome_args_begin(out);
}

/* The same for a row without a name of its own. */
static struct chrome_args begin_plain(struct chrome_rows *rows, const struct drawn_row *row,
				      const char *scope)
{
	const struct trace_schema *schema = &trace_schemas[row->resolved.kind];

	return begin_moment(rows, row, chrome_text(schema->kind), chrome_text(schema->layer),
			    scope);
}

static void end_moment(struct chrome_args *args)
{
	chrome_args_end(args);
	sink_char(args->out, '}');
}

static int write_pagecache(struct chrome_rows *rows, const struct drawn_row *row)
{
	struct chrome_args args = begin_plain(rows, row, "t");

	add_path(&args, "file", row->resolved.path);
	chrome_add_uint(&args, "offset", row->resolved.values[PAGECACHE_OFFSET]);
	chrome_add_uint(&args, "fetched_bytes", row->resolved.values[PAGECACHE_BYTES]);
	add_unless_zero(&args, "created_bytes", row->resolved.values[PAGECACHE_CREATED]);
	end_moment(&args);
	return 0;
}

static int write_throttle(struct chrome_rows *rows, const struct drawn_row *row)
{
	struct chrome_args args = begin_plain(rows, row, "t");

	add_path(&args, "file", row->resolved.path);
	chrome_add_uint(&args, "pause_ns", row->resolved.values[THROTTLE_PAUSE]);
	end_moment(&args);
	return 0;
}

static int write_fork(struct chrome_rows *rows, const struct drawn_row *row)
{
	struct chrome_args args = begin_plain(rows, row, "t");

	chrome_add_uint(&args, "child_pid", row->resolved.values[FORK_CHILD_PID]);
	chrome_add_uint(&args, "child_tid", row->resolved.values[FORK_CHILD_TID]);
	end_moment(&args);
	return 0;
}

/* Writes arguments as a list. */
static void add_command(struct chrome_args *args, struct trace_string command)
{
	sink_text(args->out, args->any ? ",\"command\":" : "\"command\":");
	args->any = true;
	json_words(args->out, command.bytes, command.length);
}

static int write_exec(struct chrome_rows *rows, const struct drawn_row *row)
{
	const struct trace_reader *reader = row->resolved.reader;
	const uint64_t *values = row->resolved.values;
	struct chrome_args args = begin_plain(rows, row, "p");

	chrome_add_text(&args, "comm", trace_reader_string(reader, values[EXEC_COMM]));
	add_command(&args, trace_reader_string(reader, values[EXEC_COMMAND]));
	chrome_add_uint(&args, "ppid", values[EXEC_PPID]);
	chrome_add_uint(&args, "uid", values[EXEC_UID]);
	chrome_add_text(&args, "cgroup", trace_reader_string(reader, values[EXEC_CGROUP]));
	if ((int64_t)values[EXEC_RANK] >= 0)
		chrome_add_uint(&args, "rank", values[EXEC_RANK]);
	end_moment(&args);
	return 0;
}

static int write_exit(struct chrome_rows *rows, const struct drawn_row *row)
{
	const uint64_t *values = row->resolved.values;
	bool process = values[EXIT_PROCESS];
	int code = values[EXIT_CODE];
	struct chrome_args args = begin_plain(rows, row, process ? "p" : "t");

	chrome_add_text(&args, "comm",
			trace_reader_string(row->resolved.reader, values[EXIT_COMM]));
	if (process && WIFSIGNALED(code))
		chrome_add_uint(&args, "signal", WTERMSIG(code));
	else if (process)
		chrome_add_uint(&args, "status", WEXITSTATUS(code));
	chrome_add_uint(&args, "major", values[EXIT_MAJOR]);
	chrome_add_uint(&args, "minor", values[EXIT_MINOR]);
	end_moment(&args);
	return 0;
}

static int write_instant(struct chrome_rows *rows, const struct drawn_row *row)
{
	static const char *const taken[] = { "flags", NULL };
	const struct trace_reader *reader = row->resolved.reader;
	const uint64_t *values = row->resolved.values;
	struct trace_string category = trace_reader_string(reader, values[INSTANT_CATEGORY]);
	struct chrome_args args;

	if (!category.length)
		category = chrome_text("instant");
	args = begin_moment(rows, row, trace_reader_string(reader, values[INSTANT_NAME]), category,
			    "t");
	args_json_members(args.out, trace_reader_string(reader, values[INSTANT_ARGS]), taken,
			  &args.any);
	chrome_add_flags(&args, row->resolved.kind, values[INSTANT_FLAGS]);
	end_moment(&args);
	return 0;
}

/* --- requests --- */

static int write_request(struct chrome_rows *rows, const struct drawn_row *row)
{
	return chrome_requests_draw(rows->requests, row->event, &row->resolved);
}

/* A bio begins the arrow to its request; the kernel's own bios begin none. */
static int write_bio(struct chrome_rows *rows, const struct drawn_row *row)
{
	if (row->resolved.values[BIO_PID])
		chrome_requests_lead(rows->requests, row->event, row->thread);
	return 0;
}

/* --- rows --- */

/* Spans have their own callbacks, see below. */
static const struct row_rule rules[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = { write_call, SYSCALL_PID, SYSCALL_TID },
	[TRACE_SYSCALL_PATH] = { write_call, SYSCALL_PID, SYSCALL_TID },
	[TRACE_ASYNC] = { write_call, SYSCALL_PID, SYSCALL_TID },
	[TRACE_FAULT] = { write_fault, FAULT_PID, FAULT_TID },
	[TRACE_PAGECACHE] = { write_pagecache, PAGECACHE_PID, PAGECACHE_TID },
	[TRACE_FORK] = { write_fork, FORK_PID, FORK_TID },
	[TRACE_EXEC] = { write_exec, EXEC_PID, EXEC_TID },
	[TRACE_EXIT] = { write_exit, EXIT_PID, EXIT_TID },
	[TRACE_INSTANT] = { write_instant, INSTANT_PID, INSTANT_TID },
	[TRACE_THROTTLE] = { write_throttle, THROTTLE_PID, THROTTLE_TID },
	[TRACE_REQUEST] = { write_request, REQUEST_PID, REQUEST_TID },
	[TRACE_BIO] = { write_bio, BIO_PID, BIO_TID },
	[TRACE_VFS] = { write_vfs, VFS_PID, VFS_TID },
};

uint64_t chrome_row_kinds(void)
{
	uint64_t kinds = 1ull << TRACE_SPAN_BEGIN | 1ull << TRACE_SPAN_END;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		kinds |= rules[i].write ? 1ull << i : 0;
	return kinds;
}

/* Events that begin before the window count if they extend into it. */
static bool matters(const struct chrome_rows *rows, const struct event *event)
{
	const struct chrome_window *window = rows->window;
	const struct row_rule *rule = &rules[event_kind(event)];

	if (!rule->write ||
	    (rows->pid != FILTER_NONE && rows->pid != event_value(event, rule->pid)))
		return false;
	return (event->start >= window->from_ns && event->start < window->until_ns) ||
	       (event->start < window->from_ns && event->end > window->from_ns);
}

static int draw_event(struct chrome_rows *rows, const struct event *event)
{
	const struct row_rule *rule = &rules[event_kind(event)];
	struct drawn_row row = { .event = event };
	int status = process_table_find(&rows->job->processes, event->block->trace,
					event_value(event, rule->pid), event->start, &row.process);

	if (!status)
		status = chrome_thread_find(rows->threads, row.process,
					    event_value(event, rule->tid), &row.thread);
	if (!status)
		status = count_bytes(rows, event, row.process);
	if (status || event->flags & EVENT_SECOND)
		return status;
	row_resolve(rows->resolver, event, &row.resolved);
	return rule->write(rows, &row);
}

static int draw_events(void *state, const struct event *events, size_t count)
{
	struct chrome_rows *rows = state;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		if (matters(rows, &events[i]))
			status = draw_event(rows, &events[i]);
	return status ? status : rows->threads->out->error;
}

/* --- spans --- */

static bool is_wanted(const struct chrome_rows *rows, uint32_t process)
{
	return rows->pid == FILTER_NONE || rows->pid == rows->job->processes.processes[process].pid;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct chrome_rows *rows = state;

	return chrome_spans_begin(rows->spans, slot, event, is_wanted(rows, event->process));
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct chrome_rows *rows = state;

	return chrome_spans_end(rows->spans, slot, event);
}

static int span_refused(void *state, const struct event *event)
{
	struct chrome_rows *rows = state;

	return is_wanted(rows, event->process) ? chrome_spans_refuse(rows->spans, event) : 0;
}

const struct walk_calls chrome_rows_calls = {
	.events = draw_events,
	.span_begun = span_begun,
	.span_ended = span_ended,
	.span_refused = span_refused,
};
