/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Symbols and their ASCII replacements. */
#include "output/base/ascii.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *symbol, *ascii;
} symbols[] = {
	{ "▁", "_" },  { "▂", "." },  { "▃", ":" },  { "▄", "-" },  { "▅", "=" },
	{ "▆", "+" },  { "▇", "*" },  { "█", "#" },  { "░", "." },  { "▒", ":" },
	{ "▓", "*" },  { "·", " " },  { "…", "~" },  { "–", "-" },  { "×", "x" },
	{ "≤", "<=" }, { "≥", ">=" }, { "→", "->" }, { "±", "+-" },
};

static bool names_utf8(const char *locale)
{
	const char *codeset = strchr(locale, '.');

	return codeset &&
	       (!strncasecmp(codeset + 1, "utf-8", 5) || !strncasecmp(codeset + 1, "utf8", 4));
}

bool ascii_is_wanted(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return !names_utf8(locale);
	}
	return false;
}

static const char *ascii_of(const char *text, size_t length, size_t *bytes)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		*bytes = strlen(symbols[i].symbol);
		if (*bytes <= length && !memcmp(text, symbols[i].symbol, *bytes))
			return symbols[i].ascii;
	}
	return NULL;
}

size_t ascii_replace(char *text, size_t length)
{
	size_t to = 0;

	for (size_t from = 0; from < length;) {
		size_t bytes;
		const char *ascii =
			(text[from] & 0x80) ? ascii_of(text + from, length - from, &bytes) : NULL;

		if (!ascii) {
			text[to++] = text[from++];
			continue;
		}
		from += bytes;
		for (; *ascii; ascii++)
			text[to++] = *ascii;
	}
	return to;
}
