/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fills a struct trace_error. Private to user/trace.
 */
#ifndef FAULTLINE_TRACE_ERROR_H
#define FAULTLINE_TRACE_ERROR_H

struct trace_error;

/* Formats `error`, which may be NULL, and returns `code`. */
int trace_fail(struct trace_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
