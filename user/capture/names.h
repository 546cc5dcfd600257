/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names made from what the kernel side read: paths and ranks.
 */
#ifndef FAULTLINE_NAMES_H
#define FAULTLINE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

#define NAMES_PATH_BYTES (EVENT_PATH_BYTES + 512)

/* The path of a file record, or an honest name for a file that has none. Writes at most
 * NAMES_PATH_BYTES bytes, no NUL; returns their number. */
size_t names_path(const struct event_file *file, char *out);

/* The rank that values of an environment name: the first that is a number; -1 for none. */
int64_t names_rank(const struct event_ranks *ranks);
/* Takes these values from an environment of so many bytes, entries separated by NULs. */
void names_find_ranks(const char *environment, size_t bytes, struct event_ranks *ranks);

#endif
