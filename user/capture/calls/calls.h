/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The recorded system calls, as one table: their numbers on this architecture, how to decode them,
 * and what they do.
 */
#pragma once

#include <stdbool.h>

#include "bpf/records/event.h"
#include "trace/format/header.h"

/* Returns the operations of a trace, ordered by number: `*count` rows, statically allocated. */
const struct trace_operation *calls_operations(size_t *count);

/* Whether a positive result of the operation is the number of operations it starts. */
bool calls_submits(unsigned int number);

/* Returns the number of the first operation of async_calls.h; these follow the calls. */
unsigned int calls_first_async(void);

/* Removes an operation that cannot be recorded from the table. */
void calls_leave_out(unsigned int number);

/* Fills the kernel side's tables: `rows` has CALL_TABLE_SIZE rows, indexed by call number;
 * `requests` has CALL_REQUESTS. */
void calls_fill(struct call_row *rows, struct call_request *requests);
