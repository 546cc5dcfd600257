/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ways of doing I/O that cost, as calls show them: for the table "habits" and for findings.
 */
#ifndef FAULTLINE_HABITS_H
#define FAULTLINE_HABITS_H

#include "analysis/measured.h"
#include "analysis/model/tally.h"

enum habit {
	HABIT_SYNC_WRITE,    /* writes to files that are open with O_SYNC or O_DSYNC */
	HABIT_FSYNC,	     /* fsync and its like */
	HABIT_SMALL_DIRECT,  /* direct reads and writes of less than 64 KiB */
	HABIT_SMALL_WRITE,   /* buffered writes of at most 4 KiB, but for writes as the first */
	HABIT_PARTIAL_WRITE, /* writes that had to read the rest of their pages from storage */
	HABIT_SHORT_READ,    /* reads that got nothing, or less than they asked for in mid-file */
	HABIT_FAILED,	     /* calls that failed, but for those that name a path */
	HABIT_LOCK,	     /* calls that wait for locks of files */
	HABIT_SHARED_WRITE,  /* buffered writes while another thread wrote to the file: the wait */
	HABIT_MODULE,	     /* metadata calls on modules of Python and where they are looked for */
	HABITS_LISTED,	     /* those before are rows of the table, and add up over runs */
	HABIT_SHARED_ACROSS = HABITS_LISTED, /* as HABIT_SHARED_WRITE, while a process of another
					      * trace wrote */
	HABITS,
};

#define HABIT_SMALL_DIRECT_BYTES 65536
#define HABIT_SMALL_WRITE_BYTES 4096
/* A free lock takes about 1 us: who takes one for longer waits, for its holder or for a server. */
#define HABIT_LOCK_WAIT_NS 10000

struct habit_view {
	struct tally tally;
	struct table_text path; /* of the file with the most time in it; NULL: none is known */
	uint64_t files;
};

struct habit_view habits_view(const struct measured *measured, enum habit habit);

#endif
