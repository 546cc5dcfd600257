/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Kinds of rows with a duration: all are events and exported, except those listed here. */
#include "unit_test.h"

#include "analysis/events/event.h"
#include "output/tables/relations.h"
#include "output/timeline/timeline.h"

/* Sums over an interval, which are no time of their own. */
#define NOT_DRAWN (1ull << TRACE_THREAD_TIME)

/* Kinds with a duration that are not in the mask. */
static void check_timed(uint64_t kinds, const char *file)
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (trace_schemas[kind].duration >= 0 && !(kinds >> kind & 1))
			fail_msg("%s leaves out rows \"%s\": add their kind, or except it in %s",
				 file, trace_schemas[kind].kind, __FILE__);
}

TEST(test_events)
{
	uint64_t kinds = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if (event_columns(kind) != 1ull << TRACE_COL_TIME)
			kinds |= 1ull << kind;
	check_timed(kinds, "user/analysis/events/event.c");
}

TEST(test_tables)
{
	check_timed(relations_kinds(), "user/output/tables/relations.c");
}

TEST(test_timelines)
{
	check_timed(timeline_kinds() | NOT_DRAWN, "user/output/timeline/timeline.c");
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		if ((timeline_kinds() & ~timeline_kinds_described()) >> kind & 1)
			fail_msg("rows \"%s\" are drawn without a name: add the kind to "
				 "user/output/timeline/timeline_args.c",
				 trace_schemas[kind].kind);
}
