/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Limits on a job on this machine: memory, CPUs, its cgroup's limit, dirty thresholds at which the
 * kernel makes writers wait, and mounts.
 */
#pragma once

#include "trace/format/header.h"

struct limits;

/* Reads the limits of this process. Unknown values stay 0. Returns 0 or -ENOMEM. */
int limits_open(struct limits **limits);
void limits_close(struct limits *limits); /* NULL is fine */

/* Returns how long the CPU quota of this process's cgroup has held back its threads since
 * limits_open, in ns, summed over CPUs; 0 without a quota. */
uint64_t limits_throttled_ns(const struct limits *limits);

/* Sets the header's fields; `limits` owns the mounts. */
void limits_describe(const struct limits *limits, struct trace_header *header);
