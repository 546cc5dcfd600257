/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names made from what the kernel side read: paths, ranks, cgroups.
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

/* The path of a cgroup of the second version's hierarchy, below its root; "" when it is gone or
 * there is none. Remembers answers. The text stays valid until the next call. */
const char *names_cgroup(uint64_t id);

#endif
