/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decodes slots of CPU buffers to rows: system calls, in runs where possible, and page faults. */
#include "capture/drain/decode_state.h"
#include "capture/calls/file_choice.h"

#include <stddef.h>
#include <string.h>

/* Copies corresponding fields from `event` to `row`, by the lists in columns.h. A slot holds a
 * header's fields itself, and no rare ones. */
#define SLOT_HEAD(field) event->field
#define SLOT_FIELD(type, field) event->field
#define SLOT_PAGES(type, field) (uint64_t) event->field * decoder->page_bytes
#define SLOT_RARE(type, field) 0
#define SLOT_RARE_PAGES(type, field) 0
#define COPY_SLOT(id, number, name, type, unit, source, meaning) row[id] = SLOT_##source;

static void take_lane_fault(struct decoder *decoder, unsigned int lane,
			    const struct lane_fault *event)
{
	uint64_t row[FAULT_COLUMNS];

	TRACE_COLUMNS(FAULT, COPY_SLOT)
	decoder->taken[RECORD_FAULT]++;
	trace_writer_append(decoder->writer, TRACE_FAULT, lane, row);
}

static void take_lane_call(struct decoder *decoder, unsigned int lane,
			   const struct lane_call *event)
{
	uint64_t row[SYSCALL_COLUMNS];

	TRACE_COLUMNS(SYSCALL, COPY_SLOT)
	decoder->taken[RECORD_SYSCALL]++;
	trace_writer_append(decoder->writer, TRACE_SYSCALL, lane, row);
}

#define RUN_MIN 8 /* calls that make a loop per column worthwhile */

/* Takes the leading calls in one run. Returns how many; 0 if there are too few. */
static size_t take_lane_calls(struct decoder *decoder, unsigned int lane,
			      const struct lane_slot *slots, size_t count)
{
	size_t calls = 0, taken;

	while (calls < count && slots[calls].call.op != OP_FAULT)
		calls++;
	if (calls < RUN_MIN)
		return 0;
	taken = trace_writer_append_run(decoder->writer, TRACE_SYSCALL, lane, slots, sizeof(*slots),
					calls, decoder->call_fields);
	decoder->taken[RECORD_SYSCALL] += taken;
	return taken;
}

/* Locates the fields that COPY_SLOT copies, for a run of slots. Missing fields are zero. */
#define PLACE(member, by)                                                                          \
	((struct trace_field) { offsetof(struct lane_slot, call.member),                           \
				sizeof(((struct lane_slot *)0)->call.member), by })
#define PLACE_HEAD(field) PLACE(field, 0)
#define PLACE_FIELD(type, field) PLACE(field, 0)
#define PLACE_PAGES(type, field) PLACE(field, shift)
#define PLACE_RARE(type, field) ((struct trace_field) { 0 })
#define PLACE_RARE_PAGES(type, field) ((struct trace_field) { 0 })
#define PLACE_SLOT(id, number, name, type, unit, source, meaning) [id] = PLACE_##source,

void decoder_fill_call_fields(struct trace_field *fields, unsigned int page_bytes)
{
	const unsigned int shift = __builtin_ctz(page_bytes);
	const struct trace_field all[SYSCALL_COLUMNS] = { TRACE_COLUMNS(SYSCALL, PLACE_SLOT) };

	memcpy(fields, all, sizeof(all));
}

static void take_slots(struct decoder *decoder, unsigned int lane, const struct lane_slot *slots,
		       size_t count)
{
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

void decoder_take_slots(void *context, unsigned int lane, const struct lane_slot *slots,
			size_t count)
{
	struct decoder *decoder = context;
	size_t first = 0;

	for (size_t i = 0; decoder->choice && i < count; i++) {
		if (!file_choice_leaves_slot(decoder->choice, &slots[i]))
			continue;
		decoder->taken[slots[i].call.op == OP_FAULT ? RECORD_FAULT : RECORD_SYSCALL]++;
		take_slots(decoder, lane, slots + first, i - first);
		first = i + 1;
	}
	take_slots(decoder, lane, slots + first, count - first);
}
