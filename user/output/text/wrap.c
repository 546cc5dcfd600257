/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of words. */
#include "output/text/wrap.h"

#include <string.h>

#include "base/number.h"
#include "output/base/escape.h"

struct cell wrap_line(const char **text, size_t width)
{
	const char *start = *text, *end = start;

	for (const char *at = start; *at;) {
		at += *at == ' ';
		at += strcspn(at, " ");
		if (end > start && escape_columns(start, at - start) > width)
			break;
		end = at;
	}
	*text = end + (*end == ' ');
	return (struct cell) { .type = CELL_TEXT, .text = start, .length = end - start };
}

void wrap_indented(struct sink *out, const char *text, size_t width, size_t indent)
{
	size_t before = 0;

	do {
		struct cell line = wrap_line(&text, width > before ? width - before : 1);

		sink_repeat(out, ' ', before);
		escape_text(out, line.text, line.length);
		sink_char(out, '\n');
		before = indent;
	} while (*text);
}

void wrap_below(struct sink *out, const char *text, size_t width, size_t indent)
{
	for (size_t before = 0;; before = indent) {
		struct cell line = wrap_line(&text, width > indent ? width - indent : 1);

		sink_repeat(out, ' ', before);
		escape_text(out, line.text, line.length);
		sink_char(out, '\n');
		if (!*text)
			return;
	}
}

void wrap_text(struct sink *out, const char *text, size_t width)
{
	wrap_indented(out, text, width, 0);
}

static size_t longest_word(const char *text)
{
	size_t longest = 0;

	while (*text) {
		struct cell word = wrap_line(&text, 0);
		size_t width = escape_columns(word.text, word.length);

		longest = number_max(width, longest);
	}
	return longest;
}

size_t wrap_count(const char *text, size_t width)
{
	size_t lines = 0;

	do {
		wrap_line(&text, width);
		lines++;
	} while (*text);
	return lines;
}

size_t wrap_width(const char *text, size_t lines)
{
	size_t width = longest_word(text);

	while (wrap_count(text, width) > lines)
		width++;
	return width;
}
