/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Strict UTF-8 decoding, and escaping of what a terminal must not receive. */
#include "output/base/escape.h"

#include <locale.h>
#include <stdint.h>
#include <wchar.h>

#define BASE_MAX 120 /* columns of a path's last component */
#define ELLIPSIS "\u2026"
#define ESCAPED_COLUMNS 4 /* \xHH */

/* Ranges of valid characters that do more than display: controls, line separators, everything that
 * reorders text (CVE-2021-42574), tags, and what makes two names look alike. Joiners are allowed:
 * scripts need them. */
static const struct {
	uint32_t first, last;
} harmful[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	  { 0x61c, 0x61c },   { 0x200b, 0x200b },
	{ 0x200e, 0x200f }, { 0x2028, 0x202e },	  { 0x2060, 0x2069 }, { 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
};

static bool is_harmful(uint32_t c)
{
	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (c >= harmful[i].first && c <= harmful[i].last)
			return true;
	return false;
}

/* Returns the character's length, or 0 if these bytes are not UTF-8. */
static unsigned int decode(const unsigned char *p, size_t length, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int n = *p < 0x80   ? 1
			 : *p < 0xc2 ? 0
			 : *p < 0xe0 ? 2
			 : *p < 0xf0 ? 3
			 : *p < 0xf5 ? 4
				     : 0;

	if (n == 0 || n > length)
		return 0;
	*c = n == 1 ? *p : *p & (0x7f >> n);
	for (unsigned int i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return n;
}

/* The user's locale may not be UTF-8 (LANG=C under sudo or ssh) although the terminal is, so widths
 * come from the C library's own UTF-8 locale. */
static unsigned int columns_of(uint32_t c)
{
	static locale_t utf8;
	locale_t before;
	int n;

	if (c < 0x300)
		return 1;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	n = wcwidth(c);
	uselocale(before);
	return n < 0 ? 1 : n;
}

struct glyph escape_glyph(const char *text, size_t length)
{
	uint32_t c = 0;
	unsigned int n = decode((const unsigned char *)text, length, &c);

	if (n == 0)
		return (struct glyph) { 1, ESCAPED_COLUMNS, true };
	if (is_harmful(c))
		return (struct glyph) { n, n * ESCAPED_COLUMNS, true };
	return (struct glyph) { n, columns_of(c), false };
}

/* Returns the length of the leading run of printable ASCII, which most text consists of. */
static size_t plain_run(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && text[i] >= 0x20 && text[i] < 0x7f)
		i++;
	return i;
}

bool escape_is_utf8(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t c;
		unsigned int n;

		i += plain_run(text + i, length - i);
		if (i == length)
			break;
		n = decode((const unsigned char *)text + i, length - i, &c);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

size_t escape_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length;) {
		size_t run = plain_run(text + i, length - i);

		i += run;
		columns += run;
		if (i < length) {
			struct glyph glyph = escape_glyph(text + i, length - i);

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
		char text[ESCAPED_COLUMNS] = { '\\', 'x', digits[byte >> 4], digits[byte & 15] };

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
		glyph = escape_glyph(text + i, length - i);
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
		uint32_t c;
		unsigned int n;

		sink_bytes(out, text + i, run);
		i += run;
		if (i == length)
			break;
		n = decode((const unsigned char *)text + i, length - i, &c);
		if (n)
			sink_bytes(out, text + i, n);
		else
			write_escaped(out, text + i, 1);
		i += n ? n : 1;
	}
}

void escape_shortened(struct sink *out, const char *text, size_t length, size_t columns)
{
	size_t total = escape_columns(text, length);
	size_t head_columns, shown = 0, head = 0, tail;

	if (total <= columns) {
		escape_text(out, text, length);
		return;
	}
	head_columns = (columns - 1) / 3;
	while (head < length) {
		struct glyph glyph = escape_glyph(text + head, length - head);

		if (shown + glyph.columns > head_columns)
			break;
		shown += glyph.columns;
		head += glyph.bytes;
	}
	/* Omit enough characters for head, "…" and the rest to fit. */
	for (tail = head; tail < length && total + 1 > columns;) {
		struct glyph glyph = escape_glyph(text + tail, length - tail);

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
