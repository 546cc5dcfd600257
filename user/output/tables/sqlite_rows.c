/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Each table has two batches of rows; one is inserted while the other is filled. */
#include "output/tables/sqlite_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper_thread.h"
#include "output/base/escape.h"
#include "output/tables/relations.h"

/* Beginning and ending a statement costs SQLite about as much as one of its rows. */
#define ROWS_INSERTED 32 /* per statement */
#define ROWS_HELD 512	 /* per batch */

struct sqlite_batch {
	struct sqlite_table *table;
	struct cell *cells; /* row by row; `uint` of a text is its offset in `texts` */
	size_t count;	    /* rows */
	struct sink texts;  /* escaped for SQLite */
};

struct sqlite_table {
	char *name; /* a copy: the relation is gone when the last rows are inserted */
	size_t columns;
	struct sqlite_batch batches[2];
	bool filled;	      /* index of the batch that rows go to */
	sqlite3_stmt *insert; /* of ROWS_INSERTED rows, or NULL */
};

struct sqlite_rows {
	sqlite3 *database;
	struct sqlite_table tables[RELATIONS_MAX];
	struct helper_thread *helper_thread;
	struct sqlite_batch *due; /* batch to insert; taken by the inserting thread */
	int status;		  /* of the last insertion, until the next join */
	struct trace_error error;
};

int sqlite_failed(sqlite3 *database, struct trace_error *error)
{
	int code = sqlite3_errcode(database);

	snprintf(error->text, sizeof(error->text), "cannot write the database: %s",
		 sqlite3_errmsg(database));
	return code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO;
}

/* --- inserting --- */

static int prepare(struct sqlite_rows *rows, const struct sqlite_table *table, size_t count,
		   sqlite3_stmt **insert)
{
	struct sink sql;
	int status;

	sink_open_memory(&sql);
	sink_format(&sql, "INSERT INTO %s VALUES", table->name);
	for (size_t row = 0; row < count; row++) {
		for (size_t i = 0; i < table->columns; i++)
			sink_text(&sql, i ? ",?" : row ? ",(?" : "(?");
		sink_char(&sql, ')');
	}
	sink_char(&sql, '\0');
	status = sql.error;
	if (!status && sqlite3_prepare_v3(rows->database, sql.buffer, -1, SQLITE_PREPARE_PERSISTENT,
					  insert, NULL))
		status = sqlite_failed(rows->database, &rows->error);
	sink_close(&sql);
	return status;
}

static int bind(sqlite3_stmt *insert, int at, const struct cell *cell, const char *texts)
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
		return sqlite3_bind_text(insert, at, texts + cell->uint, cell->length,
					 SQLITE_STATIC);
	default:
		return sqlite3_bind_null(insert, at);
	}
}

static bool is_same(const struct cell *a, const struct cell *b, const char *texts)
{
	if (a->type != b->type)
		return false;
	if (a->type == CELL_TEXT)
		return a->length == b->length &&
		       !memcmp(texts + a->uint, texts + b->uint, a->length);
	return a->type == CELL_NULL || a->uint == b->uint;
}

/* `before`: the cells that the statement inserted last, from the same batch, or NULL. Most are
 * equal, and comparing is cheaper than binding. */
static int insert_some(struct sqlite_rows *rows, const struct sqlite_batch *batch,
		       const struct cell *cells, size_t count, const struct cell *before,
		       sqlite3_stmt *insert)
{
	const char *texts = batch->texts.buffer;

	for (size_t i = 0; i < count; i++) {
		if (before && is_same(&cells[i], &before[i], texts))
			continue;
		if (bind(insert, i + 1, &cells[i], texts))
			return sqlite_failed(rows->database, &rows->error);
	}
	if (sqlite3_step(insert) != SQLITE_DONE)
		return sqlite_failed(rows->database, &rows->error);
	sqlite3_reset(insert);
	return 0;
}

static int insert_batch(struct sqlite_rows *rows, struct sqlite_batch *batch)
{
	struct sqlite_table *table = batch->table;
	size_t columns = table->columns, many = ROWS_INSERTED * columns;
	size_t left = batch->count * columns;
	const struct cell *cells = batch->cells, *before = NULL;
	sqlite3_stmt *rest = NULL;
	int status = 0;

	if (left >= many && !table->insert)
		status = prepare(rows, table, ROWS_INSERTED, &table->insert);
	for (; !status && left >= many; left -= many, before = cells, cells += many)
		status = insert_some(rows, batch, cells, many, before, table->insert);
	if (!status && left) {
		status = prepare(rows, table, left / columns, &rest);
		if (!status)
			status = insert_some(rows, batch, cells, left, NULL, rest);
		sqlite3_finalize(rest);
	}
	batch->count = 0;
	batch->texts.used = 0;
	return status;
}

static void insert_due(void *context)
{
	struct sqlite_rows *rows = context;
	struct sqlite_batch *batch = __atomic_exchange_n(&rows->due, NULL, __ATOMIC_ACQ_REL);

	if (batch)
		rows->status = insert_batch(rows, batch);
}

static int join(struct sqlite_rows *rows, struct trace_error *error)
{
	helper_thread_join(rows->helper_thread);
	if (rows->status)
		*error = rows->error;
	return rows->status;
}

/* Starts inserting a batch. The one before has been inserted by then, so the table's other batch is
 * free. */
static int hand_on(struct sqlite_rows *rows, struct sqlite_table *table, struct trace_error *error)
{
	int status = join(rows, error);

	if (status)
		return status;
	__atomic_store_n(&rows->due, &table->batches[table->filled], __ATOMIC_RELEASE);
	table->filled = !table->filled;
	helper_thread_start(rows->helper_thread);
	return 0;
}

/* --- collecting --- */

static bool is_plain(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] > 0)
		i++;
	return i == length;
}

/* Tools truncate texts at a NUL, and reject bytes that are not UTF-8. */
static void hold_text(struct sink *texts, struct cell *cell)
{
	const char *text = cell->text;
	size_t at = texts->used, from = 0;

	if (is_plain(text, cell->length)) {
		sink_bytes(texts, text, cell->length);
	} else {
		for (size_t i = 0; i <= cell->length; i++) {
			if (i < cell->length && text[i])
				continue;
			escape_to_utf8(texts, text + from, i - from);
			if (i < cell->length)
				sink_text(texts, "\\x00");
			from = i + 1;
		}
	}
	cell->uint = at;
	cell->length = texts->used - at;
}

int sqlite_rows_add(struct sqlite_rows *rows, unsigned int number, const struct cell *cells,
		    struct trace_error *error)
{
	struct sqlite_table *table = &rows->tables[number];
	struct sqlite_batch *batch = &table->batches[table->filled];
	size_t columns = table->columns;
	struct cell *held = &batch->cells[batch->count * columns];

	memcpy(held, cells, columns * sizeof(*cells));
	for (size_t i = 0; i < columns; i++)
		if (held[i].type == CELL_TEXT)
			hold_text(&batch->texts, &held[i]);
	if (batch->texts.error)
		return batch->texts.error;
	return ++batch->count < ROWS_HELD ? 0 : hand_on(rows, table, error);
}

/* --- interface --- */

int sqlite_rows_open(struct sqlite_rows **result, sqlite3 *database)
{
	struct sqlite_rows *rows = calloc(1, sizeof(*rows));

	*result = rows;
	if (!rows)
		return -ENOMEM;
	rows->database = database;
	return helper_thread_open(&rows->helper_thread, insert_due, rows);
}

int sqlite_rows_begin(struct sqlite_rows *rows, unsigned int number,
		      const struct relation *relation)
{
	struct sqlite_table *table = &rows->tables[number];

	table->name = strdup(relation->name);
	table->columns = relation->column_count;
	if (!table->name)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		struct sqlite_batch *batch = &table->batches[i];

		batch->table = table;
		sink_open_memory(&batch->texts);
		batch->cells = calloc(ROWS_HELD * relation->column_count, sizeof(*batch->cells));
		if (!batch->cells)
			return -ENOMEM;
	}
	return 0;
}

int sqlite_rows_finish(struct sqlite_rows *rows, struct trace_error *error)
{
	int status = 0;

	for (size_t i = 0; i < RELATIONS_MAX && !status; i++)
		if (rows->tables[i].name)
			status = hand_on(rows, &rows->tables[i], error);
	return status ? status : join(rows, error);
}

void sqlite_rows_close(struct sqlite_rows *rows)
{
	if (!rows)
		return;
	helper_thread_close(rows->helper_thread);
	for (size_t i = 0; i < RELATIONS_MAX; i++) {
		struct sqlite_table *table = &rows->tables[i];

		for (int half = 0; half < 2; half++) {
			if (table->batches[half].table)
				sink_close(&table->batches[half].texts);
			free(table->batches[half].cells);
		}
		sqlite3_finalize(table->insert);
		free(table->name);
	}
	free(rows);
}
