/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "access": where time and bytes went, by method and class of I/O.
 */
#ifndef FAULTLINE_ACCESS_H
#define FAULTLINE_ACCESS_H

#include "analysis/measured.h"

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

/* Time of all I/O of the run, a union, from the finished table; 0: not known. */
uint64_t access_io_ns(const struct table *access);
/* The directory with the most time in metadata calls; no bytes where none has a name. Valid until
 * the next call. */
struct table_text access_metadata_place(const struct measured *measured);

#endif
