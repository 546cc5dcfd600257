/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes tables to SQLite: creates the schema, inserts in one transaction, and indexes at the end.
 */
#include "output/tables/export_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/base/export.h"
#include "output/tables/sqlite_rows.h"

struct database {
	sqlite3 *handle;
	struct trace_error *error;
	struct sqlite_rows *rows;
};

/* --- the schema --- */

/* Span ids arrive nearly in order, and many runs have none, so maintaining their indexes during
 * inserts is cheaper than rereading the table. All other indexes are built at the end. */
static const struct {
	const char *table; /* created together with this table; NULL: at the end */
	const char *sql;
} indexes[] = {
	{ NULL, "CREATE INDEX calls_by_file ON calls(file)" },
	{ NULL, "CREATE INDEX faults_by_file ON faults(file)" },
	{ "calls", "CREATE INDEX calls_by_span ON calls(span) WHERE span IS NOT NULL" },
	{ "faults", "CREATE INDEX faults_by_span ON faults(span) WHERE span IS NOT NULL" },
	{ NULL, "CREATE INDEX requests_by_number ON requests(request)" },
	{ NULL, "CREATE INDEX bios_by_request ON bios(request)" },
	{ NULL, "CREATE INDEX bios_by_file ON bios(file)" },
	{ NULL, "CREATE INDEX spans_by_name ON spans(name)" },
	{ NULL, "CREATE INDEX spans_by_parent ON spans(parent)" },
	{ NULL, "CREATE INDEX files_by_path ON files(path)" },
	{ NULL, "CREATE INDEX processes_by_pid ON processes(pid)" },
};
#define INDEXES (sizeof(indexes) / sizeof(indexes[0]))

/* SQLite keeps the comments with the table: .schema shows them. */
static void table_sql(struct sink *out, const struct relation *relation)
{
	static const char *const types[] = {
		[RELATION_UINT] = "INTEGER", [RELATION_INT] = "INTEGER", [RELATION_REAL] = "REAL",
		[RELATION_BOOL] = "INTEGER", [RELATION_TEXT] = "TEXT",	 [RELATION_JSON] = "TEXT",
	};
	static const char *const units[] = {
		[UNIT_NONE] = "",   [UNIT_COUNT] = "",	       [UNIT_BYTES] = "bytes: ",
		[UNIT_NS] = "ns: ", [UNIT_SHARE] = "0 to 1: ", [UNIT_PATH] = ""
	};

	sink_format(out, "CREATE TABLE %s ( -- %s\n", relation->name, relation->meaning);
	for (size_t i = 0; i < relation->column_count; i++) {
		const struct relation_column *column = &relation->columns[i];
		bool key = !strcmp(column->name, "id") && column->type == RELATION_UINT;

		sink_format(out, "  \"%s\" %s%s", column->name, types[column->type],
			    key ? " PRIMARY KEY" : "");
		if (column->refers)
			sink_format(out, " REFERENCES %s(id)", column->refers);
		sink_format(out, "%s -- %s%s%s\n", i + 1 < relation->column_count ? "," : "",
			    column->type == RELATION_JSON ? "JSON: " : "", units[column->unit],
			    column->meaning);
	}
	sink_text(out, ")");
}

static void view_sql(struct sink *out, const struct sqlite_view *view)
{
	sink_format(out, "CREATE VIEW %s AS -- %s\n", view->name, view->question);
	sink_text(out, view->select);
}

/* --- SQLite --- */

static int run(struct database *database, const char *sql)
{
	if (!sqlite3_exec(database->handle, sql, NULL, NULL, NULL))
		return 0;
	return sqlite_failed(database->handle, database->error);
}

/* Runs the SQL in a sink, and closes the sink. */
static int run_made(struct database *database, struct sink *sql)
{
	int status;

	sink_char(sql, '\0');
	status = sql->error ? sql->error : run(database, sql->buffer);
	sink_close(sql);
	return status;
}

static int begin(void *to, unsigned int number, const struct relation *relation)
{
	struct database *database = to;
	struct sink sql;
	int status;

	/* A report table that this trace cannot fill has no columns, which SQL does not allow. */
	if (!relation->column_count)
		return 0;
	sink_open_memory(&sql);
	table_sql(&sql, relation);
	status = run_made(database, &sql);
	for (size_t i = 0; i < INDEXES && !status; i++)
		if (indexes[i].table && !strcmp(indexes[i].table, relation->name))
			status = run(database, indexes[i].sql);
	return status ? status : sqlite_rows_begin(database->rows, number, relation);
}

static int row(void *to, unsigned int number, const struct cell *cells)
{
	struct database *database = to;

	return sqlite_rows_add(database->rows, number, cells, database->error);
}

static const struct relation_writer writer = { begin, row };

/* --- the file --- */

static int open_database(struct database *database, const char *path)
{
	char *own = NULL;
	int status;

	/* Names that begin with a colon are special to SQLite. */
	if (path[0] == ':' && asprintf(&own, "./%s", path) < 0)
		return -ENOMEM;
	/* Used by one thread at a time; memory statistics are not needed. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	status = sqlite3_open_v2(own ? own : path, &database->handle,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	free(own);
	if (status)
		return database->handle ? sqlite_failed(database->handle, database->error)
					: -ENOMEM;
	/* The file is deleted if it cannot be finished. */
	return run(database, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; "
			     "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; "
			     "PRAGMA cache_size=-4096; "
			     "PRAGMA application_id=1179404628; PRAGMA user_version=1; BEGIN");
}

static int finish(struct database *database)
{
	int status = sqlite_rows_finish(database->rows, database->error);

	/* SQLite sorts in chunks of the cache size: chunks that fit the CPU's cache are faster. */
	if (!status)
		status = run(database, "PRAGMA cache_size=-2048");

	for (size_t i = 0; i < INDEXES && !status; i++)
		if (!indexes[i].table)
			status = run(database, indexes[i].sql);
	for (const struct sqlite_view *view = sqlite_views; view->name && !status; view++) {
		struct sink sql;

		sink_open_memory(&sql);
		view_sql(&sql, view);
		status = run_made(database, &sql);
	}
	return status ? status : run(database, "COMMIT");
}

/* Returns -EIO for SQLite errors. */
static int write_database(const char *path, struct trace_reader *const *traces,
			  const char *const *names, size_t trace_count,
			  const struct relation_options *options, struct trace_error *error)
{
	struct database database = { .error = error };
	int status = open_database(&database, path);

	if (!status)
		status = sqlite_rows_open(&database.rows, database.handle);
	if (!status)
		status = relations_write(&writer, &database, traces, names, trace_count, options,
					 error);
	if (!status)
		status = finish(&database);
	sqlite_rows_close(database.rows);
	sqlite3_close(database.handle);
	return status;
}

/* --- schema description --- */

static int describe(void *to, unsigned int number, const struct relation *relation)
{
	table_sql(to, relation);
	sink_text(to, ";\n");
	return 0;
}

/* The schema, with the meaning of columns and views. */
static int describe_schema(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error)
{
	static const struct relation_writer describes = { describe, NULL };
	const struct relation_options options = { .no_rows = true };
	const char *name = "";
	int status = relations_write(&describes, out, &nothing, &name, 1, &options, error);

	for (size_t i = 0; i < INDEXES && !status; i++)
		sink_format(out, "%s;\n", indexes[i].sql);
	for (const struct sqlite_view *view = sqlite_views; view->name && !status; view++) {
		view_sql(out, view);
		sink_text(out, ";\n");
	}
	return status ? status : out->error;
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.file = write_database,
	.describe = describe_schema,
};
