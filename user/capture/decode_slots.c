/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From slots of lanes to rows: system calls and page faults, the calls many at a time. Knows
 * nothing of records, nor of how slots are handed over.
 */
#include "capture/decode_state.h"

#include <stddef.h>
#include <string.h>

/* Copies what corresponds from `event` to `row`, by the lists of columns.h. A slot has a header's
 * fields itself, and no rare ones. */
#define SLOT_HEAD(field) event->field
#define SLOT_FIELD(field) event->field
#define SLOT_PAGES(field) (uint64_t) event->field * decoder->page_bytes
#define SLOT_RARE(field) 0
#define SLOT_RARE_PAGES(field) 0
#define COPY_SLOT(id, name, type, unit, source, meaning) row[id] = SLOT_##source;

static void take_lane_fault(struct decoder *decoder, unsigned int lane,
			    const struct lane_fault *event)
{
	uint64_t row[FAULT_COLUMNS];

	TRACE_COLUMNS_FAULT(COPY_SLOT)
	decoder->taken[RECORD_FAULT]++;
	trace_writer_append(decoder->writer, TRACE_FAULT, lane, row);
}

static void take_lane_call(struct decoder *decoder, unsigned int lane,
			   const struct lane_call *event)
{
	uint64_t row[SYSCALL_COLUMNS];

	TRACE_COLUMNS_SYSCALL(COPY_SLOT)
	decoder->taken[RECORD_SYSCALL]++;
	trace_writer_append(decoder->writer, TRACE_SYSCALL, lane, row);
}

#define RUN_LEAST 8 /* calls that are worth a loop for each column */

/* Takes the calls that come first, all at once; how many. */
static size_t take_lane_calls(struct decoder *decoder, unsigned int lane,
			      const struct lane_slot *slots, size_t count)
{
	size_t calls = 0, taken;

	while (calls < count && slots[calls].call.op != OP_FAULT)
		calls++;
	if (calls < RUN_LEAST)
		return 0;
	taken = trace_writer_append_run(decoder->writer, TRACE_SYSCALL, lane, slots, sizeof(*slots),
					calls, decoder->call_fields);
	decoder->taken[RECORD_SYSCALL] += taken;
	return taken;
}

void decoder_fill_call_fields(struct trace_field *fields, unsigned int page_bytes)
{
#define FIELD(member)                                                                              \
	{                                                                                          \
		offsetof(struct lane_slot, call.member),                                           \
			sizeof(((struct lane_slot *)0)->call.member), 0                            \
	}
	const struct trace_field all[SYSCALL_COLUMNS] = {
		[SYSCALL_TIME] = FIELD(time_ns),
		[SYSCALL_DUR] = FIELD(duration_ns),
		[SYSCALL_PID] = FIELD(pid),
		[SYSCALL_TID] = FIELD(tid),
		[SYSCALL_OP] = FIELD(op),
		[SYSCALL_FILE] = FIELD(file),
		[SYSCALL_OFFSET] = FIELD(offset),
		[SYSCALL_ASKED] = FIELD(asked_bytes),
		[SYSCALL_RESULT] = FIELD(result),
		[SYSCALL_FLAGS] = FIELD(flags),
		[SYSCALL_FETCHED] = FIELD(fetched_pages),
		[SYSCALL_CREATED] = FIELD(created_pages),
	};
#undef FIELD

	memcpy(fields, all, sizeof(all));
	fields[SYSCALL_FETCHED].shift = __builtin_ctz(page_bytes);
	fields[SYSCALL_CREATED].shift = __builtin_ctz(page_bytes);
}

void decoder_take_slots(void *context, unsigned int lane, const struct lane_slot *slots,
			size_t count)
{
	struct decoder *decoder = context;

	while (count) {
		size_t done = take_lane_calls(decoder, lane, slots, count);

		if (!done) {
			done = 1;
			if (slots->call.op == OP_FAULT)
				take_lane_fault(decoder, lane, &slots->fault);
			else
				take_lane_call(decoder, lane, &slots->call);
		}
		slots += done;
		count -= done;
	}
}
