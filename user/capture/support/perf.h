/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opens perf events to attach programs to: software events, one per CPU; classic tracepoints and
 * kprobes, one for all CPUs.
 */
#pragma once

#include <stdbool.h>

/* Opens an event on one CPU for all tasks: "page-faults-maj" or "page-faults-min", with a sample
 * for each; "cpu-clock", with one every STACK_CPU_NS while the CPU is not idle. Returns a
 * descriptor or a negative errno; -ENOENT for an unknown name. */
int perf_open(const char *name, int cpu);
/* Returns 0, or a negative errno if the tracepoint does not exist or cannot be accessed. */
int perf_has_tracepoint(const char *target);
/* Opens the tracepoint "category/name", whether or not tracefs is mounted. */
int perf_open_tracepoint(const char *target);
/* Opens a kprobe at the entry of a function, or a kretprobe at its return. */
int perf_open_kprobe(const char *function, bool at_return);
