/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compresses answers with libdeflate at the cheapest level: scrapes come every few seconds, and
 * metrics are so repetitive that more effort gains little.
 */
#include "monitor/http/http_gzip.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GZIP_LEVEL 1
#define GZIP_BYTES_MIN 1400 /* smaller answers fit into one packet anyway */

/* Returns the q-value of a list element of `length` bytes; 1 if it has none. */
static double quality_of(const char *element, size_t length)
{
	const char *q = memchr(element, ';', length);

	if (!q)
		return 1;
	q += 1 + strspn(q + 1, " \t");
	if (q + 2 > element + length || strncasecmp(q, "q=", 2) != 0)
		return 1;
	return strtod(q + 2, NULL);
}

bool http_gzip_accepted(const char *accept)
{
	double any = 0;

	while (accept && *accept) {
		size_t length = strcspn(accept, ","), skip = strspn(accept, " \t");
		const char *name = accept + skip;
		size_t name_length = strcspn(name, " \t;,");

		if (skip < length) {
			if ((name_length == 4 && !strncasecmp(name, "gzip", 4)) ||
			    (name_length == 6 && !strncasecmp(name, "x-gzip", 6)))
				return quality_of(name, length - skip) > 0;
			if (name_length == 1 && *name == '*')
				any = quality_of(name, length - skip);
		}
		accept += length + (accept[length] == ',');
	}
	return any > 0;
}

bool http_gzip(struct sink *body)
{
	struct libdeflate_compressor *compressor;
	struct sink packed;

	if (body->error || body->used < GZIP_BYTES_MIN)
		return false;
	compressor = libdeflate_alloc_compressor(GZIP_LEVEL);
	sink_open_memory(&packed);
	/* Returns 0 unless the result is shorter. */
	if (compressor && sink_reserve(&packed, body->used))
		packed.used = libdeflate_gzip_compress(compressor, body->buffer, body->used,
						       packed.buffer, body->used - 1);
	if (compressor)
		libdeflate_free_compressor(compressor);
	if (!packed.used) {
		sink_close(&packed);
		return false;
	}
	sink_close(body);
	*body = packed;
	return true;
}
