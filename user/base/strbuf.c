/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds sentences in bounded memory. */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

static void add(struct strbuf *text, const char *format, va_list arguments)
{
	size_t room = sizeof(text->bytes) - text->used;
	int length = vsnprintf(text->bytes + text->used, room, format, arguments);

	if (length > 0)
		text->used += (size_t)length < room ? (size_t)length : room - 1;
}

void strbuf_add(struct strbuf *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(text, format, arguments);
	va_end(arguments);
}

void strbuf_join(struct strbuf *text, const char *between, const char *format, ...)
{
	va_list arguments;

	if (text->used)
		strbuf_add(text, "%s", between);
	va_start(arguments, format);
	add(text, format, arguments);
	va_end(arguments);
}
