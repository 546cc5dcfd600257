/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where the time of operations was, in each table that tells it. Knows nothing of how that is
 * found.
 */
#include "analysis/chain.h"

/* Where time was, in each table of it. */
static const struct table_column where[] = {
	{ "device_ns", "at the device", UNIT_NS,
	  "of it, with one of the requests at a device at least",
	  TABLE_UINT(struct chain_line, time.device_ns), 0 },
	{ "queue_ns", "in the queue", UNIT_NS, "of it, with one waiting and none at a device",
	  TABLE_UINT(struct chain_line, time.queue_ns), 0 },
	{ "other_ns", "neither", UNIT_NS,
	  "the rest: locks, what others fetch or write, the processor",
	  TABLE_UINT(struct chain_line, other_ns), 0 },
};

int chain_add_columns(struct table *table)
{
	return table_add_columns(table, TABLE_COLUMNS(where));
}

static const struct table_column whole[] = {
	{ "time_ns", NULL, UNIT_NS,
	  "time of operations while which requests of their own were under way, summed over "
	  "threads",
	  TABLE_UINT(struct chain_line, time.time_ns), 0 },
};

int chain_add_group(struct table *table, size_t base)
{
	const unsigned int needs = JOB_BLOCK | JOB_EVENTS;
	const struct table_group time = { "waiting", NULL, needs, TABLE_COLUMNS(whole) };
	const struct table_group parts = { "waiting", "waiting", needs, TABLE_COLUMNS(where) };
	int status = table_add_group(table, &time, base);

	/* Without the layer the first of them stands for all. */
	if (!status && (table->recorded & needs) == needs)
		status = table_add_group(table, &parts, base);
	return status;
}

struct chain_line chain_line(const struct chain_time *time)
{
	return (struct chain_line) {
		.time = *time,
		.other_ns = clock_subtract(time->time_ns, time->queue_ns + time->device_ns),
	};
}
