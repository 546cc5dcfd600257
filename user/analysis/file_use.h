/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was done to each file, summed up in passing. There may be a million of them, most used by
 * one process and read once: what few files need stands apart. Knows nothing of tables but what a
 * row of "files" holds.
 */
#ifndef FAULTLINE_FILE_USE_H
#define FAULTLINE_FILE_USE_H

#include "analysis/files.h"
#include "analysis/base/map.h"
#include "analysis/model/series.h"
#include "arena.h"

/* How much of the cache a fault maps at once (fault_around_bytes). */
#define FAULT_AROUND_BYTES 65536

/* Calls that move no bytes. */
struct still_sum {
	uint64_t count;
	struct interval_union time;
};

/* Calls that read, or that write; or faults. */
struct moved_sum {
	uint64_t count, bytes, fetched_bytes, created_bytes;
	struct interval_union time;
};

/* A process's position in an open file: the offset at which its next access would be consecutive,
 * and the same for its next read, each plus 1; 0 before the first. */
struct position {
	uint64_t next, next_read;
	uint32_t process;
	uint32_t open_file : EVENT_OPEN_FILE_BITS; /* used last; 0: not known */
	bool closed : 1;  /* a descriptor of it was closed since its last use */
	bool several : 1; /* the process has had several open files of this file at once */
};

/* Where a thread's next access would follow, plus 1; 0 before the first. */
struct stream {
	uint32_t thread; /* see file_order_stream_key */
	uint64_t next;
	uint64_t resume; /* ... and where it would have, before it jumped ahead */
};

#define STREAMS 16

/* Threads each in an order of their own make none together. */
struct order {
	uint64_t patterns[PATTERNS];
	struct stream first;
	struct stream *others; /* STREAMS, by thread; the last one with a slot has it */
	uint64_t known, back;  /* see struct jump_sums */
};

/* Of files that are mapped, synced, truncated, both read and written, read past the page cache,
 * advised on, or brought in by others. */
struct file_use_more {
	struct moved_sum other, mapped; /* other: see file_use.moved */
	uint64_t errors[2];		/* of calls that read, and that write */
	uint64_t major, dirtied_bytes;	/* of what is mapped */
	uint64_t read_for_write_bytes;	/* by calls that write */
	uint64_t copied;		/* faults that copied a page */
	uint64_t aligned;		/* faults at the start of FAULT_AROUND_BYTES */
	uint64_t ranks[2];	      /* lowest and highest that mapped it, each plus 1; 0: none */
	uint64_t next_fault;	      /* as position.next of the first process */
	struct order *faults, *reads; /* NULL: none; reads: of a file that is ACCESSED_MIXED */
	uint64_t faulted_bytes, furthest;	 /* counting only faults */
	uint64_t direct_bytes;			 /* read with O_DIRECT */
	uint64_t advised;			 /* calls of fadvise that fetched nothing */
	struct still_sum sync, listing, locking; /* listing and locking are in metadata, too */
	struct page_sums still;			 /* what metadata and sync calls brought in */
	struct page_sums unattributed, indirect;
	bool truncated;
	uint64_t size_bytes; /* as it was truncated to, after it was last looked at */
};

/* By calls that read or write; by these alone up to ACCESSED_IN_ORDER, where file_use.writes says
 * by which. */
enum { ACCESSED_NEVER, ACCESSED_ONCE, ACCESSED_IN_ORDER, ACCESSED_MIXED };

struct file_use {
	struct still_sum metadata;
	struct moved_sum moved;	  /* calls that read, or those that write: which came first */
	uint64_t furthest;	  /* where the furthest access by calls ended */
	struct position position; /* of the first process, where there is any */
	union {
		struct order *calls; /* ACCESSED_IN_ORDER and _MIXED */
		struct {
			uint32_t process, thread;
		} once; /* ACCESSED_ONCE: whose it was; thread: as of a stream */
	};
	struct file_use_more *more;
	uint32_t opens;		 /* stops counting at UINT32_MAX */
	uint32_t processes : 26; /* that used it */
	uint32_t accessed : 2;
	bool writes : 1; /* what was moved was written */
	bool unlinked : 1;
	bool loaded : 1, known : 1; /* see loaded_is; known: it was asked */
};

_Static_assert(sizeof(struct file_use) == 128, "of a million files two lines of cache each");

/* Other pairs of a process and a file come again and again. */
#define PAIR_SLOTS 1024

struct pair {
	struct position position;
	uint64_t next_fault;
};

struct pair_slot {
	uint64_t key;
	struct pair *pair; /* in the map as it was ... */
	size_t map_slots;  /* ... with so many: it moves as it grows. 0: free */
};

/* The position in an open file that is not the one used last. */
struct aside {
	uint64_t next, next_read;
};

struct file_uses {
	const struct job *job;
	struct file_use *uses; /* by number of the file */
	struct arena arena;    /* of what stands apart */
	struct map pairs;      /* process << 32 | file -> struct pair, but of first processes */
	struct map asides;     /* the same, position.open_file -> struct aside */
	size_t pairs_most;     /* of both; accesses of further ones are of no pattern ... */
	uint64_t beyond;       /* ... and so many */
	struct pair none;
	struct pair_slot lately[PAIR_SLOTS]; /* found lately, by the low bits of both */
};

/* Return 0 or -ENOMEM; to be freed after an error, too. The job must outlive it. */
int file_uses_init(struct file_uses *uses, const struct job *job);
void file_uses_free(struct file_uses *uses);
/* Adds events in the order of their starts. */
int file_uses_add(struct file_uses *uses, const struct event *events, size_t count);
/* The same of some that are alike. */
int file_uses_add_series(struct file_uses *uses, const struct event_series *series);

/* Whether anything was done to a file. */
bool file_uses_any(const struct file_uses *uses, uint32_t file);
/* What stands apart, or nothing of it. */
const struct file_use_more *file_uses_more(const struct file_uses *uses, uint32_t file);
const struct order *file_uses_order(const struct file_uses *uses, uint32_t file,
				    unsigned int access);
/* Sums of a use: those of calls that move no bytes have no more than count, time, and what came in.
 */
void file_uses_tally(const struct file_uses *uses, uint32_t file, enum use use,
		     struct tally *tally);

#endif
