/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes lines to stderr, which may be a terminal: names in them are hostile. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

static enum log_level current_level = LOG_INFO;

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_get_level(void)
{
	return current_level;
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char prefix[] = "faultline: ";
	char text[4096], line[sizeof(prefix) + 4 * sizeof(text) + 1];
	size_t out = 0;
	va_list args;

	if (level > current_level)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	for (const char *p = prefix; *p; p++)
		line[out++] = *p;
	for (size_t at = 0, length = strlen(text); at < length;) {
		struct glyph glyph = utf8_glyph(text + at, length - at);

		for (size_t end = at + glyph.bytes; at < end; at++) {
			if (glyph.escaped)
				out += sprintf(line + out, "\\x%02x", (unsigned char)text[at]);
			else
				line[out++] = text[at];
		}
	}
	line[out++] = '\n';
	if (write(STDERR_FILENO, line, out) < 0)
		return; /* nowhere to report it */
}
