/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps the operation classes of reports to those of the ledger. */
#include "monitor/ledger/classes.h"

#include <stdlib.h>

#include "analysis/events/event.h"

struct classes {
	size_t count;
	struct operation operations[]; /* descriptions only */
};

struct classes *classes_open(const struct trace_operation *operations, size_t count)
{
	struct classes *classes =
		calloc(1, sizeof(*classes) + count * sizeof(classes->operations[0]));

	if (!classes)
		return NULL;
	classes->count = count;
	for (size_t i = 0; i < count; i++)
		operation_describe(&classes->operations[i], &operations[i]);
	return classes;
}

void classes_close(struct classes *classes)
{
	free(classes);
}

struct class classes_of(const struct classes *classes, unsigned int op, uint32_t flags)
{
	static const uint8_t ops[IO_CLASS_COUNT] = {
		[IO_READ] = LEDGER_READ,	 [IO_WRITE] = LEDGER_WRITE,
		[IO_METADATA] = LEDGER_METADATA, [IO_SYNC] = LEDGER_SYNC,
		[IO_MMAP_READ] = LEDGER_READ,	 [IO_MMAP_WRITE] = LEDGER_WRITE,
	};
	const struct operation *operation;
	struct class class = { .what = CLASS_NONE };
	struct event_summed as;

	if (op >= classes->count)
		return class;
	operation = &classes->operations[op];
	as = event_summed_as(operation, flags);
	class.counted = as.flags & EVENT_COUNTED;
	class.timed = as.flags & EVENT_TIMED;
	class.transfer = operation->family == TRACE_TRANSFER;
	if (as.flags & EVENT_PAGECACHE) {
		class.what = CLASS_FILL;
	} else if (as.flags & EVENT_THROTTLED) {
		class.what = CLASS_THROTTLED;
		class.counted = class.timed = true;
	} else if (as.class < IO_CLASS_COUNT) {
		class.what = CLASS_IO;
		class.op = ops[as.class];
		/* Operations that move no bytes take the method by which they were submitted. */
		class.method = as.method != METHOD_NONE ? as.method
			       : operation->uring	? METHOD_URING
			       : operation->libaio	? METHOD_LIBAIO
							: METHOD_SYSCALL;
	}
	return class;
}
