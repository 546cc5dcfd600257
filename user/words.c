/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sentences in bounded memory. Knows nothing of what they say.
 */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>

void words_add(struct words *words, const char *format, ...)
{
	size_t room = sizeof(words->bytes) - words->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(words->bytes + words->used, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		words->used += (size_t)length < room ? (size_t)length : room - 1;
}
