/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JIT-compiled functions, from /tmp/perf-PID.map. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct perf_map_function {
	uint64_t start, bytes;
	char *name; /* without a NUL: hostile */
	size_t name_bytes;
	size_t order; /* in the file: a later one replaces an earlier one */
};

/* All zeros is an empty one. */
struct perf_map {
	char *text;
	struct perf_map_function *functions; /* by address */
	size_t count;
	uint64_t bytes, read_ns; /* of the file, and when it was read */
};

/* Reads the file of a process, in the process's own mount and PID namespace, if it is a regular one
 * and the process's user owns it; again if it has grown, at most once a second. */
void perf_map_read(struct perf_map *map, uint32_t pid);
void perf_map_free(struct perf_map *map);

/* Returns NULL if no function is there. */
const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address);

/* Reads a list: lines of START SIZE NAME, in hexadecimal. Takes over `text`. */
void perf_map_parse(struct perf_map *map, char *text, size_t bytes);
