/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Unions of intervals in any order. */
#include "collections/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"

COMPARE_BY(compare_starts, struct interval, COMPARE(a->start, b->start))

/* Sorts the intervals, and merges those that touch or overlap. */
static void merge(struct intervals *intervals)
{
	struct interval *all = intervals->all;
	size_t count = 0;

	if (intervals->count)
		qsort(all, intervals->count, sizeof(*all), compare_starts);
	for (size_t i = 0; i < intervals->count; i++) {
		if (!count || all[i].start > all[count - 1].end)
			all[count++] = all[i];
		else if (all[i].end > all[count - 1].end)
			all[count - 1].end = all[i].end;
	}
	intervals->count = count;
}

static void make_room(struct intervals *intervals)
{
	size_t forgotten = 0;

	merge(intervals);
	if (intervals->count > INTERVALS_MAX / 2)
		forgotten = intervals->count / 2;
	for (size_t i = 0; i < forgotten; i++)
		interval_add(&intervals->before, intervals->all[i].start, intervals->all[i].end);
	intervals->count -= forgotten;
	memmove(intervals->all, intervals->all + forgotten,
		intervals->count * sizeof(*intervals->all));
}

void intervals_add(struct intervals *intervals, struct arena *arena, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	if (intervals->count == INTERVALS_MAX)
		make_room(intervals);
	if (ARENA_GROW(arena, intervals->all, intervals->room, intervals->count + 1))
		intervals->all[intervals->count++] = (struct interval) { start, end };
}

uint64_t intervals_measure(struct intervals *intervals)
{
	struct interval_union whole = intervals->before;

	merge(intervals);
	for (size_t i = 0; i < intervals->count; i++)
		interval_add(&whole, intervals->all[i].start, intervals->all[i].end);
	return whole.measure;
}
