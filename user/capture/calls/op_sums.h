/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums up totals by operation from records, for parts of a recording that the kernel side's totals
 * do not cover.
 */
#pragma once

#include "bpf/records/event.h"
#include "trace/format/header.h"

struct op_sums {
	unsigned int page_bytes;
	struct trace_operation_total totals[OP_TABLE_SIZE];
};

void op_sums_add_record(struct op_sums *sums, const struct event_header *record);
void op_sums_add_slot(struct op_sums *sums, const struct lane_slot *slot);
void op_sums_add_row(struct op_sums *sums, enum trace_kind kind, const uint64_t *row);
void op_sums_add_profile(struct op_sums *sums, const struct profile_slot *added);
