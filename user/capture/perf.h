/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Perf events that programs are attached to: software events, one per CPU; classic tracepoints and
 * kprobes, one for all.
 */
#ifndef FAULTLINE_PERF_H
#define FAULTLINE_PERF_H

#include <stdbool.h>

/* Opens the event named "page-faults-maj" or "page-faults-min", each occurrence of it, on one CPU,
 * for all tasks. Returns a descriptor or a negative errno; -ENOENT for an unknown name. */
int perf_open(const char *event, int cpu);
/* Its number, PERF_COUNT_SW_*; negative for an unknown name. */
int perf_number(const char *event);
/* 0, or a negative errno: there is no such tracepoint, or it may not be looked at. */
int perf_has_tracepoint(const char *target);
/* Opens a tracepoint, "category/name". It is found whether or not tracefs is mounted. */
int perf_open_tracepoint(const char *target);
/* Opens a kprobe at the entry of a function, or a kretprobe at its return. */
int perf_open_kprobe(const char *function, bool at_return);

#endif
