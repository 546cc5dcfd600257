/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the longest gap between the recordings of several hosts. */
#include "analysis/run/clocks.h"

#include <stdlib.h>

#include "collections/compare.h"
#include "base/units.h"

/* Synchronized clocks differ by less, and the nodes of a job start within less. */
#define APART_NS 1000000000ull

COMPARE_BY(compare_starts, struct host_time, COMPARE(a->start_ns, b->start_ns))

void clocks_write_gap(struct strbuf *text, struct host_time *hosts, size_t count)
{
	const struct host_time *before = NULL, *after = NULL, *last = hosts;
	uint64_t apart_ns = APART_NS;
	char time[UNITS_TEXT];

	if (!count)
		return;
	qsort(hosts, count, sizeof(*hosts), compare_starts);
	for (size_t i = 1; i < count; i++) {
		if (hosts[i].start_ns > last->end_ns &&
		    hosts[i].start_ns - last->end_ns >= apart_ns) {
			apart_ns = hosts[i].start_ns - last->end_ns;
			before = last;
			after = &hosts[i];
		}
		if (hosts[i].end_ns > last->end_ns)
			last = &hosts[i];
	}
	if (before)
		strbuf_add(text,
			   "%s passed between the end on %.64s and the start on %.64s, by their "
			   "wall clocks: if the hosts ran together, the clocks differ, and timing "
			   "across hosts is wrong",
			   units_ns(time, apart_ns), before->host, after->host);
}
