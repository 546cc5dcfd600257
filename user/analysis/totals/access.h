/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "access": time and bytes by access method and I/O class. */
#pragma once

#include "analysis/shared/results.h"

enum access_column {
	ACCESS_NAME,
	ACCESS_TIME,
	ACCESS_SHARE,
	ACCESS_COUNT,
	ACCESS_ERRORS,
	ACCESS_BYTES,
	ACCESS_FETCHED,
	ACCESS_CREATED,
	ACCESS_THREAD_TIME,
	ACCESS_COLUMNS,
};

/* Returns the run's I/O time from the finished table; 0: unknown. */
uint64_t access_io_ns(const struct table *access);
/* Returns the lowest directory with more than half of the metadata time, those below it included;
 * empty if there is none. */
struct table_text access_metadata_place(const struct results *results);
