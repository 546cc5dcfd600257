/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compresses answers with gzip for clients that accept it. */
#pragma once

#include <stdbool.h>

#include "output/base/sink.h"

/* Returns whether an Accept-Encoding header, which may be NULL, accepts gzip (RFC 9110, 12.5.3). */
bool http_gzip_accepted(const char *accept);

/* Compresses a memory sink if that makes it shorter. Otherwise returns false and leaves it as it
 * is. */
bool http_gzip(struct sink *body);
