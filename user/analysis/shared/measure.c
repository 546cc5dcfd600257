/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The measures of I/O and their columns. */
#include "analysis/shared/measure.h"

#define SUM(member) TABLE_UINT(struct tally, member)
#define NEVER ~0u /* never recorded: null */

struct measure_part {
	unsigned int bit; /* MEASURE_* */
	struct table_column column;
};

#define TIMES                                                                                      \
	{ MEASURE_TIME,                                                                            \
	  { "time_ns", "time", UNIT_NS, KIND_UNION,                                                \
	    "time with at least one such operation in progress (union over threads)",              \
	    SUM(time.measure), 0, STRETCH(TIME) } },                                               \
	{                                                                                          \
		MEASURE_THREAD_TIME,                                                               \
		{                                                                                  \
			"thread_time_ns", "thread time", UNIT_NS, KIND_THREAD,                     \
				"time of the operations, summed over threads",                     \
				SUM(thread_time_ns), 0, STRETCH(THREAD_TIME)                       \
		}                                                                                  \
	}

#define CACHED                                                                                     \
	{ MEASURE_FETCHED,                                                                         \
	  COLUMN(tally, fetched_bytes, "from storage", BYTES, SUM,                                 \
		 "bytes read from storage into the page cache, readahead included", JOB_PAGECACHE, \
		 STRETCH(FETCHED)) },                                                              \
	{                                                                                          \
		MEASURE_CREATED,                                                                   \
		{                                                                                  \
			"created_bytes", "newly cached", UNIT_BYTES, KIND_SUM,                     \
				"bytes of new page-cache pages filled by writes",                  \
				SUM(created_bytes), JOB_PAGECACHE, STRETCH(CREATED)                \
		}                                                                                  \
	}

#define ERRORS                                                                                     \
	{                                                                                          \
		MEASURE_ERRORS,                                                                    \
		{                                                                                  \
			"errors", "errors", UNIT_COUNT, KIND_SUM, "operations that failed",        \
				SUM(errors), 0, STRETCH(ERRORS)                                    \
		}                                                                                  \
	}

#define MOVING                                                                                     \
	{ MEASURE_COUNT,                                                                           \
	  COLUMN(tally, count, "count", COUNT, SUM, "number of operations", 0, STRETCH(COUNT)) },  \
		ERRORS,                                                                            \
		{ MEASURE_BYTES,                                                                   \
		  COLUMN(tally, bytes, "bytes", BYTES, SUM,                                        \
			 "bytes moved between files and the program", 0, STRETCH_MOVED) },         \
		TIMES, CACHED

/* Calls that move bytes. */
static const struct measure_part moving[] = { MOVING };

static const struct measure_part writing[] = {
	MOVING,
	{ MEASURE_READ_FOR_WRITE, COLUMN(tally, read_for_write_bytes, "read for write", BYTES, SUM,
					 "bytes read from storage to complete partially written "
					 "pages, not included in created_bytes",
					 JOB_READ_FOR_WRITE) },
};

/* Calls that do not. */
static const struct measure_part still[] = {
	{ MEASURE_COUNT,
	  COLUMN(tally, count, "calls", COUNT, SUM, "number of operations", 0, STRETCH(COUNT)) },
	ERRORS,
	{ MEASURE_BYTES,
	  COLUMN(tally, bytes, NULL, BYTES, SUM, "always null: these calls move no file data",
		 NEVER, STRETCH_MOVED) },
	TIMES,
	CACHED,
};

static const struct measure_part faults[] = {
	{ MEASURE_COUNT,
	  { "faults", "faults", UNIT_COUNT, KIND_SUM,
	    "page faults on mapped files, except write faults on shared mappings", SUM(count), 0,
	    STRETCH(COUNT) } },
	{ MEASURE_MAJOR, COLUMN(tally, major, "major", COUNT, SUM,
				"major faults, which waited for storage", 0, STRETCH(MAJOR)) },
	CACHED,
	TIMES,
};

/* Whole folios: an upper bound of what was stored, and what will be written back. */
static const struct measure_part stores[] = {
	{ MEASURE_COUNT,
	  { "faults", "faults", UNIT_COUNT, KIND_SUM,
	    "page faults on mapped files; for mmap_write only write faults on shared mappings",
	    SUM(count), 0, STRETCH(COUNT) } },
	{ MEASURE_MAJOR, COLUMN(tally, major, "major", COUNT, SUM,
				"major faults, which waited for storage", 0, STRETCH(MAJOR)) },
	CACHED,
	{ MEASURE_DIRTIED, COLUMN(tally, dirtied_bytes, "dirtied", BYTES, SUM,
				  "bytes of whole folios dirtied by stores through mappings: upper "
				  "bound of what was stored to",
				  JOB_DIRTIED, STRETCH(DIRTIED)) },
	TIMES,
};

static const struct measure_part times[] = { TIMES };

#define PARTS(list) (list), sizeof(list) / sizeof((list)[0])

static const struct {
	const char *name, *title;
	unsigned int needs; /* JOB_* */
	const struct measure_part *parts;
	size_t count;
	/* The sums of a row's series that columns show, if the series covers all measures. */
	struct {
		unsigned int bit, stretch;
	} of_row[2];
} measures[MEASURES] = {
	[IO_READ] = { "read",
		      "read",
		      JOB_MOVED,
		      PARTS(moving),
		      { { MEASURE_BYTES, STRETCH(READ_BYTES) } } },
	[IO_WRITE] = { "write",
		       "write",
		       JOB_MOVED,
		       PARTS(writing),
		       { { MEASURE_BYTES, STRETCH(WRITE_BYTES) } } },
	[IO_METADATA] = { "metadata",
			  "metadata",
			  JOB_SYSCALL,
			  PARTS(still),
			  { { MEASURE_COUNT, STRETCH(METADATA_CALLS) } } },
	[IO_SYNC] = { "sync", "sync", JOB_MOVED, PARTS(still) },
	[IO_MMAP_READ] = { "mmap_read",
			   "mmap read",
			   JOB_FAULT,
			   PARTS(faults),
			   { { MEASURE_COUNT, STRETCH(READ_FAULTS) },
			     { MEASURE_FETCHED, STRETCH(READ_FAULTED) } } },
	[IO_MMAP_WRITE] = { "mmap_write", "mmap write", JOB_FAULT, PARTS(stores) },
	[MEASURE_MMAP] = { "mmap",
			   "mmap",
			   JOB_FAULT,
			   PARTS(stores),
			   { { MEASURE_COUNT, STRETCH(READ_FAULTS) | STRETCH(WRITE_FAULTS) },
			     { MEASURE_MAJOR, STRETCH(MAJOR) } } },
	[MEASURE_IO] = { "io", "all I/O", JOB_IO, PARTS(times) },
};

const char *measure_name(unsigned int measure)
{
	return measures[measure].name;
}

static unsigned int stretch_of_row(unsigned int measure, unsigned int bit)
{
	for (size_t i = 0; i < sizeof(measures->of_row) / sizeof(measures->of_row[0]); i++)
		if (measures[measure].of_row[i].bit == bit)
			return measures[measure].of_row[i].stretch;
	return 0;
}

void measure_add_columns(struct table *table, unsigned int measure, unsigned int columns,
			 unsigned int titled, size_t base)
{
	struct table_column chosen[sizeof(writing) / sizeof(writing[0])];
	struct table_group group = {
		.name = measures[measure].name,
		.title = measures[measure].title,
		.needs = measures[measure].needs,
		.columns = chosen,
	};

	for (size_t i = 0; i < measures[measure].count; i++) {
		const struct measure_part *part = &measures[measure].parts[i];

		if (!(part->bit & columns))
			continue;
		chosen[group.count] = part->column;
		if (!(part->bit & titled))
			chosen[group.count].title = NULL;
		if (table->shape == TABLE_LIST)
			chosen[group.count].stretch = stretch_of_row(measure, part->bit);
		group.count++;
	}
	table_add_group(table, &group, base);
}
