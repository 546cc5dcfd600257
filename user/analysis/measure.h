/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is measured of I/O, each measure and each of its columns listed once. Tables choose from it
 * what they show. Knows nothing of what the sums are over.
 */
#ifndef FAULTLINE_MEASURE_H
#define FAULTLINE_MEASURE_H

#include "analysis/table/table.h"
#include "analysis/model/tally.h"

/* A measure is one of enum io_class, or one of these. */
enum measure {
	MEASURE_MMAP = IO_CLASS_COUNT, /* faults and map calls, reading and writing */
	MEASURE_IO,		       /* all together: time alone means something */
	MEASURES,
};

/* Columns of a measure, as bits. They stand in this order. */
#define MEASURE_COUNT (1u << 0) /* of operations or of faults */
#define MEASURE_ERRORS (1u << 1)
#define MEASURE_MAJOR (1u << 2) /* of faults */
#define MEASURE_BYTES (1u << 3) /* not of faults; null where none are moved */
#define MEASURE_FETCHED (1u << 4)
#define MEASURE_CREATED (1u << 5)
#define MEASURE_DIRTIED (1u << 6) /* of faults that may be stores */
#define MEASURE_TIME (1u << 7)
#define MEASURE_THREAD_TIME (1u << 8)
#define MEASURE_READ_FOR_WRITE (1u << 9) /* of calls that write */

/*
 * Adds columns "read.count" ... of a struct tally that stands at `base` in what table_add will be
 * given, those that the measure has of `columns`; only those of `titled` are for the text report,
 * too. A measure whose layer was not recorded (table.recorded: JOB_*) is one column that is null.
 * Returns 0 or -ENOMEM.
 */
int measure_add_columns(struct table *table, unsigned int measure, unsigned int columns,
			unsigned int titled, size_t base);
/* "read" ... */
const char *measure_name(unsigned int measure);

#endif
