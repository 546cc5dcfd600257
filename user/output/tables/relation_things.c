/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables of spans, files, processes and stacks. */
#include <sys/wait.h>

#include "analysis/shared/sites.h"
#include "base/number.h"
#include "output/base/args.h"
#include "output/base/json.h"
#include "output/tables/relation.h"

/* --- spans --- */

static const struct span *span_of(const struct relation_row *row)
{
	return &row->job->spans.slots[row->number];
}

static const struct process *process_of(const struct relation_row *row)
{
	return &row->job->processes.processes[row->process];
}

static struct trace_string span_string(const struct relation_row *row, uint64_t id)
{
	return trace_reader_string(row->job->traces[process_of(row)->trace].reader, id);
}

RELATION_GETTER(get_span_id, true, cell_uint, span_of(row)->serial)
RELATION_GETTER(get_span_parent, span_of(row)->parent != SPAN_NONE, cell_uint,
		span_of(row)->parent_serial)
RELATION_GETTER(get_span_pid, row->process != PROCESS_UNKNOWN, cell_uint, process_of(row)->pid)
RELATION_GETTER(get_span_tid, true, cell_uint, span_of(row)->thread)
RELATION_GETTER(get_span_name, true, relation_text, span_string(row, row->of->name))
RELATION_GETTER(get_span_category, true, relation_text, span_string(row, row->of->category))
RELATION_GETTER(get_span_time, true, cell_uint, number_sub(span_of(row)->begin_ns, row->base_ns))
RELATION_GETTER(get_span_dur, true, cell_uint,
		number_sub(span_of(row)->end_ns, span_of(row)->begin_ns))
RELATION_GETTER(get_span_unfinished, true, cell_bool, span_of(row)->unfinished)
RELATION_GETTER(get_epoch, row->of->epoch != TABLE_NO_INT, cell_int, row->of->epoch)
RELATION_GETTER(get_step, row->of->step != TABLE_NO_INT, cell_int, row->of->step)
RELATION_GETTER(get_span_flags, true, cell_uint, row->of->flags)
RELATION_GETTER(get_span_args, true, relation_text,
		args_json(row->made, span_string(row, row->of->args)))

static const struct relation_column spans[] = {
	{ "id", RELATION_UINT, UNIT_NONE, "span id, in order of start", .get = get_span_id },
	{ "time_ns", RELATION_UINT, UNIT_NS, "start time, since the start of the run",
	  .get = get_span_time },
	{ "dur_ns", RELATION_UINT, UNIT_NS, "duration", .get = get_span_dur },
	{ "pid", RELATION_UINT, UNIT_NONE, "process", .get = get_span_pid },
	{ "tid", RELATION_UINT, UNIT_NONE, "thread that began it", .get = get_span_tid },
	RELATION_PROCESS,
	{ "name", RELATION_TEXT, UNIT_NONE, "name", .get = get_span_name },
	{ "category", RELATION_TEXT, UNIT_NONE, "category", .get = get_span_category },
	{ "parent", RELATION_UINT, UNIT_NONE, "span that it began in", .refers = "spans",
	  .get = get_span_parent },
	{ "epoch", RELATION_INT, UNIT_NONE,
	  "from an argument of the span or an enclosing one; else spans of that name, "
	  "counted from 0 per rank",
	  .get = get_epoch },
	{ "step", RELATION_INT, UNIT_NONE, "step number, found in the same way", .get = get_step },
	{ "unfinished", RELATION_BOOL, UNIT_NONE,
	  "never ended: the program or the recording ended first", .get = get_span_unfinished },
	{ "flags", RELATION_UINT, UNIT_NONE, "TRACE_SPAN_* of flags.h", .get = get_span_flags },
	{ "args", RELATION_JSON, UNIT_NONE, "arguments, as an object", .get = get_span_args },
};
const struct relation_columns relation_spans = RELATION_COLUMNS(spans);

/* --- files --- */

static const struct file *file_of(const struct relation_row *row)
{
	return &row->job->files.files[row->number];
}

RELATION_GETTER(get_number, true, cell_uint, row->number)
RELATION_GETTER(get_file_path, true, relation_text, file_table_path(&row->job->files, row->number))
RELATION_GETTER(get_filesystem, true, relation_text,
		file_table_filesystem(&row->job->files, row->number))
RELATION_GETTER(get_file_host, row->number != FILE_UNKNOWN, relation_literal,
		row->job->traces[file_of(row)->trace].header->host)
RELATION_GETTER(get_file_dev, row->number != FILE_UNKNOWN, relation_literal,
		units_device(row->devices[0], file_of(row)->dev))

/* Members of a file, by column->number. */
enum {
	FILE_AT_INO,
	FILE_AT_GENERATION,
	FILE_AT_SIZE,
	FILE_AT_MODE,
	FILE_AT_READAHEAD, /* 0 means unknown, here and below */
	FILE_AT_INSTANCE,
};

static void get_file_number(struct relation_row *row, const struct relation_column *column,
			    struct cell *cell)
{
	const struct file *file = file_of(row);
	const uint64_t values[] = { file->ino,	file->generation,      file->size_bytes,
				    file->mode, file->readahead_bytes, file->instance };
	const uint64_t value = values[column->number];

	if (row->number != FILE_UNKNOWN && (column->number < FILE_AT_READAHEAD || value))
		cell_uint(cell, value);
}

RELATION_GETTER(get_deleted, row->number != FILE_UNKNOWN, cell_bool,
		(file_of(row)->flags & TRACE_FILE_DELETED))

static const struct relation_column files[] = {
	{ "id", RELATION_UINT, UNIT_NONE,
	  "id in other tables; 0 stands for all files that no row describes", .get = get_number },
	{ "path", RELATION_TEXT, UNIT_NONE, "last known path", .get = get_file_path },
	{ "host", RELATION_TEXT, UNIT_NONE, "host where it was seen", .get = get_file_host },
	{ "dev", RELATION_TEXT, UNIT_NONE, "device, major:minor", .get = get_file_dev },
	{ "instance", RELATION_UINT, UNIT_NONE,
	  "tells apart devices that used the same number one after another, if known",
	  .get = get_file_number, .number = FILE_AT_INSTANCE },
	{ "ino", RELATION_UINT, UNIT_NONE, "inode", .get = get_file_number, .number = FILE_AT_INO },
	{ "generation", RELATION_UINT, UNIT_NONE, "distinguishes files that had the same inode",
	  .get = get_file_number, .number = FILE_AT_GENERATION },
	{ "size_bytes", RELATION_UINT, UNIT_BYTES, "last known size", .get = get_file_number,
	  .number = FILE_AT_SIZE },
	{ "mode", RELATION_UINT, UNIT_NONE, "type and permission bits of st_mode",
	  .get = get_file_number, .number = FILE_AT_MODE },
	{ "deleted", RELATION_BOOL, UNIT_NONE, "had no name left", .get = get_deleted },
	{ "filesystem", RELATION_TEXT, UNIT_NONE, "filesystem type, if known",
	  .get = get_filesystem },
	{ "readahead_bytes", RELATION_UINT, UNIT_BYTES,
	  "maximum readahead of an open file, if known", .get = get_file_number,
	  .number = FILE_AT_READAHEAD },
};
const struct relation_columns relation_files = RELATION_COLUMNS(files);

/* --- processes --- */

static bool known(const struct relation_row *row)
{
	return row->number != PROCESS_UNKNOWN;
}

static const struct process *this_process(const struct relation_row *row)
{
	return &row->job->processes.processes[row->number];
}

RELATION_GETTER(get_pid, known(row), cell_uint, this_process(row)->pid)
RELATION_GETTER(get_ppid, known(row) && this_process(row)->ppid, cell_uint, this_process(row)->ppid)
RELATION_GETTER(get_parent, known(row) && this_process(row)->parent != PROCESS_NONE, cell_uint,
		this_process(row)->parent)
RELATION_GETTER(get_rank, known(row) && this_process(row)->rank >= 0, cell_int,
		this_process(row)->rank)
RELATION_GETTER(get_host, known(row), relation_literal,
		row->job->traces[this_process(row)->trace].header->host)
RELATION_GETTER(get_start, known(row), cell_uint,
		number_sub(this_process(row)->start_ns, row->base_ns))
RELATION_GETTER(get_end, known(row) && this_process(row)->ended, cell_uint,
		number_sub(this_process(row)->end_ns, row->base_ns))
RELATION_GETTER(get_exit_code,
		known(row) && this_process(row)->ended && WIFEXITED((int)this_process(row)->status),
		cell_int, WEXITSTATUS((int)this_process(row)->status))
RELATION_GETTER(get_signal,
		known(row) && this_process(row)->ended &&
			WIFSIGNALED((int)this_process(row)->status),
		cell_int, WTERMSIG((int)this_process(row)->status))

static struct trace_string string_of(const struct relation_row *row, uint64_t id)
{
	return trace_reader_string(row->job->traces[this_process(row)->trace].reader, id);
}

RELATION_GETTER(get_comm, known(row), relation_text, string_of(row, this_process(row)->comm))

static void get_command(struct relation_row *row, const struct relation_column *column,
			struct cell *cell)
{
	struct trace_string command;

	if (!known(row))
		return;
	command = string_of(row, this_process(row)->command);
	if (!command.length)
		return;
	row->made->used = 0;
	json_words(row->made, command.bytes, command.length);
	relation_text(cell, (struct trace_string) { row->made->buffer, row->made->used });
}

static const struct relation_column processes[] = {
	{ "id", RELATION_UINT, UNIT_NONE, "id in other tables; 0 stands for invalid pids",
	  .get = get_number },
	{ "pid", RELATION_UINT, UNIT_NONE, "process id", .get = get_pid },
	{ "ppid", RELATION_UINT, UNIT_NONE, "process id of the parent", .get = get_ppid },
	{ "parent", RELATION_UINT, UNIT_NONE, "parent, if traced", .refers = "processes",
	  .get = get_parent },
	{ "rank", RELATION_INT, UNIT_NONE, "own rank, or that of the nearest ancestor",
	  .get = get_rank },
	{ "host", RELATION_TEXT, UNIT_NONE, "host", .get = get_host },
	{ "comm", RELATION_TEXT, UNIT_NONE, "program name", .get = get_comm },
	{ "command", RELATION_JSON, UNIT_NONE, "command line, as a list", .get = get_command },
	{ "start_ns", RELATION_UINT, UNIT_NS, "start time, since the start of the run",
	  .get = get_start },
	{ "end_ns", RELATION_UINT, UNIT_NS, "end time, since the start of the run",
	  .get = get_end },
	{ "exit_code", RELATION_INT, UNIT_NONE, "exit status, unless a signal ended it",
	  .get = get_exit_code },
	{ "signal", RELATION_INT, UNIT_NONE, "signal that ended it", .get = get_signal },
};
const struct relation_columns relation_processes = RELATION_COLUMNS(processes);

/* --- stacks: a row's number is that of the stack, less 1 --- */

static const struct tree_stack *stack_of(const struct relation_row *row)
{
	return &row->stacks.stacks[row->number + 1];
}

RELATION_GETTER(get_stack_id, true, cell_uint, row->number + 1)
RELATION_GETTER(get_stack_caller, stack_of(row)->caller != STACK_NONE, cell_uint,
		stack_of(row)->caller)
RELATION_GETTER(get_stack_depth, true, cell_uint, stack_of(row)->depth)
RELATION_GETTER(get_stack_source, true, relation_text,
		stack_tree_source(&row->stacks, stack_of(row)->frame))

static void get_stack_line(struct relation_row *row, const struct relation_column *column,
			   struct cell *cell)
{
	const uint64_t line = row->stacks.frames[stack_of(row)->frame].line;

	if (line)
		cell_uint(cell, line);
}

RELATION_GETTER(get_stack_function, true, relation_text,
		stack_tree_function(&row->stacks, stack_of(row)->frame))

static enum frame_owner owner_at(const struct stack_tree *tree, uint32_t stack)
{
	const uint32_t frame = tree->stacks[stack].frame;

	return frame_owner(stack_tree_source(tree, frame), tree->frames[frame].line);
}

/* Returns the stack whose frame a report names: this one or the nearest caller that qualifies.
 * Returns STACK_NONE if the stack is cut and all its frames are of libraries: the application's may
 * be missing. Sets *inner to the innermost stack whose frame may be named. */
static uint32_t application_of(const struct relation_row *row, uint32_t *inner)
{
	const struct stack_tree *tree = &row->stacks;
	uint32_t best = row->number + 1;
	enum frame_owner owner = OWNER_SYSTEM;

	*inner = best;
	for (uint32_t at = best; at != STACK_NONE && owner < OWNER_APPLICATION;
	     at = tree->stacks[at].caller) {
		const enum frame_owner of = owner_at(tree, at);

		if (of <= owner)
			continue;
		if (owner == OWNER_SYSTEM)
			*inner = at;
		owner = of;
		best = at;
	}
	if (owner <= OWNER_LIBRARY && stack_of(row)->depth >= STACK_DEPTH_MAX)
		return STACK_NONE;
	return best;
}

static void get_application(struct relation_row *row, const struct relation_column *column,
			    struct cell *cell)
{
	uint32_t inner;
	const uint32_t application = application_of(row, &inner);

	if (application != STACK_NONE)
		cell_uint(cell, application);
}

static void get_library(struct relation_row *row, const struct relation_column *column,
			struct cell *cell)
{
	const struct stack_tree *tree = &row->stacks;
	char text[LIBRARY_BYTES];
	uint32_t inner, frame;

	if (application_of(row, &inner) == inner)
		return;
	frame = tree->stacks[inner].frame;
	row->made->used = 0;
	sink_bytes(row->made, text,
		   frame_in_library(text, stack_tree_source(tree, frame), tree->frames[frame].line,
				    stack_tree_function(tree, frame)));
	relation_text(cell, (struct trace_string) { row->made->buffer, row->made->used });
}

static const struct relation_column stacks[] = {
	{ "id", RELATION_UINT, UNIT_NONE, "stack id", .get = get_stack_id },
	{ "caller", RELATION_UINT, UNIT_NONE,
	  "stack of the caller, with a lower id; null: this is the outermost frame",
	  .refers = "stacks", .get = get_stack_caller },
	{ "depth", RELATION_UINT, UNIT_COUNT, "number of its frames", .get = get_stack_depth },
	{ "source", RELATION_TEXT, UNIT_NONE,
	  "source file of the innermost frame, as the interpreter names it",
	  .get = get_stack_source },
	{ "line", RELATION_UINT, UNIT_NONE, "its line", .get = get_stack_line },
	{ "function", RELATION_TEXT, UNIT_NONE, "its function: qualified name",
	  .get = get_stack_function },
	{ "application", RELATION_UINT, UNIT_NONE,
	  "stack of the innermost frame that is the application's, as in the report's table "
	  "lines; if there is none, this one; null: that may be among outer frames that were not "
	  "recorded",
	  .refers = "stacks", .get = get_application },
	{ "library", RELATION_TEXT, UNIT_NONE,
	  "source and line of the innermost frame, without the directory of installation, if it "
	  "is not the application's",
	  .get = get_library },
};
const struct relation_columns relation_stacks = RELATION_COLUMNS(stacks);
