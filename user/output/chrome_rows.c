/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each kind of row looks like on a timeline. Knows nothing of where rows come from.
 */
#include "output/chrome_rows.h"

#include <string.h>
#include <sys/wait.h>

#include "analysis/event.h"
#include "output/args.h"
#include "output/json.h"

/* A row on its way. */
struct row {
	enum trace_kind kind;
	const uint64_t *values;
	uint64_t start_ns, end_ns; /* on the job's clock */
	uint32_t process, thread;
};

struct row_rule {
	int (*write)(struct chrome_rows *rows, const struct row *row);
	uint8_t pid, tid; /* columns */
	bool lasts;	  /* what began before the window may matter in it */
	bool always;	  /* ... does so however long ago it was */
};

static struct trace_reader *reader_of(const struct chrome_rows *rows)
{
	return rows->job->traces[rows->trace].reader;
}

/* --- calls and faults --- */

/* Bytes read and written through a file, as the report counts them: a transfer does both, but where
 * one end is none of the files that are recorded. */
static int count_bytes(struct chrome_rows *rows, const struct row *row, enum trace_family family)
{
	uint64_t result = row->values[SYSCALL_RESULT];
	bool transfer = family == TRACE_TRANSFER && row->kind == TRACE_SYSCALL_PATH &&
			row->values[SYSCALL_PATH_FILE2];
	bool writes = family == TRACE_WRITE || transfer;
	bool reads = family == TRACE_READ ||
		     (family == TRACE_TRANSFER && (!transfer || row->values[SYSCALL_FILE]));
	int status = 0;

	if (result_is_error(result))
		return 0;
	if (reads)
		status = chrome_counters_add(rows->counters, row->process, COUNTER_READ, result,
					     row->start_ns, row->end_ns);
	if (writes && !status)
		status = chrome_counters_add(rows->counters, row->process, COUNTER_WRITTEN, result,
					     row->start_ns, row->end_ns);
	return status;
}

static int count_cached(struct chrome_rows *rows, const struct row *row, uint64_t fetched,
			uint64_t created)
{
	int status = chrome_counters_add(rows->counters, row->process, COUNTER_FETCHED, fetched,
					 row->start_ns, row->end_ns);

	if (!status)
		status = chrome_counters_add(rows->counters, row->process, COUNTER_CREATED, created,
					     row->start_ns, row->end_ns);
	return status;
}

/* Finds the slice's place; NULL when it is not drawn. */
static struct sink *place_slice(struct chrome_rows *rows, const struct row *row,
				struct chrome_slice *slice)
{
	if (!chrome_slice_cut(slice, rows->window, row->start_ns, row->end_ns) ||
	    row->end_ns - row->start_ns < rows->min_duration_ns)
		return NULL;
	slice->place = chrome_place_of(rows->threads, row->thread);
	return chrome_spans_place(rows->spans, row->thread, slice);
}

static void add_path(struct chrome_args *args, const char *name, struct trace_string path)
{
	if (path.length)
		chrome_add_text(args, name, path);
}

/* What is usually 0 is left out then. */
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

static int write_call(struct chrome_rows *rows, const struct row *row)
{
	const struct trace_header *header = rows->job->traces[rows->trace].header;
	const uint64_t *values = row->values;
	enum trace_family family = header->operations[values[SYSCALL_OP]].family;
	struct chrome_slice slice = { .category = chrome_text(trace_family_names[family]) };
	struct resolved_row resolved;
	struct chrome_args args;
	struct sink *out;
	int status = count_bytes(rows, row, family);

	if (!status)
		status = count_cached(rows, row, values[SYSCALL_FETCHED], values[SYSCALL_CREATED]);
	if (status)
		return status;
	out = place_slice(rows, row, &slice);
	if (!out)
		return 0;
	row_resolve(rows->resolver, row->kind, values, &resolved);
	slice.name = chrome_text(resolved.name);
	args = chrome_slice_begin(out, &slice);
	add_path(&args, "file", resolved.path);
	add_path(&args, "file2", resolved.path2);
	if ((int64_t)values[SYSCALL_OFFSET] >= 0)
		chrome_add_uint(&args, "offset", values[SYSCALL_OFFSET]);
	add_unless_zero(&args, "asked", values[SYSCALL_ASKED]);
	add_result(&args, family, values[SYSCALL_RESULT]);
	chrome_add_uint(&args, "fetched_bytes", values[SYSCALL_FETCHED]);
	add_unless_zero(&args, "created_bytes", values[SYSCALL_CREATED]);
	add_unless_zero(&args, "fault_fetched_bytes", values[SYSCALL_FAULT_FETCHED]);
	add_unless_zero(&args, "major", values[SYSCALL_MAJOR]);
	chrome_add_flags(&args, row->kind, values[SYSCALL_FLAGS]);
	chrome_slice_end(&args, &slice);
	return 0;
}

static int write_fault(struct chrome_rows *rows, const struct row *row)
{
	struct chrome_slice slice = { .category =
					      chrome_text(trace_family_names[TRACE_FILEFAULT]) };
	const uint64_t *values = row->values;
	struct resolved_row resolved;
	struct chrome_args args;
	struct sink *out;
	int status = count_cached(rows, row, values[FAULT_FETCHED], 0);

	if (status)
		return status;
	out = place_slice(rows, row, &slice);
	if (!out)
		return 0;
	row_resolve(rows->resolver, row->kind, values, &resolved);
	slice.name = chrome_text(resolved.name);
	args = chrome_slice_begin(out, &slice);
	add_path(&args, "file", resolved.path);
	chrome_add_uint(&args, "offset", values[FAULT_OFFSET]);
	chrome_add_uint(&args, "fetched_bytes", values[FAULT_FETCHED]);
	chrome_add_flags(&args, row->kind, values[FAULT_FLAGS]);
	chrome_slice_end(&args, &slice);
	return 0;
}

/* --- moments --- */

/* `scope` is "t" for what is of the thread, "p" for what is of the process. */
static struct chrome_args begin_moment(struct chrome_rows *rows, const struct row *row,
				       struct trace_string name, struct trace_string category,
				       const char *scope)
{
	struct chrome_place place = chrome_place_of(rows->threads, row->thread);
	struct sink *out = rows->threads->out;

	sink_text(out, ",\n");
	chrome_open(out, name, category, 'i', place);
	chrome_time(out, "ts", row->start_ns - rows->window->base_ns);
	sink_text(out, ",\"s\":\"");
	sink_text(out, scope);
	sink_char(out, '"');
	return chrome_args_begin(out);
}

/* The same for a row that has no name of its own. */
static struct chrome_args begin_plain(struct chrome_rows *rows, const struct row *row,
				      const char *scope)
{
	return begin_moment(rows, row, chrome_text(trace_schemas[row->kind].kind),
			    chrome_text(trace_schemas[row->kind].layer), scope);
}

static void end_moment(struct chrome_args *args)
{
	chrome_args_end(args);
	sink_char(args->out, '}');
}

static bool in_window(const struct chrome_rows *rows, const struct row *row)
{
	return row->start_ns >= rows->window->from_ns && row->start_ns < rows->window->until_ns;
}

static int write_pagecache(struct chrome_rows *rows, const struct row *row)
{
	struct resolved_row resolved;
	struct chrome_args args;

	row_resolve(rows->resolver, row->kind, row->values, &resolved);
	args = begin_plain(rows, row, "t");
	add_path(&args, "file", resolved.path);
	chrome_add_uint(&args, "offset", row->values[PAGECACHE_OFFSET]);
	chrome_add_uint(&args, "fetched_bytes", row->values[PAGECACHE_BYTES]);
	add_unless_zero(&args, "created_bytes", row->values[PAGECACHE_CREATED]);
	end_moment(&args);
	return count_cached(rows, row, row->values[PAGECACHE_BYTES],
			    row->values[PAGECACHE_CREATED]);
}

static int write_fork(struct chrome_rows *rows, const struct row *row)
{
	struct chrome_args args = begin_plain(rows, row, "t");

	chrome_add_uint(&args, "child_pid", row->values[FORK_CHILD_PID]);
	chrome_add_uint(&args, "child_tid", row->values[FORK_CHILD_TID]);
	end_moment(&args);
	return 0;
}

/* Arguments one by one. */
static void add_command(struct chrome_args *args, struct trace_string command)
{
	const char *at = command.bytes, *end = command.bytes + command.length;

	sink_text(args->out, args->any ? ",\"command\":[" : "\"command\":[");
	args->any = true;
	while (at < end) {
		size_t length = strnlen(at, end - at);

		if (at > command.bytes)
			sink_char(args->out, ',');
		json_text(args->out, at, length);
		at += length + 1;
	}
	sink_char(args->out, ']');
}

/* Another program runs from now on: what the one before it began, it cannot end. */
static int write_exec(struct chrome_rows *rows, const struct row *row)
{
	struct trace_reader *reader = reader_of(rows);
	const uint64_t *values = row->values;
	struct chrome_args args;

	chrome_spans_end_process(rows->spans, row->process, row->start_ns);
	if (!in_window(rows, row))
		return 0;
	args = begin_plain(rows, row, "p");
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

static int write_exit(struct chrome_rows *rows, const struct row *row)
{
	const uint64_t *values = row->values;
	bool process = values[EXIT_PROCESS];
	int code = values[EXIT_CODE];
	struct chrome_args args;

	if (process)
		chrome_spans_end_process(rows->spans, row->process, row->start_ns);
	if (!in_window(rows, row))
		return 0;
	args = begin_plain(rows, row, process ? "p" : "t");
	chrome_add_text(&args, "comm", trace_reader_string(reader_of(rows), values[EXIT_COMM]));
	if (process && WIFSIGNALED(code))
		chrome_add_uint(&args, "signal", WTERMSIG(code));
	else if (process)
		chrome_add_uint(&args, "status", WEXITSTATUS(code));
	chrome_add_uint(&args, "major", values[EXIT_MAJOR]);
	chrome_add_uint(&args, "minor", values[EXIT_MINOR]);
	end_moment(&args);
	return 0;
}

/* --- what the application says --- */

static int write_span_begin(struct chrome_rows *rows, const struct row *row)
{
	const struct chrome_span_begin begin = {
		.time_ns = row->start_ns,
		.id = row->values[SPAN_BEGIN_ID],
		.name = row->values[SPAN_BEGIN_NAME],
		.category = row->values[SPAN_BEGIN_CATEGORY],
		.args = row->values[SPAN_BEGIN_ARGS],
		.flags = row->values[SPAN_BEGIN_FLAGS],
		.trace = rows->trace,
		.thread = row->thread,
	};

	return chrome_spans_begin(rows->spans, &begin);
}

static int write_span_end(struct chrome_rows *rows, const struct row *row)
{
	return chrome_spans_end(rows->spans, row->thread, row->values[SPAN_END_ID], row->start_ns);
}

static int write_instant(struct chrome_rows *rows, const struct row *row)
{
	static const char *const taken[] = { "flags", NULL };
	struct trace_reader *reader = reader_of(rows);
	const uint64_t *values = row->values;
	struct trace_string category = trace_reader_string(reader, values[INSTANT_CATEGORY]);
	struct chrome_args args;

	if (!category.length)
		category = chrome_text("instant");
	args = begin_moment(rows, row, trace_reader_string(reader, values[INSTANT_NAME]), category,
			    "t");
	args_json_members(args.out, trace_reader_string(reader, values[INSTANT_ARGS]), taken,
			  &args.any);
	chrome_add_flags(&args, row->kind, values[INSTANT_FLAGS]);
	end_moment(&args);
	return 0;
}

/* --- rows --- */

static const struct row_rule rules[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = { write_call, SYSCALL_PID, SYSCALL_TID, true, false },
	[TRACE_SYSCALL_PATH] = { write_call, SYSCALL_PID, SYSCALL_TID, true, false },
	[TRACE_FAULT] = { write_fault, FAULT_PID, FAULT_TID, true, false },
	[TRACE_PAGECACHE] = { write_pagecache, PAGECACHE_PID, PAGECACHE_TID, false, false },
	[TRACE_FORK] = { write_fork, FORK_PID, FORK_TID, false, false },
	[TRACE_EXEC] = { write_exec, EXEC_PID, EXEC_TID, true, true },
	[TRACE_EXIT] = { write_exit, EXIT_PID, EXIT_TID, true, true },
	[TRACE_SPAN_BEGIN] = { write_span_begin, SPAN_BEGIN_PID, SPAN_BEGIN_TID, true, true },
	[TRACE_SPAN_END] = { write_span_end, SPAN_END_PID, SPAN_END_TID, true, true },
	[TRACE_INSTANT] = { write_instant, INSTANT_PID, INSTANT_TID, false, false },
};

uint64_t chrome_row_kinds(void)
{
	uint64_t kinds = 0;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		kinds |= rules[i].write ? 1ull << i : 0;
	return kinds;
}

uint64_t chrome_row_pid(enum trace_kind kind, const uint64_t *values)
{
	return values[rules[kind].pid];
}

uint64_t chrome_row_tid(enum trace_kind kind, const uint64_t *values)
{
	return values[rules[kind].tid];
}

static void find_times(const struct chrome_rows *rows, struct row *row)
{
	int duration = trace_schemas[row->kind].duration;

	row->start_ns =
		clock_shifted(rows->job->traces[rows->trace].clock, row->values[TRACE_COL_TIME]);
	row->end_ns = row->start_ns;
	if (duration >= 0)
		row->end_ns = clock_add(row->start_ns, row->values[duration]);
}

bool chrome_row_matters(const struct chrome_rows *rows, enum trace_kind kind,
			const uint64_t *values)
{
	const struct row_rule *rule = &rules[kind];
	struct row row = { .kind = kind, .values = values };

	find_times(rows, &row);
	return rule->always || in_window(rows, &row) ||
	       (rule->lasts && row.start_ns < rows->window->from_ns &&
		row.end_ns > rows->window->from_ns);
}

int chrome_row(struct chrome_rows *rows, enum trace_kind kind, const uint64_t *values)
{
	struct row row = { .kind = kind, .values = values };
	int status;

	find_times(rows, &row);
	status = process_table_find(&rows->job->processes, rows->trace,
				    chrome_row_pid(kind, values), row.start_ns, &row.process);
	if (!status)
		status = chrome_thread_find(rows->threads, row.process,
					    chrome_row_tid(kind, values), &row.thread);
	return status ? status : rules[kind].write(rows, &row);
}
