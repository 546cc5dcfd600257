/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Costly I/O patterns seen in calls, for the table "io_patterns" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/events/tally.h"

enum io_pattern {
	IO_PATTERN_SYNC_WRITE,	  /* writes to files opened with O_SYNC or O_DSYNC */
	IO_PATTERN_FSYNC,	  /* fsync and similar calls */
	IO_PATTERN_SMALL_DIRECT,  /* direct reads and writes of less than 64 KiB */
	IO_PATTERN_SMALL_WRITE,	  /* buffered writes of at most 4 KiB, except sync writes */
	IO_PATTERN_PARTIAL_WRITE, /* writes that read from storage to complete partial pages */
	IO_PATTERN_SHORT_READ,	  /* reads that got nothing, or too little in mid-file */
	IO_PATTERN_FAILED,	  /* failed calls, except those that name a path */
	IO_PATTERN_LOCK,	  /* calls that wait for file locks */
	IO_PATTERN_SHARED_WRITE,  /* buffered writes that wait for another thread's write */
	IO_PATTERN_MODULE,	  /* metadata calls on Python modules and their search paths */
	IO_PATTERNS_LISTED,	  /* all above have rows in the table and add up over runs */
	IO_PATTERN_SHARED_ACROSS =
		IO_PATTERNS_LISTED, /* like IO_PATTERN_SHARED_WRITE, with another trace */
	IO_PATTERNS,
};

#define IO_PATTERN_SMALL_DIRECT_BYTES 65536
#define IO_PATTERN_SMALL_WRITE_BYTES 4096
/* Taking a free lock takes about 1 us; a longer call waits for the holder or for a server. */
#define IO_PATTERN_LOCK_WAIT_NS 10000

struct io_pattern_view {
	struct tally tally;
	uint64_t class_ns[IO_CLASS_COUNT]; /* thread time by class; 0 in merged reports */
	struct table_text path;		   /* of the file with the most time; NULL: unknown */
	uint64_t files;
};

struct io_pattern_view io_patterns_view(const struct results *results, enum io_pattern io_pattern);
/* Returns whether calls on a file, by its number, match a pattern; true for all files if there are
 * too many to know. Not for merged reports. */
bool io_patterns_has(const struct results *results, enum io_pattern io_pattern, uint32_t file);
