/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "totals": the job's I/O by class. Knows nothing of files, processes or doors.
 *
 * Counts, errors, bytes and summed thread time are exact even where events were lost: to what the
 * rows say is added what the kernel counted beyond them (for a complete trace both together are the
 * kernel's own count; an incomplete one has rows alone). The class of a lost event is known,
 * because the kernel counts by operation. Merged time can only come from rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/tally.h"

struct totals {
	const struct job *job;
	struct tally classes[IO_CLASS_COUNT];
	struct tally all; /* of all classes together: time alone means something */
};

#define SUM(member) offsetof(struct tally, member)

static const struct tally_field time_fields[] = {
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, SUM(thread_time_ns), 0 },
};

static const struct tally_field read_fields[] = {
	{ "count", "count", UNIT_COUNT, SUM(count), 0 },
	{ "errors", "errors", UNIT_COUNT, SUM(errors), 0 },
	{ "bytes", "bytes", UNIT_BYTES, SUM(bytes), 0 },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, SUM(thread_time_ns), 0 },
	{ "fetched_bytes", "into cache", UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
};

/* Most pages that writes bring into the cache are new: storage had no part in it. */
static const struct tally_field write_fields[] = {
	{ "count", "count", UNIT_COUNT, SUM(count), 0 },
	{ "errors", "errors", UNIT_COUNT, SUM(errors), 0 },
	{ "bytes", "bytes", UNIT_BYTES, SUM(bytes), 0 },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, SUM(thread_time_ns), 0 },
	{ "fetched_bytes", NULL, UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
};

/* Metadata and sync calls move no bytes for their caller: `bytes` is null. */
#define NEVER ~0u
static const struct tally_field still_fields[] = {
	{ "count", "count", UNIT_COUNT, SUM(count), 0 },
	{ "errors", "errors", UNIT_COUNT, SUM(errors), 0 },
	{ "bytes", NULL, UNIT_BYTES, SUM(bytes), NEVER },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, SUM(thread_time_ns), 0 },
	{ "fetched_bytes", NULL, UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
};

static const struct tally_field fault_fields[] = {
	{ "faults", "faults", UNIT_COUNT, SUM(count), 0 },
	{ "major", "major faults", UNIT_COUNT, SUM(major), 0 },
	{ "fetched_bytes", "into cache", UNIT_BYTES, SUM(fetched_bytes), JOB_PAGECACHE },
	{ "time_ns", "time", UNIT_NS, SUM(time.measure), 0 },
	{ "thread_time_ns", "thread time", UNIT_NS, SUM(thread_time_ns), 0 },
};

static const struct tally_group all_group = { "io", "all I/O", 0, TALLY_FIELDS(time_fields) };

static const struct tally_group class_groups[IO_CLASS_COUNT] = {
	[IO_READ] = { "read", "read", JOB_SYSCALL, TALLY_FIELDS(read_fields) },
	[IO_WRITE] = { "write", "write", JOB_SYSCALL, TALLY_FIELDS(write_fields) },
	[IO_METADATA] = { "metadata", "metadata", JOB_SYSCALL, TALLY_FIELDS(still_fields) },
	[IO_SYNC] = { "sync", "sync", JOB_SYSCALL, TALLY_FIELDS(still_fields) },
	[IO_MMAP_READ] = { "mmap_read", "mmap read", JOB_FAULT, TALLY_FIELDS(fault_fields) },
	[IO_MMAP_WRITE] = { "mmap_write", "mmap write", JOB_FAULT, TALLY_FIELDS(fault_fields) },
};

/* Faults that only the kernel's totals tell of. */
static const struct {
	const char *operation, *name, *title;
} memory_faults[] = {
	{ "anonymous_fault", "anonymous_faults", "anonymous faults" },
	{ "shmem_fault", "shmem_faults", "shared memory faults" },
};
#define MEMORY_FAULTS (sizeof(memory_faults) / sizeof(memory_faults[0]))

/* Null: the layer below the page cache is not recorded. */
static const char *const storage[] = { "storage_read", "storage_write" };

static int begin(const struct job *job, void **state)
{
	struct totals *totals = calloc(1, sizeof(*totals));

	if (!totals)
		return -ENOMEM;
	totals->job = job;
	*state = totals;
	return 0;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct totals *totals = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (event->class == IO_NONE)
			continue;
		tally_add(&totals->classes[event->class], event);
		if (event->flags & EVENT_TIMED)
			interval_add(&totals->all.time, event->start, event->end);
	}
	return 0;
}

static void add_unseen(struct totals *totals)
{
	for (size_t i = 0; i < totals->job->operation_count; i++) {
		const struct operation *operation = &totals->job->operations[i];
		struct event_unseen places[2];
		size_t count = event_unseen(operation->family, places);

		for (size_t j = 0; j < count; j++)
			tally_add_unseen(&totals->classes[places[j].class], &operation->unseen,
					 &places[j]);
	}
	for (size_t i = 0; i < IO_CLASS_COUNT; i++)
		totals->all.thread_time_ns += totals->classes[i].thread_time_ns;
}

/* The kernel's totals are whole only at the end of every trace. */
static const struct operation *find_memory_faults(const struct job *job, const char *name)
{
	if (!job->complete || !(job->layers & JOB_FAULT))
		return NULL;
	for (size_t i = 0; i < job->operation_count; i++)
		if (!strcmp(job->operations[i].name, name) &&
		    job->operations[i].family == TRACE_ANONFAULT)
			return &job->operations[i];
	return NULL;
}

static int add_memory_fault_columns(struct table *table, const struct job *job, size_t i)
{
	char name[64], title[64];
	int status;

	if (!find_memory_faults(job, memory_faults[i].operation))
		return table_add_column(table, memory_faults[i].name, NULL, UNIT_NONE);
	snprintf(name, sizeof(name), "%s.count", memory_faults[i].name);
	status = table_add_column(table, name, memory_faults[i].title, UNIT_COUNT);
	if (status)
		return status;
	snprintf(name, sizeof(name), "%s.time_ns", memory_faults[i].name);
	snprintf(title, sizeof(title), "%s thread time", memory_faults[i].title);
	return table_add_column(table, name, title, UNIT_NS);
}

static int fill(void *state, struct table *table)
{
	struct totals *totals = state;
	const struct job *job = totals->job;
	struct cell *cell;
	int status;

	add_unseen(totals);
	status = tally_add_columns(table, job, &all_group);
	for (size_t i = 0; i < IO_CLASS_COUNT && !status; i++)
		status = tally_add_columns(table, job, &class_groups[i]);
	for (size_t i = 0; i < MEMORY_FAULTS && !status; i++)
		status = add_memory_fault_columns(table, job, i);
	for (size_t i = 0; i < sizeof(storage) / sizeof(storage[0]) && !status; i++)
		status = table_add_column(table, storage[i], NULL, UNIT_NONE);
	if (!status)
		status = table_add_row(table, &cell);
	if (status)
		return status;
	cell = tally_fill(cell, job, &all_group, &totals->all);
	for (size_t i = 0; i < IO_CLASS_COUNT; i++)
		cell = tally_fill(cell, job, &class_groups[i], &totals->classes[i]);
	for (size_t i = 0; i < MEMORY_FAULTS; i++) {
		const struct operation *operation;

		operation = find_memory_faults(job, memory_faults[i].operation);
		if (!operation) {
			cell++;
			continue;
		}
		cell_uint(cell++, operation->unseen.count);
		cell_uint(cell++, operation->unseen.thread_time_ns);
	}
	return 0;
}

const struct analysis analysis_totals = {
	.name = "totals",
	.title = "Totals",
	.shape = TABLE_RECORD,
	.begin = begin,
	.events = add_events,
	.fill = fill,
	.end = free,
};
