/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Demangles names of C++ and Rust functions. */
#include "capture/native/demangle.h"

#ifdef HAVE_LIBIBERTY

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct output {
	char *bytes;
	size_t used, size;
	jmp_buf full; /* a short symbol may stand for a name without end */
};

static void take(const char *text, size_t length, void *context)
{
	struct output *output = context;
	size_t room = output->size - output->used;

	memcpy(output->bytes + output->used, text, length < room ? length : room);
	output->used += length < room ? length : room;
	if (output->used == output->size)
		longjmp(output->full, 1);
}

size_t demangle(const char *symbol, char *out, size_t size)
{
	struct output output = { .bytes = out, .size = size };

	if (strncmp(symbol, "_Z", 2) && strncmp(symbol, "_R", 2))
		return 0;
	if (setjmp(output.full))
		return size;
	/* Rust's older names are valid in C++, and end in a hash. */
	if (rust_demangle_callback(symbol, 0, take, &output))
		return output.used;
	output.used = 0;
	return cplus_demangle_v3_callback(symbol, DMGL_ANSI, take, &output) ? output.used : 0;
}

#else

size_t demangle(const char *symbol, char *out, size_t size)
{
	return 0;
}

#endif
