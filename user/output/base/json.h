/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes JSON value by value; commas, quotes and escapes come by themselves. Errors are kept in the
 * sink.
 *
 * JSON cannot represent bytes that are not UTF-8. A text shows each of them as \xHH (four
 * characters), and another member, "<name>_hex", holds all bytes of the text in hexadecimal.
 */
#pragma once

#include <stdbool.h>

#include "output/base/sink.h"

enum json_style {
	JSON_COMPACT,  /* {"a":1,"b":[2,3]} */
	JSON_SPACED,   /* {"a": 1, "b": [2, 3]} */
	JSON_INDENTED, /* a line for each value */
};

/* All zeros but for `out` and `style` is a document yet to be written. */
struct json {
	struct sink *out;
	enum json_style style;
	bool follows; /* the next value follows another in its object or list */
	bool named;   /* the next value has its name */
	bool on_line; /* see json_line */
	unsigned int indent;
	unsigned int depth; /* objects and lists that are open */
	uint64_t lists;	    /* bit 0: the innermost of them is a list, and so on */
};

/* Each begins a value. `name` is its name in an object, and NULL in a list, after json_name, and
 * for the whole document. */
void json_begin(struct json *json, const char *name);
void json_begin_list(struct json *json, const char *name);
/* Ends the innermost object or list. */
void json_end(struct json *json);
void json_uint(struct json *json, const char *name, uint64_t value);
void json_int(struct json *json, const char *name, int64_t value);
void json_real(struct json *json, const char *name, double value); /* null unless it is finite */
void json_flag(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
/* A NUL-terminated text, null for NULL. */
void json_literal(struct json *json, const char *name, const char *text);
/* Any text. Adds the member "<name>_hex" if there is a name and the text is not UTF-8; returns
 * whether it is. */
bool json_string(struct json *json, const char *name, const char *text, size_t length);
/* NUL-terminated words as a list; the last NUL is optional. Adds the member "<name>_hex", with all
 * words, if there is a name and one of them is not UTF-8. */
void json_word_list(struct json *json, const char *name, const char *words, size_t length);
/* An item of a list of texts, or of the list of their bytes, where texts that are UTF-8 are null.
 * Returns whether it is UTF-8. */
bool json_item(struct json *json, const char *text, size_t length, bool hex);
/* A value that is JSON already. */
void json_raw(struct json *json, const char *name, const void *bytes, size_t length);
/* Writes a name of that length, and the suffix, for the next value. */
void json_name(struct json *json, const char *name, size_t length, const char *suffix);
/* Puts the next value, or the bracket of json_end, on a new line. */
void json_line(struct json *json, unsigned int indent);

/* Writes a text as a JSON string, including quotes. Returns false if it is not UTF-8 and a "_hex"
 * member should follow. */
bool json_text(struct sink *out, const char *text, size_t length);
/* Writes NUL-terminated words as a list of strings; the last NUL is optional. */
void json_words(struct sink *out, const char *words, size_t length);
/* Writes the bytes in hexadecimal as a JSON string. */
void json_hex(struct sink *out, const char *bytes, size_t length);
