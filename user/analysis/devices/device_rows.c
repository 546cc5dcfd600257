/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Columns that the table "devices" needs for findings on merged reports, and reading them back. */
#include <stdio.h>
#include <string.h>

#include "analysis/devices/devices.h"
#include "analysis/shared/results.h"

/* Only requests that a thread waits for. */
static const struct table_column waited_columns[] = {
	COLUMN(device_waits, requests, NULL, COUNT, SUM,
	       "requests that a thread waits for: all reads, and synchronous writes"),
	COLUMN(device_waits, bytes, NULL, BYTES, SUM,
	       "bytes of the run in requests that a thread waits for"),
	COLUMN(device_waits, parts, NULL, COUNT, SUM, "bios of requests that a thread waits for"),
	COLUMN_AS(
		"queue_ns", device_waits, part_queue_ns, NULL, NS, SUM,
		"time from queueing until the driver received these bios, summed over bios; 0 for "
		"NFS requests that were sent again"),
	COLUMN_AS("service_ns", device_waits, part_service_ns, NULL, NS, SUM,
		  "time from the driver's receipt to completion, summed over these bios"),
	COLUMN_AS("time_ns", device_waits, time.measure, NULL, NS, COVERED,
		  "time with at least one of these bios in flight"),
	COLUMN_AS("thread_time_ns", device_waits, threads_time_ns, NULL, NS, THREAD,
		  "time with at least one of these bios in flight per thread, summed over threads"),
};

void device_rows_add_waits(struct table *table, enum device_use use, size_t base)
{
	char name[24];
	const struct table_group group = { name, NULL, 0, TABLE_COLUMNS(waited_columns) };

	snprintf(name, sizeof(name), "%s.waited", device_use_names[use]);
	table_add_group(table, &group, base);
}

/* A placeholder for an unknown value sets *open. */
static uint64_t number_at(const struct table *table, size_t row, const char *group,
			  const char *name, bool *open)
{
	char column[64];
	uint64_t value;

	snprintf(column, sizeof(column), "%s.%s", group, name);
	*open |= !table_number(table, row, column, &value);
	return value;
}

static struct trace_string text_at(const struct table *table, size_t row, const char *name)
{
	int number = table_find_column(table, name);
	const struct cell *cell = number < 0 ? NULL : &table_row(table, row)[number];

	if (!cell || cell->type != CELL_TEXT)
		return (struct trace_string) { NULL, 0 };
	return (struct trace_string) { cell->text, cell->length };
}

static void read_waits(const struct table *table, size_t row, const char *use,
		       struct device_view *view, struct device_waits *waits)
{
	char group[32];
	bool *open = &view->waits_open;

	snprintf(group, sizeof(group), "%s.waited", use);
#define READ(name) number_at(table, row, group, name, open)
	*waits = (struct device_waits) {
		.requests = READ("requests"),
		.bytes = READ("bytes"),
		.parts = READ("parts"),
		.part_queue_ns = number_at(table, row, group, "queue_ns",
					   view->mount ? &view->queue_unknown : open),
		.part_service_ns = READ("service_ns"),
		.time.measure = READ("time_ns"),
		.threads_time_ns = READ("thread_time_ns"),
		.service_p50_ns = number_at(table, row, use, "service_p50_ns", open),
	};
#undef READ
}

static void read_use(const struct table *table, size_t row, enum device_use use,
		     struct device_view *view)
{
	const char *name = device_use_names[use];
	char all[32];

	snprintf(all, sizeof(all), "all.%s", name);
	view->all_bytes += number_at(table, row, all, "bytes", &view->all_open);
	view->all_requests += number_at(table, row, all, "requests", &view->all_open);
	view->own_bytes += number_at(table, row, name, "bytes", &view->own_open);
	view->own_requests += number_at(table, row, name, "requests", &view->own_open);
	view->failed[use] = number_at(table, row, name, "errors", &view->own_open);
	read_waits(table, row, name, view, &view->waits[use]);
}

bool device_rows_view(const struct table *table, size_t number, struct device_view *view)
{
	const char *flush = "all.flush";
	int all = table_find_column(table, "all.flush.requests");
	struct trace_string dev;

	if (number >= table->row_count)
		return false;
	*view = (struct device_view) { .name = text_at(table, number, "name") };
	dev = text_at(table, number, "dev");
	view->mount = dev.length > 2 && !memcmp(dev.bytes, "0:", 2);
	if (!view->name.bytes)
		view->name = text_at(table, number, "dev");
	for (int use = DEVICE_READS; use <= DEVICE_WRITES; use++)
		read_use(table, number, use, view);
	view->all_known = all >= 0 && table_row(table, number)[all].type == CELL_UINT;
	view->flushes = number_at(table, number, flush, "requests", &view->all_open);
	view->flush_ns = number_at(table, number, flush, "time_ns", &view->all_open);
	return true;
}
