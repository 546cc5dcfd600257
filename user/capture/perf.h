/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Software perf events, one per CPU.
 */
#ifndef FAULTLINE_PERF_H
#define FAULTLINE_PERF_H

/* Opens the event named "page-faults-maj" or "page-faults-min", each occurrence of it, on one CPU,
 * for all tasks. Returns a descriptor or a negative errno; -ENOENT for an unknown name. */
int perf_open(const char *event, int cpu);

#endif
