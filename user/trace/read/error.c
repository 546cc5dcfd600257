/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills a struct trace_error. */
#include "trace/read/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "trace/read/reader.h"

int trace_fail(struct trace_error *error, int code, const char *format, ...)
{
	va_list args;

	if (error) {
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return code;
}

int trace_damaged(struct trace_error *error, uint64_t offset, const char *what)
{
	return trace_fail(error, -EINVAL, "is damaged at byte %llu: %s", (unsigned long long)offset,
			  what);
}

int trace_no_memory(struct trace_error *error)
{
	return trace_fail(error, -ENOMEM, "requires more memory than is available");
}
