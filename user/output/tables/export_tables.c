/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports tables as text files. */
#include "output/tables/export_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "output/base/export.h"
#include "output/base/json_tables.h"
#include "output/tables/csv.h"

/* --- comma-separated values --- */

static void csv_head(struct sink *out, const struct relation *relation)
{
	for (size_t i = 0; i < relation->column_count; i++) {
		if (i)
			sink_char(out, ',');
		csv_text(out, relation->columns[i].name, strlen(relation->columns[i].name));
	}
	if (relation->column_count) /* an empty line would be a row */
		sink_text(out, "\r\n");
}

static void csv_row(struct sink *out, const struct relation *relation, const struct cell *cells)
{
	for (size_t i = 0; i < relation->column_count; i++) {
		if (i)
			sink_char(out, ',');
		csv_cell(out, &cells[i]);
	}
	sink_text(out, "\r\n");
}

static const struct table_format csv = { ".csv", csv_head, csv_row };

/* --- JSON lines --- */

static void jsonl_row(struct sink *out, const struct relation *relation, const struct cell *cells)
{
	struct json json = { .out = out, .style = JSON_SPACED };

	json_begin(&json, NULL);
	for (size_t i = 0; i < relation->column_count; i++) {
		const struct relation_column *column = &relation->columns[i];

		if (column->type == RELATION_JSON && cells[i].type == CELL_TEXT)
			json_raw(&json, column->name, cells[i].text, cells[i].length);
		else
			json_add_cell(&json, column->name, &cells[i]);
	}
	json_end(&json);
	sink_char(out, '\n');
}

static void jsonl_head(struct sink *out, const struct relation *relation)
{
}

static const struct table_format jsonl = { ".jsonl", jsonl_head, jsonl_row };

/* --- files --- */

struct table_file {
	const struct relation *relation;
	char name[64];
	int fd; /* valid only if `made` */
	bool made;
	struct sink own, *out;
};

struct tables {
	const struct table_format *format;
	int directory; /* -1: everything goes to `one` */
	bool replace;
	struct sink *one;
	struct trace_error *error;
	struct table_file files[RELATIONS_MAX];
};

static int make_file(struct tables *tables, struct table_file *file)
{
	int status;

	snprintf(file->name, sizeof(file->name), "%s%s", file->relation->name,
		 tables->format->suffix);
	if (tables->replace)
		unlinkat(tables->directory, file->name, 0);
	file->fd = openat(tables->directory, file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  0600);
	status = file->fd < 0 ? -errno : 0;
	file->made = !status;
	if (status == -EEXIST)
		snprintf(tables->error->text, sizeof(tables->error->text), "%s exists", file->name);
	else if (status)
		snprintf(tables->error->text, sizeof(tables->error->text), "cannot write %s: %s",
			 file->name, strerror(-status));
	file->out = &file->own;
	return status ? status : sink_open(&file->own, file->fd);
}

static int begin(void *to, unsigned int number, const struct relation *relation)
{
	struct tables *tables = to;
	struct table_file *file = &tables->files[number];
	int status = 0;

	file->relation = relation;
	file->out = tables->one;
	if (!tables->one)
		status = make_file(tables, file);
	if (!status)
		tables->format->head(file->out, relation);
	return status;
}

static int row(void *to, unsigned int number, const struct cell *cells)
{
	struct tables *tables = to;
	struct table_file *file = &tables->files[number];

	tables->format->row(file->out, file->relation, cells);
	return file->out->error;
}

static const struct relation_writer writer = { begin, row };

static int finish_file(struct tables *tables, struct table_file *file, int status)
{
	bool failed;
	int wrote;

	if (!file->made)
		return status;
	wrote = status ? file->own.error : sink_flush(&file->own);
	sink_close(&file->own);
	failed = close(file->fd);
	/* Some file systems report a full disk only on close. */
	if (!wrote && !status && failed)
		wrote = -errno;
	if (wrote)
		snprintf(tables->error->text, sizeof(tables->error->text), "cannot write %s: %s",
			 file->name, strerror(-wrote));
	return status ? status : wrote;
}

int export_tables_directory(const struct table_format *format, int directory, bool replace,
			    struct trace_reader *const *traces, const char *const *names,
			    size_t trace_count, const struct relation_options *options,
			    struct trace_error *error)
{
	struct tables tables = {
		.format = format, .directory = directory, .replace = replace, .error = error
	};
	int status = relations_write(&writer, &tables, traces, names, trace_count, options, error);

	for (size_t i = 0; i < RELATIONS_MAX; i++)
		status = finish_file(&tables, &tables.files[i], status);
	for (size_t i = 0; i < RELATIONS_MAX && status; i++)
		if (tables.files[i].made)
			unlinkat(directory, tables.files[i].name, 0);
	return status;
}

int export_tables_one(const struct table_format *format, struct sink *out,
		      struct trace_reader *const *traces, const char *const *names,
		      size_t trace_count, const struct relation_options *options,
		      struct trace_error *error)
{
	struct tables tables = { .format = format, .directory = -1, .one = out, .error = error };

	return relations_write(&writer, &tables, traces, names, trace_count, options, error);
}

/* --- description --- */

static int describe(void *to, unsigned int number, const struct relation *relation)
{
	static const char *const types[] = {
		[RELATION_UINT] = "uint", [RELATION_INT] = "int",   [RELATION_REAL] = "real",
		[RELATION_BOOL] = "bool", [RELATION_TEXT] = "text", [RELATION_JSON] = "json",
	};
	static const char *const units[] = {
		[UNIT_NONE] = "", [UNIT_COUNT] = "count", [UNIT_BYTES] = "bytes",
		[UNIT_NS] = "ns", [UNIT_SHARE] = "share", [UNIT_PATH] = ""
	};
	struct sink *out = to;

	sink_format(out, "%s%s: %s\n", number ? "\n" : "", relation->name, relation->meaning);
	for (size_t i = 0; i < relation->column_count; i++) {
		const struct relation_column *column = &relation->columns[i];

		sink_format(out, "  %-25s %-5s %-6s %s%s%s%s\n", column->name, types[column->type],
			    units[column->unit], column->meaning, column->refers ? " (" : "",
			    column->refers ? column->refers : "", column->refers ? ".id)" : "");
	}
	return out->error;
}

/* Tables and columns, with types and meaning. */
static int describe_tables(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error)
{
	static const struct relation_writer describes = { describe, NULL };
	const struct relation_options options = { .no_rows = true };
	const char *name = "";

	return relations_write(&describes, out, &nothing, &name, 1, &options, error);
}

const struct export_format export_csv = {
	.name = "csv",
	.tables = &csv,
	.describe = describe_tables,
};

const struct export_format export_jsonl = {
	.name = "jsonl",
	.tables = &jsonl,
	.describe = describe_tables,
};
