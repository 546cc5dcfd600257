/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What bounds a job's I/O on this machine: memory, limits of its cgroup, where the kernel begins to
 * make writers wait, and what is mounted. Knows nothing of capturing.
 */
#ifndef FAULTLINE_LIMITS_H
#define FAULTLINE_LIMITS_H

#include "trace/header.h"

struct limits;

/* Asks for the limits of this process. What cannot be told stays 0. Returns 0 or -ENOMEM. */
int limits_open(struct limits **limits);
void limits_close(struct limits *limits); /* NULL is fine */

/* Sets the header's part; its mounts belong to the limits. */
void limits_describe(const struct limits *limits, struct trace_header *header);

#endif
