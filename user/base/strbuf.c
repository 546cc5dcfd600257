/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Builds sentences in bounded memory.
 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

static void add(struct strbuf *words, const char *format, va_list arguments)
{
	size_t room = sizeof(words->bytes) - words->used;
	int length = vsnprintf(words->bytes + words->used, room, format, arguments);

	if (length > 0)
		words->used += (size_t)length < room ? (size_t)length : room - 1;
}

void strbuf_add(struct strbuf *words, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(words, format, arguments);
	va_end(arguments);
}

void strbuf_clause(struct strbuf *words, const char *format, ...)
{
	va_list arguments;

	if (words->used)
		strbuf_add(words, "; ");
	va_start(arguments, format);
	add(words, format, arguments);
	va_end(arguments);
}
