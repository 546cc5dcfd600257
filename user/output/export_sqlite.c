/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables into SQLite: one transaction, prepared statements, indexes at the end. Knows nothing of
 * what is in them.
 */
#include "output/export_sqlite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/escape.h"

struct database {
	sqlite3 *handle;
	struct trace_error *error;
	struct sink clean; /* a text that is not fit as it is */
	struct {
		const struct relation *relation;
		sqlite3_stmt *insert;
		bool bound[RELATION_COLUMNS_MOST]; /* to something else than NULL */
	} tables[RELATIONS_MOST];
};

/* --- the schema --- */

static const char *const indexes[] = {
	"CREATE INDEX calls_by_file ON calls(file)",
	"CREATE INDEX faults_by_file ON faults(file)",
	"CREATE INDEX calls_by_span ON calls(span) WHERE span IS NOT NULL",
	"CREATE INDEX faults_by_span ON faults(span) WHERE span IS NOT NULL",
	"CREATE INDEX requests_by_number ON requests(request)",
	"CREATE INDEX bios_by_request ON bios(request)",
	"CREATE INDEX bios_by_file ON bios(file)",
	"CREATE INDEX spans_by_name ON spans(name)",
	"CREATE INDEX spans_by_parent ON spans(parent)",
	"CREATE INDEX files_by_path ON files(path)",
	"CREATE INDEX processes_by_pid ON processes(pid)",
	NULL,
};

/* Comments stay with the table: .schema shows them. */
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

static int failed(struct database *database)
{
	int code = sqlite3_errcode(database->handle);

	snprintf(database->error->text, sizeof(database->error->text),
		 "the database cannot be written: %s", sqlite3_errmsg(database->handle));
	return code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO;
}

static int run(struct database *database, const char *sql)
{
	return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) ? failed(database) : 0;
}

/* Runs what a sink holds. */
static int run_made(struct database *database, struct sink *sql)
{
	int status;

	sink_char(sql, '\0');
	status = sql->error ? sql->error : run(database, sql->buffer);
	sink_close(sql);
	return status;
}

static int prepare(struct database *database, unsigned int number)
{
	const struct relation *relation = database->tables[number].relation;
	struct sink sql;
	int status;

	sink_open_memory(&sql);
	sink_format(&sql, "INSERT INTO %s VALUES(", relation->name);
	for (size_t i = 0; i < relation->column_count; i++)
		sink_text(&sql, i ? ",?" : "?");
	sink_char(&sql, ')');
	sink_char(&sql, '\0');
	status = sql.error;
	if (!status &&
	    sqlite3_prepare_v3(database->handle, sql.buffer, -1, SQLITE_PREPARE_PERSISTENT,
			       &database->tables[number].insert, NULL))
		status = failed(database);
	sink_close(&sql);
	return status;
}

static int begin(void *to, unsigned int number, const struct relation *relation)
{
	struct database *database = to;
	struct sink sql;
	int status;

	database->tables[number].relation = relation;
	/* A table of the report that this trace cannot fill has no columns: SQL has no such. */
	if (!relation->column_count)
		return 0;
	sink_open_memory(&sql);
	table_sql(&sql, relation);
	status = run_made(database, &sql);
	return status ? status : prepare(database, number);
}

/* --- rows --- */

static bool is_plain(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] > 0)
		i++;
	return i == length;
}

/* Tools cut a text at a NUL, and refuse what is not UTF-8. */
static int bind_text(struct database *database, sqlite3_stmt *insert, int at,
		     const struct cell *cell)
{
	struct sink *clean = &database->clean;
	size_t from = 0;

	if (is_plain(cell->text, cell->length))
		return sqlite3_bind_text(insert, at, cell->text, cell->length, SQLITE_STATIC);
	clean->used = 0;
	for (size_t i = 0; i <= cell->length; i++) {
		if (i < cell->length && cell->text[i])
			continue;
		escape_to_utf8(clean, cell->text + from, i - from);
		if (i < cell->length)
			sink_text(clean, "\\x00");
		from = i + 1;
	}
	if (clean->error)
		return SQLITE_NOMEM;
	return sqlite3_bind_text(insert, at, clean->buffer ? clean->buffer : "", clean->used,
				 SQLITE_TRANSIENT);
}

static int bind(struct database *database, sqlite3_stmt *insert, int at, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_UINT:
		if (cell->uint > INT64_MAX)
			return sqlite3_bind_double(insert, at, cell->uint);
		return sqlite3_bind_int64(insert, at, cell->uint);
	case CELL_INT:
		return sqlite3_bind_int64(insert, at, cell->sint);
	case CELL_REAL:
		return sqlite3_bind_double(insert, at, cell->real);
	case CELL_BOOL:
		return sqlite3_bind_int(insert, at, cell->flag);
	case CELL_TEXT:
		return bind_text(database, insert, at, cell);
	default:
		return sqlite3_bind_null(insert, at);
	}
}

static int row(void *to, unsigned int number, const struct cell *cells)
{
	struct database *database = to;
	const struct relation *relation = database->tables[number].relation;
	sqlite3_stmt *insert = database->tables[number].insert;
	bool *bound = database->tables[number].bound;

	for (size_t i = 0; i < relation->column_count; i++) {
		bool null = cells[i].type == CELL_NULL;

		if (null && !bound[i])
			continue;
		bound[i] = !null;
		if (bind(database, insert, i + 1, &cells[i]))
			return failed(database);
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		return failed(database);
	sqlite3_reset(insert);
	return 0;
}

static const struct relation_writer writer = { begin, row };

/* --- the file --- */

static int open_database(struct database *database, const char *path)
{
	char *own = NULL;
	int status;

	/* A name with a colon in front means something to SQLite. */
	if (path[0] == ':' && asprintf(&own, "./%s", path) < 0)
		return -ENOMEM;
	/* One thread alone uses it, and nobody asks what memory it has. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	status = sqlite3_open_v2(own ? own : path, &database->handle,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	free(own);
	if (status)
		return database->handle ? failed(database) : -ENOMEM;
	/* The file is thrown away if it cannot be finished. */
	return run(database, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; "
			     "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; "
			     "PRAGMA cache_size=-4096; "
			     "PRAGMA application_id=1179404628; PRAGMA user_version=1; BEGIN");
}

static int finish(struct database *database)
{
	/* What is sorted at a time is as large as the cache: in that of the processor it is faster.
	 */
	int status = run(database, "PRAGMA cache_size=-2048");

	for (size_t i = 0; indexes[i] && !status; i++)
		status = run(database, indexes[i]);
	for (const struct sqlite_view *view = sqlite_views; view->name && !status; view++) {
		struct sink sql;

		sink_open_memory(&sql);
		view_sql(&sql, view);
		status = run_made(database, &sql);
	}
	return status ? status : run(database, "COMMIT");
}

int export_sqlite(const char *path, struct trace_reader *const *traces, const char *const *names,
		  size_t trace_count, const struct relation_options *options,
		  struct trace_error *error)
{
	struct database database = { .error = error };
	int status = open_database(&database, path);

	sink_open_memory(&database.clean);
	if (!status)
		status = relations_write(&writer, &database, traces, names, trace_count, options,
					 error);
	if (!status)
		status = finish(&database);
	for (size_t i = 0; i < RELATIONS_MOST; i++)
		sqlite3_finalize(database.tables[i].insert);
	sqlite3_close(database.handle);
	sink_close(&database.clean);
	return status;
}

/* --- what there is --- */

static int describe(void *to, unsigned int number, const struct relation *relation)
{
	table_sql(to, relation);
	sink_text(to, ";\n");
	return 0;
}

int export_sqlite_describe(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error)
{
	static const struct relation_writer describes = { describe, NULL };
	const struct relation_options options = { .no_rows = true };
	const char *name = "";
	int status = relations_write(&describes, out, &nothing, &name, 1, &options, error);

	for (size_t i = 0; indexes[i] && !status; i++)
		sink_format(out, "%s;\n", indexes[i]);
	for (const struct sqlite_view *view = sqlite_views; view->name && !status; view++) {
		view_sql(out, view);
		sink_text(out, ";\n");
	}
	return status ? status : out->error;
}
