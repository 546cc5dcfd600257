/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Strict UTF-8 decoding, and which characters a terminal must not receive. */
#include "base/utf8.h"

#include <locale.h>
#include <stdint.h>
#include <wchar.h>

/* Ranges of valid characters that do more than display: controls, line separators, everything that
 * reorders text (CVE-2021-42574), tags, and characters that make two names look alike. Joiners are
 * allowed: scripts need them. */
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
	static const uint32_t min[] = { 0, 0, 0x80, 0x800, 0x10000 };
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
	if (*c < min[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return n;
}

unsigned int utf8_length(const char *text, size_t length)
{
	uint32_t c;

	return decode((const unsigned char *)text, length, &c);
}

bool utf8_is_valid(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		unsigned int n = utf8_length(text + i, length - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

size_t utf8_cut(const char *text, size_t length, size_t max)
{
	if (length <= max)
		return length;
	/* A character has at most three more bytes. */
	for (size_t back = 0; back <= 3 && back <= max; back++)
		if (((unsigned char)text[max - back] & 0xc0) != 0x80)
			return max - back;
	return max;
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

struct glyph utf8_glyph(const char *text, size_t length)
{
	uint32_t c = 0;
	unsigned int n = decode((const unsigned char *)text, length, &c);

	if (n == 0)
		return (struct glyph) { 1, UTF8_ESCAPED_COLUMNS, true };
	if (is_harmful(c))
		return (struct glyph) { n, n * UTF8_ESCAPED_COLUMNS, true };
	return (struct glyph) { n, columns_of(c), false };
}
