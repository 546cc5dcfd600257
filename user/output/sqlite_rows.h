/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows on their way into SQLite: gathered table by table, and inserted many at a time while more
 * are gathered. Knows nothing of what is in them.
 */
#ifndef FAULTLINE_SQLITE_ROWS_H
#define FAULTLINE_SQLITE_ROWS_H

#include <sqlite3.h>

#include "output/relation.h"

struct sqlite_rows;

/* Functions return 0, -ENOMEM, -ENOSPC or -EIO; where they take one, `error` says which. From the
 * first row until sqlite_rows_finish or sqlite_rows_close nobody else uses the database. */

/* Says what the database tells of its last error. */
int sqlite_failed(sqlite3 *database, struct trace_error *error);

int sqlite_rows_open(struct sqlite_rows **rows, sqlite3 *database);
void sqlite_rows_close(struct sqlite_rows *rows); /* NULL is fine */

/* To be called for each table that has rows, by its number, less than RELATIONS_MOST. The relation
 * may be gone afterwards. */
int sqlite_rows_begin(struct sqlite_rows *rows, unsigned int number,
		      const struct relation *relation);
/* Takes a row of a table that exists. An error may be that of an earlier row. */
int sqlite_rows_add(struct sqlite_rows *rows, unsigned int number, const struct cell *cells,
		    struct trace_error *error);
/* Inserts what is left. */
int sqlite_rows_finish(struct sqlite_rows *rows, struct trace_error *error);

#endif
