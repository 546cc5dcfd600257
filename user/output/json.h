/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as JSON: one object, "schema" first, then a member for each table. Dotted column names
 * nest; counts, bytes and ns are plain integers; what was not measured is null, never 0.
 *
 * JSON can carry no bytes that are not UTF-8. A text with such bytes shows each as \xHH (four
 * characters), and a member beside it, "<name>_hex", holds all of its bytes in hexadecimal; in a
 * list of texts that member is a list, with null for those that need none.
 */
#ifndef FAULTLINE_JSON_H
#define FAULTLINE_JSON_H

#include <stdbool.h>

#include "analysis/table/table.h"
#include "output/sink.h"

#define JSON_SCHEMA 2

/* Writes table by table and row by row: memory does not grow with the tables. Errors of writing are
 * the sink's; returns -ENOMEM or the sink's error so far. */
int json_tables(struct sink *out, const struct table *const *tables, size_t count);

/* One text as a JSON string, quotes included. Returns false when it is not UTF-8 and a "_hex"
 * member should follow. */
bool json_text(struct sink *out, const char *text, size_t length);
/* Words, each but maybe the last with a NUL at its end, as a list of such. */
void json_words(struct sink *out, const char *words, size_t length);
/* A cell by itself, as a JSON value. Returns -ENOMEM or the sink's error so far. */
int json_cell(struct sink *out, const struct cell *cell);
/* The bytes in hexadecimal as a JSON string. */
void json_hex(struct sink *out, const char *bytes, size_t length);

#endif
