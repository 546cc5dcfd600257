/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ways of doing I/O that cost, as calls show them: for the table "io_patterns" and for findings.
 */
#ifndef FAULTLINE_IO_PATTERNS_H
#define FAULTLINE_IO_PATTERNS_H

#include "analysis/measured.h"
#include "analysis/model/tally.h"

enum io_pattern {
	IO_PATTERN_SYNC_WRITE,	 /* writes to files that are open with O_SYNC or O_DSYNC */
	IO_PATTERN_FSYNC,	 /* fsync and its like */
	IO_PATTERN_SMALL_DIRECT, /* direct reads and writes of less than 64 KiB */
	IO_PATTERN_SMALL_WRITE,	 /* buffered writes of at most 4 KiB, but for writes as the first */
	IO_PATTERN_PARTIAL_WRITE, /* writes that had to read the rest of their pages from storage */
	IO_PATTERN_SHORT_READ, /* reads that got nothing, or less than they asked for in mid-file */
	IO_PATTERN_FAILED,     /* calls that failed, but for those that name a path */
	IO_PATTERN_LOCK,       /* calls that wait for locks of files */
	IO_PATTERN_SHARED_WRITE, /* buffered writes while another thread wrote to the file: the wait
				  */
	IO_PATTERN_MODULE,  /* metadata calls on modules of Python and where they are looked for */
	IO_PATTERNS_LISTED, /* those before are rows of the table, and add up over runs */
	IO_PATTERN_SHARED_ACROSS = IO_PATTERNS_LISTED, /* as IO_PATTERN_SHARED_WRITE, while a
							* process of another trace wrote */
	IO_PATTERNS,
};

#define IO_PATTERN_SMALL_DIRECT_BYTES 65536
#define IO_PATTERN_SMALL_WRITE_BYTES 4096
/* A free lock takes about 1 us: who takes one for longer waits, for its holder or for a server. */
#define IO_PATTERN_LOCK_WAIT_NS 10000

struct io_pattern_view {
	struct tally tally;
	struct table_text path; /* of the file with the most time in it; NULL: none is known */
	uint64_t files;
};

struct io_pattern_view io_patterns_view(const struct measured *measured,
					enum io_pattern io_pattern);

#endif
