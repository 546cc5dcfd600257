/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Inserts rows into SQLite: collects them by table, and inserts many at a time while collecting
 * more.
 */
#pragma once

#include <sqlite3.h>

#include "output/tables/relation.h"

struct sqlite_rows;

/* Functions return 0, -ENOMEM, -ENOSPC or -EIO; `error`, if any, describes it. From the first row
 * until sqlite_rows_finish or sqlite_rows_close, nothing else may use the database. */

/* Describes the database's last error, and returns it as a negative errno. */
int sqlite_failed(sqlite3 *database, struct trace_error *error);

int sqlite_rows_open(struct sqlite_rows **rows, sqlite3 *database);
void sqlite_rows_close(struct sqlite_rows *rows); /* accepts NULL */

/* Must be called for each table that has rows, with its number, less than RELATIONS_MAX. The
 * relation may be freed afterwards. */
int sqlite_rows_begin(struct sqlite_rows *rows, unsigned int number,
		      const struct relation *relation);
/* Adds a row to an existing table. An error may belong to an earlier row. */
int sqlite_rows_add(struct sqlite_rows *rows, unsigned int number, const struct cell *cells,
		    struct trace_error *error);
/* Inserts what remains. */
int sqlite_rows_finish(struct sqlite_rows *rows, struct trace_error *error);
