/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as JSON: one object, with "schema" first, then a member per table. Dotted column names
 * nest; counts, bytes and ns are plain integers; unmeasured values are null, never 0.
 *
 * JSON cannot represent bytes that are not UTF-8. A text shows each of them as \xHH (four
 * characters), and another member, "<name>_hex", holds all bytes of the text in hexadecimal; for a
 * list of texts it is a list, with null for texts that are UTF-8.
 */
#ifndef FAULTLINE_JSON_H
#define FAULTLINE_JSON_H

#include <stdbool.h>

#include "analysis/table/table.h"
#include "output/base/sink.h"

#define JSON_SCHEMA 2

/* Writes table by table and row by row: memory does not grow with the tables. Write errors are kept
 * in the sink; returns -ENOMEM or the sink's error so far. */
int json_tables(struct sink *out, const struct table *const *tables, size_t count);

/* Writes a text as a JSON string, including quotes. Returns false if it is not UTF-8 and a "_hex"
 * member should follow. */
bool json_text(struct sink *out, const char *text, size_t length);
/* Writes NUL-terminated words as a list of strings; the last NUL is optional. */
void json_words(struct sink *out, const char *words, size_t length);
/* Writes a cell as a JSON value. Returns -ENOMEM or the sink's error so far. */
int json_cell(struct sink *out, const struct cell *cell);
/* Writes the bytes in hexadecimal as a JSON string. */
void json_hex(struct sink *out, const char *bytes, size_t length);

#endif
