/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The io_uring and libaio operations, as two tables by opcode: how to decode them and what they do.
 */
#pragma once

#include "bpf/records/event.h"
#include "trace/format/header.h"

#define ASYNC_OPERATIONS_MAX 96

/* Returns the operations, ordered by number from the first on: `*count` rows. */
const struct trace_operation *async_operations(size_t *count);

/* Fills the kernel side's tables; `first` is the number of the first operation. */
void async_fill_rows(struct async_row *uring, struct async_row *aio, unsigned int first);
