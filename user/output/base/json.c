/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes JSON: values, the commas and space between them, and escaped strings. */
#include "output/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define PLAIN_NAME_MAX 128 /* written in one go; longer ones come from the trace */

/* --- strings --- */

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Writes an ASCII character that is not plain. */
static void write_special(struct sink *out, char c)
{
	static const char *const letters = "\bb\ff\nn\rr\tt\"\"\\\\";

	for (const char *at = letters; *at; at += 2) {
		if (*at == c) {
			sink_char(out, '\\');
			sink_char(out, at[1]);
			return;
		}
	}
	sink_format(out, "\\u%04x", (unsigned char)c);
}

/* Returns whether the text is UTF-8. */
static bool write_escaped(struct sink *out, const char *text, size_t length)
{
	bool valid = true;

	for (size_t i = 0, from = 0; i < length; from = i) {
		unsigned int bytes;

		while (i < length && is_plain(text[i]))
			i++;
		sink_bytes(out, text + from, i - from);
		if (i == length)
			break;
		bytes = utf8_length(text + i, length - i);
		if (bytes > 1)
			sink_bytes(out, text + i, bytes);
		else if (bytes)
			write_special(out, text[i]);
		else
			sink_format(out, "\\\\x%02x", (unsigned char)text[i]);
		valid &= bytes > 0;
		i += bytes ? bytes : 1;
	}
	return valid;
}

bool json_text(struct sink *out, const char *text, size_t length)
{
	bool valid;

	sink_char(out, '"');
	valid = write_escaped(out, text, length);
	sink_char(out, '"');
	return valid;
}

void json_hex(struct sink *out, const char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	sink_char(out, '"');
	for (size_t i = 0; i < length; i++) {
		sink_char(out, digits[(unsigned char)bytes[i] >> 4]);
		sink_char(out, digits[bytes[i] & 15]);
	}
	sink_char(out, '"');
}

/* --- values --- */

void json_line(struct json *json, unsigned int indent)
{
	json->on_line = true;
	json->indent = indent;
}

static void break_line(struct json *json)
{
	if (!json->on_line)
		return;
	sink_char(json->out, '\n');
	sink_repeat(json->out, ' ', json->indent);
	json->on_line = false;
}

static void separate(struct json *json)
{
	if (json->follows)
		sink_char(json->out, ',');
	if (json->style == JSON_INDENTED && json->depth)
		json_line(json, 2 * json->depth);
	else if (json->follows && json->style == JSON_SPACED && !json->on_line)
		sink_char(json->out, ' ');
	break_line(json);
	json->follows = true;
}

/* Nearly all names are plain, and there are more names than anything else. */
static bool write_plain_name(struct json *json, const char *name, size_t length)
{
	struct sink *out = json->out;
	char *at;

	for (size_t i = 0; i < length; i++)
		if (!is_plain(name[i]))
			return false;
	if (length > PLAIN_NAME_MAX || !sink_reserve(out, length + 4))
		return false;
	at = out->buffer + out->used;
	*at++ = '"';
	at = mempcpy(at, name, length);
	*at++ = '"';
	*at++ = ':';
	if (json->style != JSON_COMPACT)
		*at++ = ' ';
	out->used = at - out->buffer;
	return true;
}

void json_name(struct json *json, const char *name, size_t length, const char *suffix)
{
	separate(json);
	json->named = true;
	if (!*suffix && write_plain_name(json, name, length))
		return;
	sink_char(json->out, '"');
	write_escaped(json->out, name, length);
	sink_text(json->out, suffix);
	sink_text(json->out, json->style == JSON_COMPACT ? "\":" : "\": ");
}

static struct sink *begin(struct json *json, const char *name)
{
	if (name)
		json_name(json, name, strlen(name), "");
	else if (!json->named)
		separate(json);
	json->named = false;
	return json->out;
}

static void open_bracket(struct json *json, const char *name, bool list)
{
	sink_char(begin(json, name), list ? '[' : '{');
	json->lists = json->lists << 1 | list;
	json->depth++;
	json->follows = false;
}

void json_begin(struct json *json, const char *name)
{
	open_bracket(json, name, false);
}

void json_begin_list(struct json *json, const char *name)
{
	open_bracket(json, name, true);
}

void json_end(struct json *json)
{
	json->depth--;
	if (json->style == JSON_INDENTED && json->follows)
		json_line(json, 2 * json->depth);
	break_line(json);
	sink_char(json->out, json->lists & 1 ? ']' : '}');
	json->lists >>= 1;
	json->follows = true;
}

void json_uint(struct json *json, const char *name, uint64_t value)
{
	sink_uint(begin(json, name), value);
}

void json_int(struct json *json, const char *name, int64_t value)
{
	sink_int(begin(json, name), value);
}

void json_real(struct json *json, const char *name, double value)
{
	char text[32];

	if (!isfinite(value)) {
		json_null(json, name);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", value);
	sink_text(begin(json, name), text);
	if (!strpbrk(text, ".e")) /* keeps its type when it is read back */
		sink_text(json->out, ".0");
}

void json_flag(struct json *json, const char *name, bool value)
{
	sink_text(begin(json, name), value ? "true" : "false");
}

void json_null(struct json *json, const char *name)
{
	sink_text(begin(json, name), "null");
}

void json_literal(struct json *json, const char *name, const char *text)
{
	if (text)
		json_string(json, name, text, strlen(text));
	else
		json_null(json, name);
}

/* The bytes as a string of hexadecimal digits. */
static void hex_string(struct json *json, const char *bytes, size_t length)
{
	json_hex(begin(json, NULL), bytes, length);
}

bool json_string(struct json *json, const char *name, const char *text, size_t length)
{
	bool valid = json_text(begin(json, name), text, length);

	if (!valid && name) {
		json_name(json, name, strlen(name), "_hex");
		hex_string(json, text, length);
	}
	return valid;
}

bool json_item(struct json *json, const char *text, size_t length, bool hex)
{
	if (!hex)
		return json_string(json, NULL, text, length);
	if (utf8_is_valid(text, length))
		json_null(json, NULL);
	else
		hex_string(json, text, length);
	return true;
}

void json_word_list(struct json *json, const char *name, const char *words, size_t length)
{
	bool valid = true;

	for (int hex = 0; hex <= (name && !valid); hex++) {
		if (name)
			json_name(json, name, strlen(name), hex ? "_hex" : "");
		json_begin_list(json, NULL);
		for (size_t at = 0; at < length; at += strnlen(words + at, length - at) + 1) {
			size_t bytes = strnlen(words + at, length - at);

			if (hex)
				hex_string(json, words + at, bytes);
			else
				valid &= json_string(json, NULL, words + at, bytes);
		}
		json_end(json);
	}
}

void json_raw(struct json *json, const char *name, const void *bytes, size_t length)
{
	sink_bytes(begin(json, name), bytes, length);
}

void json_words(struct sink *out, const char *words, size_t length)
{
	struct json json = { .out = out };

	json_word_list(&json, NULL, words, length);
}
