/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The recorded system calls, as one table: their numbers here, how to decode them, what they do.
 */
#ifndef FAULTLINE_CALLS_H
#define FAULTLINE_CALLS_H

#include <stdbool.h>

#include "bpf/event.h"
#include "trace/header.h"

/* The operations of a trace, in the order of their numbers: `*count` rows, statically allocated. */
const struct trace_operation *calls_operations(size_t *count);

/* Whether a positive result of the operation is a number of operations that begin. */
bool calls_submits(unsigned int number);

/* Number of the first of async_calls.h: they come behind the calls. */
unsigned int calls_first_async(void);

/* Makes an operation that cannot be recorded none of a trace's. */
void calls_leave_out(unsigned int number);

/* Fills the kernel side's tables: `rows` has CALL_TABLE_SIZE rows, indexed by number of the call,
 * `requests` CALL_REQUESTS. */
void calls_fill(struct call_row *rows, struct call_request *requests);

#endif
