/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums that the page has for a row in each stretch of the run (picture_sums.h). A column that
 * equals some of these sums over the whole run names them, so that the page can show the same
 * number for a part of the run.
 */
#pragma once

/*
 * For operations: calls and faults, bytes moved, bytes added to the page cache. For spans: how many
 * began, and their time. For devices: requests, their bytes and time; marked ones read. Counts
 * belong to the stretch where each began; all else is spread evenly. Merged time is exact: the time
 * in each stretch in which at least one was in flight.
 */
enum picture_member {
	PICTURE_COUNT,
	PICTURE_ERRORS,
	PICTURE_METADATA_CALLS,
	PICTURE_READ_FAULTS, /* of IO_MMAP_READ and IO_MMAP_WRITE */
	PICTURE_WRITE_FAULTS,
	PICTURE_MAJOR,
	PICTURE_OPENS,
	PICTURE_MARKED, /* see struct row_of */
	PICTURE_COUNTS,
	PICTURE_READ_BYTES = PICTURE_COUNTS,
	PICTURE_WRITE_BYTES,
	PICTURE_FETCHED, /* bytes; by faults of IO_MMAP_READ and IO_MMAP_WRITE */
	PICTURE_READ_FAULTED,
	PICTURE_WRITE_FAULTED,
	PICTURE_CREATED,
	PICTURE_DIRTIED,
	PICTURE_THREAD_TIME, /* ns, summed over threads */
	PICTURE_TIME,	     /* merged */
	PICTURE_MEMBERS,
};

/* Bits for table_column.stretch. */
#define STRETCH(member) (1u << PICTURE_##member)
#define STRETCH_UNMARKED (1u << PICTURE_MEMBERS) /* PICTURE_COUNT without PICTURE_MARKED */
#define STRETCH_MOVED (STRETCH(READ_BYTES) | STRETCH(WRITE_BYTES))
