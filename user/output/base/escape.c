/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Escapes characters that a terminal must not receive, and shortens text that does not fit. */
#include "output/base/escape.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define BASE_MAX 120   /* columns of a path's last component */
#define FUNCTION_MIN 4 /* columns of a function's name, with the ellipsis */
#define ELLIPSIS "\u2026"

/* Returns the length of the leading run of printable ASCII, which most text consists of. */
static size_t plain_run(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] >= 0x20 && text[i] < 0x7f)
		i++;
	return i;
}

size_t escape_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length;) {
		size_t run = plain_run(text + i, length - i);

		i += run;
		columns += run;
		if (i < length) {
			struct glyph glyph = utf8_glyph(text + i, length - i);

			i += glyph.bytes;
			columns += glyph.columns;
		}
	}
	return columns;
}

static void write_escaped(struct sink *out, const char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = bytes[i];
		char text[UTF8_ESCAPED_COLUMNS] = { '\\', 'x', digits[byte >> 4],
						    digits[byte & 15] };

		sink_bytes(out, text, sizeof(text));
	}
}

void escape_text(struct sink *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t run = plain_run(text + i, length - i);
		struct glyph glyph;

		sink_bytes(out, text + i, run);
		i += run;
		if (i == length)
			break;
		glyph = utf8_glyph(text + i, length - i);
		if (glyph.escaped)
			write_escaped(out, text + i, glyph.bytes);
		else
			sink_bytes(out, text + i, glyph.bytes);
		i += glyph.bytes;
	}
}

void escape_to_utf8(struct sink *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t run = plain_run(text + i, length - i);
		unsigned int n;

		sink_bytes(out, text + i, run);
		i += run;
		if (i == length)
			break;
		n = utf8_length(text + i, length - i);
		if (n)
			sink_bytes(out, text + i, n);
		else
			write_escaped(out, text + i, 1);
		i += n ? n : 1;
	}
}

/* Returns the columns of "loader.py:42 in " in "loader.py:42 in TokenDataset.__getitem__"; 0: the
 * text names no line of code. */
static size_t line_columns(const char *text, size_t length)
{
	static const char in[] = " in ";
	bool digits = false; /* the last character was one, after a colon */

	for (size_t i = 0; i + sizeof(in) - 1 <= length; i++) {
		if (digits && !memcmp(text + i, in, sizeof(in) - 1))
			return escape_columns(text, i + sizeof(in) - 1);
		digits = isdigit((unsigned char)text[i]) && (digits || (i && text[i - 1] == ':'));
	}
	return 0;
}

/* Returns the length of the characters that fit into `columns`. */
static size_t head_of(const char *text, size_t length, size_t columns)
{
	size_t head = 0;

	for (size_t shown = 0; head < length;) {
		struct glyph glyph = utf8_glyph(text + head, length - head);

		if (shown + glyph.columns > columns)
			break;
		shown += glyph.columns;
		head += glyph.bytes;
	}
	return head;
}

void escape_cut(struct sink *out, const char *text, size_t length, size_t columns)
{
	const bool fits = escape_columns(text, length) <= columns;

	escape_text(out, text, fits ? length : head_of(text, length, columns - 1));
	if (!fits)
		sink_text(out, ELLIPSIS);
}

void escape_shortened(struct sink *out, const char *text, size_t length, size_t columns)
{
	size_t total = escape_columns(text, length);
	size_t line, head, tail;

	if (total <= columns) {
		escape_text(out, text, length);
		return;
	}
	line = line_columns(text, length);
	head = head_of(text, length,
		       line && line + FUNCTION_MIN < columns ? line : (columns - 1) / 3);
	/* Omit enough characters for head, "…" and the rest to fit. */
	for (tail = head; tail < length && total + 1 > columns;) {
		struct glyph glyph = utf8_glyph(text + tail, length - tail);

		total -= glyph.columns;
		tail += glyph.bytes;
	}
	escape_text(out, text, head);
	sink_text(out, ELLIPSIS);
	escape_text(out, text + tail, length - tail);
}

/* Returns where to cut a path, to be shortened with "…/" in front: at a component, the last at
 * most. */
static size_t tail_of(const char *path, size_t length, size_t columns)
{
	size_t at = length, best;

	while (at && path[at - 1] != '/')
		at--;
	best = at;
	while (at > 1) {
		at--;
		while (at && path[at - 1] != '/')
			at--;
		if (escape_columns(path + at, length - at) > columns)
			break;
		best = at;
	}
	return best;
}

void escape_path(struct sink *out, const char *path, size_t length, size_t columns)
{
	static const char gap[] = ELLIPSIS "/";
	size_t head = 0, tail;

	if (escape_columns(path, length) <= columns) {
		escape_text(out, path, length);
		return;
	}
	/* Keep the first directory, which says most about the location: "/data/…/train/x.bin". */
	if (length && path[0] == '/') {
		const char *slash = memchr(path + 1, '/', length - 1);

		head = slash ? slash + 1 - path : 0;
	}
	tail = tail_of(path, length, columns - 2);
	if (escape_columns(path, head) + 2 + escape_columns(path + tail, length - tail) > columns) {
		size_t room = columns > 2 + escape_columns(path, head)
				      ? columns - 2 - escape_columns(path, head)
				      : 0;
		size_t shorter = tail_of(path, length, room);

		if (room && escape_columns(path + shorter, length - shorter) <= room)
			tail = shorter;
		else
			head = 0;
	}
	if (head > tail)
		head = 0;
	escape_text(out, path, head);
	if (tail > head)
		sink_text(out, gap);
	if (escape_columns(path + tail, length - tail) > BASE_MAX)
		escape_shortened(out, path + tail, length - tail, BASE_MAX);
	else
		escape_text(out, path + tail, length - tail);
}
