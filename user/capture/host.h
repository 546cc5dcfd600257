/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a trace's header says of the machine and the moment.
 */
#ifndef FAULTLINE_HOST_H
#define FAULTLINE_HOST_H

#include <stdint.h>
#include <time.h>

#include "trace/header.h"

/* Fills the fields about this host, its kernel and its clocks; the texts are static. */
void host_describe(struct trace_header *header);

/* Raises this process's limit of open files as far as may be. Returns what it is then. */
uint64_t host_raise_open_files(void);

/* How far this process' CLOCK_MONOTONIC is ahead of the kernel's, by its time namespace. */
int64_t host_clock_ahead_ns(void);
/* Now, on the trace's clock: the kernel's CLOCK_MONOTONIC, whatever time namespace this is. */
uint64_t host_now_ns(void);
/* The moment so much later, as what waits by that clock takes it. */
struct timespec host_after_ns(uint64_t ns);
/* Now, in unix time. */
uint64_t host_unix_now_ns(void);

#endif
