/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When a GPU was busy, from what PyTorch's profiler (Kineto) wrote: a Chrome trace in JSON, gzipped
 * or not, whose "ts" and "dur" are microseconds and whose "baseTimeNanoseconds" is the time since
 * 1970 at which "ts" is 0. Knows nothing of the job that it belongs to.
 */
#ifndef FAULTLINE_GPU_H
#define FAULTLINE_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

#define GPU_INTERVALS_MOST (1u << 24) /* 256 MiB; a file with more of them is refused */

struct gpu_interval {
	uint64_t start_ns, end_ns; /* since 1970 */
};

struct gpu {
	const char *name;		/* of the file */
	struct gpu_interval *intervals; /* of no length 0, in order, apart from each other */
	size_t count;
	uint64_t kernels; /* that they are made of */
	int64_t rank;	  /* "distributedInfo", or -1 */
};

/*
 * Reads a file, a piece at a time. Returns 0; -errno of reading it; -EINVAL where it is no such
 * trace, is cut short or names no activity of a GPU; -ENOMEM; `error` says what, with its name.
 */
int gpu_read(struct gpu *gpu, const char *path, struct trace_error *error);
void gpu_free(struct gpu *gpu);

#endif
