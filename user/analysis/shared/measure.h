/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Measures of I/O and their columns, each listed once. Tables select what they show. */
#pragma once

#include "analysis/table/table.h"
#include "analysis/events/tally.h"

/* A measure is an enum io_class or one of these. */
enum measure {
	MEASURE_MMAP = IO_CLASS_COUNT, /* faults and map calls, reads and writes */
	MEASURE_IO,		       /* everything: only its time is meaningful */
	MEASURES,
};

/* Columns of a measure, as bits, in this order. */
#define MEASURE_COUNT (1u << 0) /* operations or faults */
#define MEASURE_ERRORS (1u << 1)
#define MEASURE_MAJOR (1u << 2) /* faults only */
#define MEASURE_BYTES (1u << 3) /* not for faults; null if none are moved */
#define MEASURE_FETCHED (1u << 4)
#define MEASURE_CREATED (1u << 5)
#define MEASURE_DIRTIED (1u << 6) /* faults that may be stores */
#define MEASURE_TIME (1u << 7)
#define MEASURE_THREAD_TIME (1u << 8)
#define MEASURE_READ_FOR_WRITE (1u << 9) /* writes only */

/*
 * Adds columns "read.count" ... for the struct tally at offset `base` of the rows passed to
 * table_add: those in `columns` that the measure has. Only those in `titled` appear in the text
 * report. A measure whose layer was not recorded (table.recorded: JOB_*) becomes a single null
 * column.
 */
void measure_add_columns(struct table *table, unsigned int measure, unsigned int columns,
			 unsigned int titled, size_t base);
/* "read" ... */
const char *measure_name(unsigned int measure);
