/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds paths and ranks from what the kernel side read. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"

#define NAMES_PATH_BYTES (EVENT_PATH_BYTES + 512)

/* Writes the path of a file record, or a descriptive name if the file has none: at most
 * NAMES_PATH_BYTES bytes, without a NUL. Returns the length. */
size_t names_path(const struct event_file *file, char *out);

/* Returns the value of a variable in an environment of entries that end with NULs, and its *length;
 * NULL if there is none. */
const char *names_variable(const char *environment, size_t bytes, const char *name, size_t *length);
/* Returns the rank in environment values: the first that is a number, or -1. */
int64_t names_rank(const struct event_ranks *ranks);
/* Extracts those values from an environment of `bytes` bytes, entries separated by NULs. */
void names_find_ranks(const char *environment, size_t bytes, struct event_ranks *ranks);
/* The same for an environment as exec takes it, by a function that finds a variable in it. Returns
 * the rank, or -1. */
int64_t names_rank_in(char *const *environment,
		      const char *(*get)(char *const *environment, const char *name));
