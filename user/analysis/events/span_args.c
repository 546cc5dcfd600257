/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads arguments of spans from their strings in the trace. */
#include "analysis/events/span_args.h"

#include "trace/format/mp.h"

bool span_args_int(const struct job *job, const struct event *event, const char *name,
		   int64_t *value)
{
	uint64_t id = event_value(event, SPAN_BEGIN_ARGS);
	struct trace_string args;
	struct mp map, found;

	if (!id)
		return false;
	args = trace_reader_args(job->traces[event->block->trace].reader, id);
	map = (struct mp) { (const uint8_t *)args.bytes,
			    (const uint8_t *)args.bytes + args.length };
	return args.length && mp_find(map, name, &found) == 1 && !mp_int(&found, value);
}
