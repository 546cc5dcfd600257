/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables as JSON: one object, with "schema" first, then a member per table. Dotted column names
 * nest; counts, bytes and ns are plain integers; unmeasured values are null, never 0. In the "_hex"
 * member of a list of texts (json.h), texts that are UTF-8 are null.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/json.h"

#define JSON_SCHEMA 2

/* Writes table by table and row by row: memory does not grow with the tables. Returns the sink's
 * error so far. */
int json_tables(struct sink *out, const struct table *const *tables, size_t count);
/* Writes a cell as a value, see json.h. */
void json_add_cell(struct json *json, const char *name, const struct cell *cell);
/* Writes a cell as a document. Returns the sink's error so far. */
int json_cell(struct sink *out, const struct cell *cell);

/* A column as a member of an object: "b" of "a.b" in the object "a". */
struct json_member {
	const char *name; /* of the column */
	size_t column;
	size_t object; /* bytes of the name before the member's own: "a." */
	size_t shared; /* of these, how many begin the previous member's objects, too */
};

/* Lists the columns, members of one object together, and a last entry that is in no object.
 * Returns the number of columns; the caller frees *members. Out of memory is an error of the
 * sink. */
size_t json_members(const struct table *table, struct json_member **members, struct sink *out);
/* Begins the member's objects that the one before is not in; `begun` may add to each. */
void json_enter(struct json *json, const struct json_member *member,
		void (*on_begin)(struct json *));
/* Ends the objects that member i - 1 is in and member i is not, with `ends` calls of json_end for
 * each. */
void json_leave(struct json *json, const struct json_member *members, size_t i, unsigned int ends);
