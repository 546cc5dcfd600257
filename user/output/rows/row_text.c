/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes an event as a line for people. Columns with certain names have a format of their own;
 * others are shown as "name value".
 */
#include <inttypes.h>
#include <sys/wait.h>

#include "base/units.h"
#include "output/base/escape.h"
#include "output/base/flags.h"
#include "output/rows/row.h"

#define COLUMNS_MAX 64 /* of a kind: as many as a column mask has bits */

struct shown_text {
	const struct trace_reader *reader;
	enum trace_kind kind;
	const struct trace_column *column;
	uint64_t value;
};

typedef void show_function(struct sink *out, const struct shown_text *shown);

static void show_nothing(struct sink *out, const struct shown_text *shown)
{
}

static void show_result(struct sink *out, const struct shown_text *shown)
{
	int64_t result = shown->value;
	const char *name = result_is_error(shown->value) ? strerrorname_np(-result) : NULL;

	sink_text(out, " = ");
	if (name) {
		sink_char(out, '-');
		sink_text(out, name);
	} else {
		sink_int(out, result);
	}
}

static void show_flags(struct sink *out, const struct shown_text *shown)
{
	const char *between = " [", *name;

	for (unsigned int i = 0; i < 64; i++) {
		if (!(shown->value & 1ull << i))
			continue;
		sink_text(out, between);
		name = flags_name(shown->kind, i);
		if (name)
			sink_text(out, name);
		else
			sink_format(out, "bit %u", i);
		between = ", ";
	}
	if (shown->value)
		sink_char(out, ']');
}

static void show_bytes(struct sink *out, const struct shown_text *shown)
{
	char text[UNITS_TEXT];
	size_t length = strlen(shown->column->name);

	if (!shown->value)
		return;
	/* "fetched_bytes" reads "fetched 4.0 KiB" */
	if (length > 6 && !strcmp(shown->column->name + length - 6, "_bytes"))
		length -= 6;
	sink_char(out, ' ');
	sink_bytes(out, shown->column->name, length);
	sink_char(out, ' ');
	sink_text(out, units_bytes(text, shown->value));
}

static void show_offset(struct sink *out, const struct shown_text *shown)
{
	if (shown->column->type == TRACE_INT && (int64_t)shown->value < 0)
		return;
	sink_text(out, " offset ");
	sink_uint(out, shown->value);
}

static void show_device(struct sink *out, const struct shown_text *shown)
{
	char device[UNITS_TEXT];

	sink_format(out, " %s %s", shown->column->name, units_device(device, shown->value));
}

static void show_mode(struct sink *out, const struct shown_text *shown)
{
	sink_format(out, " mode %" PRIo64, shown->value);
}

/* The status as returned by wait(). */
static void show_status(struct sink *out, const struct shown_text *shown)
{
	int status = shown->value;

	if (WIFSIGNALED(status))
		sink_format(out, " signal %d", WTERMSIG(status));
	else if (shown->value)
		sink_format(out, " status %d", WEXITSTATUS(status));
}

static void show_quoted(struct sink *out, struct trace_string text)
{
	sink_text(out, " \"");
	escape_text(out, text.bytes, text.length);
	sink_char(out, '"');
}

/* Arguments one by one, each in quotes. */
static void show_command(struct sink *out, const struct shown_text *shown)
{
	struct trace_string text = trace_reader_string(shown->reader, shown->value);
	const char *at = text.bytes, *end = text.bytes + text.length;

	while (at < end) {
		size_t length = strnlen(at, end - at);

		show_quoted(out, (struct trace_string) { at, length });
		at += length + 1;
	}
}

/* "name value", unless the value is 0 or -1. */
static void show_named(struct sink *out, const struct shown_text *shown)
{
	if (shown->value == 0 || (shown->column->type == TRACE_INT && shown->value == UINT64_MAX))
		return;
	sink_char(out, ' ');
	sink_text(out, shown->column->name);
	if (shown->column->type == TRACE_STRING) {
		show_quoted(out, trace_reader_args(shown->reader, shown->value));
		return;
	}
	sink_char(out, ' ');
	if (shown->column->type == TRACE_INT)
		sink_int(out, shown->value);
	else
		sink_uint(out, shown->value);
}

/* Durations within the event: any other column in ns. */
static void show_duration(struct sink *out, const struct shown_text *shown)
{
	char text[UNITS_TEXT];

	if (!shown->value || (shown->column->type == TRACE_INT && (int64_t)shown->value < 0))
		return;
	sink_char(out, ' ');
	sink_text(out, shown->column->name);
	sink_char(out, ' ');
	sink_text(out, units_ns(text, shown->value));
}

/* Columns that are not shown as "name value", or are shown elsewhere. */
static const struct {
	const char *name;
	show_function *show;
} shows[] = {
	{ "dts", show_nothing }, /* at the start of the line, like pid and tid */
	{ "pid", show_nothing },
	{ "tid", show_nothing },
	{ "dur", show_nothing },   /* the line ends with it ... */
	{ "pause", show_nothing }, /* ... or with this */
	{ "op", show_nothing },	   /* the event's name */
	{ "file", show_nothing },  /* shown by their paths */
	{ "file2", show_nothing },
	{ "dir", show_nothing },
	{ "dir2", show_nothing },
	{ "path", show_nothing },
	{ "path2", show_nothing },
	{ "open_file", show_nothing }, /* a number for programs, which JSON has */
	{ "offset", show_offset },
	{ "result", show_result },
	{ "flags", show_flags },
	{ "fetched_bytes", show_bytes },
	{ "fault_fetched_bytes", show_bytes },
	{ "created_bytes", show_bytes },
	{ "dirtied_bytes", show_bytes },
	{ "size", show_bytes },
	{ "dev", show_device },
	{ "mode", show_mode },
	{ "code", show_status },
	{ "command", show_command },
	{ "bytes", show_bytes },
	{ "own_bytes", show_bytes },
	{ "part", show_device },
	{ "read_bytes", show_bytes },
	{ "write_bytes", show_bytes },
	{ "discard_bytes", show_bytes },
	{ "started_ns", show_named }, /* a time on the trace's clock */
};

/* Returns the function for a column, by its name or unit. Cached: comparing names is too slow for
 * each event. */
static show_function *function_of(enum trace_kind kind, unsigned int column)
{
	static show_function *known[TRACE_KIND_COUNT][COLUMNS_MAX];
	show_function **function = &known[kind][column];

	if (*function)
		return *function;
	*function = trace_schemas[kind].columns[column].unit == TRACE_UNIT_NS ? show_duration
									      : show_named;
	for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++)
		if (!strcmp(trace_schemas[kind].columns[column].name, shows[i].name))
			*function = shows[i].show;
	return *function;
}

/* Seconds with all nine decimals, so that lines sort as text. */
static void show_time(struct sink *out, uint64_t time, uint64_t start)
{
	uint64_t ns = time < start ? start - time : time - start;
	char digits[10];

	sink_repeat(out, ' ', ns < 10000000000 ? 3 : ns < 100000000000 ? 2 : ns < 1000000000000);
	sink_char(out, time < start ? '-' : ' ');
	sink_uint(out, ns / 1000000000);
	digits[0] = '.';
	ns %= 1000000000;
	for (int i = 9; i > 0; i--, ns /= 10)
		digits[i] = '0' + ns % 10;
	sink_bytes(out, digits, sizeof(digits));
}

static const uint64_t *value_of(const struct resolved_row *row, const char *name)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];

	for (unsigned int i = 0; i < schema->column_count; i++)
		if (!strcmp(schema->columns[i].name, name))
			return &row->values[i];
	return NULL;
}

void row_text(struct sink *out, uint64_t start_ns, const struct resolved_row *row)
{
	const struct trace_schema *schema = &trace_schemas[row->kind];
	const uint64_t *pid = value_of(row, "pid"), *tid = value_of(row, "tid");
	char text[UNITS_TEXT];

	show_time(out, row->values[TRACE_COL_TIME], start_ns);
	sink_char(out, ' ');
	if (pid)
		sink_uint(out, *pid);
	if (pid && tid)
		sink_char(out, '/');
	if (tid)
		sink_uint(out, *tid);
	if (!pid && !tid)
		sink_char(out, '-');
	sink_char(out, ' ');
	if (row->program.length) {
		sink_char(out, '(');
		escape_text(out, row->program.bytes, row->program.length);
		sink_text(out, ") ");
	}
	if (row->kind == TRACE_SAMPLE) /* of an operation that has a line of its own, or of none */
		sink_text(out, "sample of ");
	escape_text(out, row->name, strlen(row->name));
	if (row->path.length)
		show_quoted(out, row->path);
	if (row->path2.length)
		show_quoted(out, row->path2);
	for (unsigned int i = 0; i < schema->column_count; i++) {
		const struct shown_text shown = { row->reader, row->kind, &schema->columns[i],
						  row->values[i] };

		function_of(row->kind, i)(out, &shown);
	}
	if (schema->duration >= 0)
		sink_format(out, " <%s>", units_ns(text, row->values[schema->duration]));
	sink_char(out, '\n');
}
