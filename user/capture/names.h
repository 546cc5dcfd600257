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

/* The rank that an environment (NUL-separated) names, by RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK,
 * PMI_RANK or PMIX_RANK, the first of these that is a number; -1 for none. */
int64_t names_rank(const char *environment, size_t bytes);

#endif
