/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Answers in gzip's format, for callers that accept it.
 */
#ifndef FAULTLINE_MONITOR_HTTP_GZIP_H
#define FAULTLINE_MONITOR_HTTP_GZIP_H

#include <stdbool.h>

#include "output/sink.h"

/* Whether an Accept-Encoding header, which may be NULL, accepts gzip (RFC 9110, 12.5.3). */
bool http_gzip_accepted(const char *accept);

/* Compresses a memory sink if that makes it shorter. False: it is as it was. */
bool http_gzip(struct sink *body);

#endif
