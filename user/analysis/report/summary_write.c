/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes tables as rows of a trace file. */
#include "analysis/report/summary.h"

#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "analysis/run/trace_table.h"
#include "trace/write/writer.h"

#define LEVEL 9 /* of zstd: summaries are small and written once */

_Static_assert(CELL_NULL == 0 && CELL_UINT == 1 && CELL_INT == 2 && CELL_REAL == 3 &&
		       CELL_BOOL == 4 && CELL_TEXT == 5 && CELL_TEXTS == 6 && CELL_TABLE == 7,
	       "columns.h identifies them by these numbers");
_Static_assert(UNIT_NONE == 0 && UNIT_COUNT == 1 && UNIT_BYTES == 2 && UNIT_NS == 3 &&
		       UNIT_SHARE == 4 && UNIT_PATH == 5,
	       "columns.h identifies them by these numbers");

_Static_assert(KIND_KEY == 1 && KIND_COVERED == 6 && KIND_MAX == 12 && KIND_LARGEST == 22 &&
		       KIND_TOTAL == 23 && TABLE_KINDS == 24,
	       "columns.h identifies them by these numbers");

struct summary_writer {
	struct trace_writer *writer;
	uint64_t time_ns; /* of all rows */
	uint64_t tables;  /* written so far */
};

/* Truncated texts end with an ellipsis. */
static uint32_t put_text(struct summary_writer *summary, const char *bytes, size_t length)
{
	static const char more[] = "\u2026";
	char cut[SUMMARY_TEXT_MAX];
	size_t head;

	if (length <= SUMMARY_TEXT_MAX)
		return trace_writer_string(summary->writer, bytes, length);
	head = utf8_cut(bytes, length, sizeof(cut) - strlen(more));
	memcpy(cut, bytes, head);
	memcpy(cut + head, more, strlen(more));
	return trace_writer_string(summary->writer, cut, head + strlen(more));
}

static uint32_t put_literal(struct summary_writer *summary, const char *text)
{
	return text ? put_text(summary, text, strlen(text)) : 0;
}

static int put_cell_row(struct summary_writer *summary, uint64_t *values)
{
	return trace_writer_append(summary->writer, TRACE_SUMMARY_CELL, 0, values);
}

static int put_texts(struct summary_writer *summary, const uint64_t *of, const struct cell *cell)
{
	size_t count = number_min(cell->length, SUMMARY_TEXTS_MAX);
	uint64_t values[SUMMARY_CELL_COLUMNS];
	int status = 0;

	memcpy(values, of, sizeof(values));
	values[SUMMARY_CELL_TYPE] = TRACE_CELL_ITEM;
	values[SUMMARY_CELL_VALUE] = 0;
	for (size_t i = 0; i < count && !status; i++) {
		values[SUMMARY_CELL_TEXT] =
			put_text(summary, cell->texts[i].text, cell->texts[i].length);
		status = put_cell_row(summary, values);
	}
	return status;
}

/* A nested table is written before the row that holds it; `within` is its number. */
static int put_cell(struct summary_writer *summary, uint64_t table, size_t row, size_t column,
		    const struct cell *cell, uint64_t within)
{
	uint64_t values[SUMMARY_CELL_COLUMNS] = {
		[SUMMARY_CELL_TIME] = summary->time_ns,
		[SUMMARY_CELL_TABLE] = table,
		[SUMMARY_CELL_ROW] = row,
		[SUMMARY_CELL_COLUMN] = column,
		[SUMMARY_CELL_TYPE] = cell->type,
		[SUMMARY_CELL_FLAGS] = (cell->at_least ? TRACE_CELL_AT_MIN : 0) |
				       (cell->summed ? TRACE_CELL_SUMMED : 0),
	};
	int status;

	switch (cell->type) {
	case CELL_NULL:
		if (!cell->summed)
			return 0;
		break;
	case CELL_TEXT:
		values[SUMMARY_CELL_TEXT] = put_text(summary, cell->text, cell->length);
		break;
	case CELL_TEXTS:
		values[SUMMARY_CELL_VALUE] = cell->length;
		break;
	case CELL_TABLE:
		values[SUMMARY_CELL_VALUE] = within;
		break;
	case CELL_BOOL:
		values[SUMMARY_CELL_VALUE] = cell->flag;
		break;
	default: /* the bits of any number */
		values[SUMMARY_CELL_VALUE] = cell->uint;
	}
	status = put_cell_row(summary, values);
	return status || cell->type != CELL_TEXTS ? status : put_texts(summary, values, cell);
}

/* Readers find a column's meaning by its name (report_take_meanings). */
static int put_columns(struct summary_writer *summary, uint64_t number, const struct table *table)
{
	int status = 0;

	for (size_t i = 0; i < table->column_count && !status; i++) {
		const struct table_column *column = &table->columns[i];
		const uint64_t values[SUMMARY_COLUMN_COLUMNS] = {
			[SUMMARY_COLUMN_TIME] = summary->time_ns,
			[SUMMARY_COLUMN_TABLE] = number,
			[SUMMARY_COLUMN_NAME] = put_literal(summary, column->name),
			[SUMMARY_COLUMN_TITLE] = put_literal(summary, column->title),
			[SUMMARY_COLUMN_UNIT] = column->unit,
			[SUMMARY_COLUMN_KIND] = column->kind,
		};

		status = trace_writer_append(summary->writer, TRACE_SUMMARY_COLUMN, 0, values);
	}
	return status;
}

static int put_percentiles(struct summary_writer *summary, uint64_t number,
			   const struct table *table)
{
	int status = 0;

	for (size_t i = 0; i < table->percentile_count; i++) {
		const struct table_percentile *noted = &table->percentiles[i];

		for (size_t j = 0; j < noted->of.class_count && !status; j++) {
			const uint64_t values[SUMMARY_CLASS_COLUMNS] = {
				[SUMMARY_CLASS_TIME] = summary->time_ns,
				[SUMMARY_CLASS_TABLE] = number,
				[SUMMARY_CLASS_ROW] = noted->row,
				[SUMMARY_CLASS_COLUMN] = noted->column,
				[SUMMARY_CLASS_PERCENT] = noted->percent,
				[SUMMARY_CLASS_MAX] = noted->of.max,
				[SUMMARY_CLASS_NUMBER] = noted->of.classes[j].number,
				[SUMMARY_CLASS_COUNT] = noted->of.classes[j].count,
			};

			status = trace_writer_append(summary->writer, TRACE_SUMMARY_CLASS, 0,
						     values);
		}
	}
	return status;
}

static int put_table(struct summary_writer *summary, const struct table *table);

/* Writes the tables in its cells first, in order, so that they have lower numbers. */
static int put_within(struct summary_writer *summary, const struct table *table, uint64_t *first)
{
	int status = 0;

	*first = summary->tables;
	for (size_t i = 0; i < table->row_count * table->column_count && !status; i++)
		if (table->cells[i].type == CELL_TABLE)
			status = put_table(summary, table->cells[i].table);
	return status;
}

/* Returns how many numbers a table takes, including nested ones. */
static uint64_t numbers_of(const struct table *table)
{
	uint64_t numbers = 1;

	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		if (table->cells[i].type == CELL_TABLE)
			numbers += numbers_of(table->cells[i].table);
	return numbers;
}

static int put_cells(struct summary_writer *summary, uint64_t number, const struct table *table,
		     uint64_t next)
{
	int status = 0;

	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count && !status; i++) {
			const struct cell *cell = &table_row(table, row)[i];

			if (cell->type == CELL_TABLE)
				next += numbers_of(cell->table);
			/* A table's own number is the last that it takes. */
			status = put_cell(summary, number, row, i, cell, next - 1);
		}
	return status;
}

static int put_table(struct summary_writer *summary, const struct table *table)
{
	uint64_t values[SUMMARY_TABLE_COLUMNS] = {
		[SUMMARY_TABLE_TIME] = summary->time_ns,
		[SUMMARY_TABLE_NAME] = put_literal(summary, table->name),
		[SUMMARY_TABLE_SHAPE] = table->shape == TABLE_LIST,
		[SUMMARY_TABLE_ABSENT] = table->absent,
		[SUMMARY_TABLE_NOTE] = put_literal(summary, table->note),
		[SUMMARY_TABLE_ROWS] = table->row_count,
		[SUMMARY_TABLE_FOLDED] = table->folded,
		[SUMMARY_TABLE_CUT] = table->cut,
	};
	uint64_t first;
	int status = put_within(summary, table, &first);

	values[SUMMARY_TABLE_NUMBER] = summary->tables++;
	if (!status)
		status = trace_writer_append(summary->writer, TRACE_SUMMARY_TABLE, 0, values);
	if (!status)
		status = put_columns(summary, values[SUMMARY_TABLE_NUMBER], table);
	if (!status)
		status = put_cells(summary, values[SUMMARY_TABLE_NUMBER], table, first);
	return status ? status : put_percentiles(summary, values[SUMMARY_TABLE_NUMBER], table);
}

/* Converts to the clock of the header. */
static void set_times(struct trace_totals *totals, const struct report *report)
{
	const struct trace_header *header = report->header;
	const struct clock_shift back =
		clock_shift_of(header->clock_realtime_ns, header->clock_monotonic_ns);
	const struct table *trace = report_by(report, &analysis_trace);

	totals->start_ns = clock_shifted(back, report->first_ns);
	totals->end_ns = clock_shifted(back, report->last_ns);
	totals->exit_code = -1;
	if (trace->row_count && trace->cells[ABOUT_EXIT].type == CELL_INT)
		totals->exit_code = trace->cells[ABOUT_EXIT].sint;
}

int summary_write(int fd, struct report *report, size_t rows)
{
	const struct trace_writer_options options = { .level = LEVEL };
	struct trace_header header = *report->header;
	struct trace_totals totals = { 0 };
	struct summary_writer summary = { 0 };
	int status = 0;

	for (size_t i = 0; i < report->table_count && !status; i++)
		status = report_fold(report, i, rows);
	if (status)
		return status;
	header.version = TRACE_VERSION;
	header.tool = FAULTLINE_VERSION;
	header.mode = SUMMARY_MODE;
	header.mounts = NULL;
	header.mount_count = 0;
	header.operations = NULL;
	header.operation_count = 0;
	set_times(&totals, report);
	summary.time_ns = totals.end_ns;
	status = trace_writer_open(&summary.writer, fd, &header, &options);
	for (size_t i = 0; i < report->table_count && !status; i++)
		status = put_table(&summary, report->tables[i]);
	if (!status)
		status = trace_writer_finish(summary.writer, &totals);
	trace_writer_close(summary.writer);
	return status;
}
