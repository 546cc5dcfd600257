/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fills a struct trace_error. Private to user/trace. */
#pragma once

#include <stdint.h>

struct trace_error;

/* Formats `error`, which may be NULL, and returns `code`. */
int trace_fail(struct trace_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "is damaged at byte 123: what"; returns -EINVAL. */
int trace_damaged(struct trace_error *error, uint64_t offset, const char *what);
/* Returns -ENOMEM. */
int trace_no_memory(struct trace_error *error);
