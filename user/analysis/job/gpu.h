/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads when a GPU was busy from a PyTorch profiler (Kineto) trace: a Chrome trace in JSON, gzipped
 * or not, whose "ts" and "dur" are microseconds and whose "baseTimeNanoseconds" is the time since
 * 1970 at which "ts" is 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/read/reader.h"

#define GPU_INTERVALS_MAX (1u << 24) /* 256 MiB; files with more are rejected */

struct gpu_interval {
	uint64_t start_ns, end_ns; /* since 1970 */
};

struct gpu {
	const char *name;		/* of the file */
	struct gpu_interval *intervals; /* non-empty, sorted, disjoint */
	size_t count;
	uint64_t kernels; /* that the intervals come from */
	int64_t rank;	  /* "distributedInfo", or -1 */
};

/*
 * Reads a file piece by piece. Returns 0; -errno if reading fails; -EINVAL if the file is not such
 * a trace, is cut short or has no GPU activity; -ENOMEM. `error` names the file and the cause.
 */
int gpu_read(struct gpu *gpu, const char *path, struct trace_error *error);
void gpu_free(struct gpu *gpu);
