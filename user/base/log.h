/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Logs one line to stderr, prefixed "faultline: ". stdout is for data, stderr for messages. An
 * error is logged once, where it is found; callers only pass it on.
 */
#pragma once

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Lines above this level are not printed. LOG_INFO initially; -q sets LOG_ERROR, -v LOG_DEBUG. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Formats like printf. Bytes that a terminal could interpret as a command are escaped; a newline is
 * added. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
