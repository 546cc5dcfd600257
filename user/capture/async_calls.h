/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The operations of io_uring and libaio, as two tables by opcode: how to decode them, what they do.
 */
#ifndef FAULTLINE_ASYNC_CALLS_H
#define FAULTLINE_ASYNC_CALLS_H

#include "bpf/event.h"
#include "trace/header.h"

#define ASYNC_OPERATIONS_MOST 96

/* The operations, in the order of their numbers behind the first: `*count` rows. */
const struct trace_operation *async_operations(size_t *count);

/* Fills the kernel side's tables; `first` is the number of the first of these operations. */
void async_fill_rows(struct async_row *uring, struct async_row *aio, unsigned int first);

#endif
