/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums of the activity on each file. There may be a million files, most used by one process and
 * read once: what few files need is allocated separately.
 */
#pragma once

#include "analysis/files/files.h"
#include "collections/map.h"
#include "analysis/events/series.h"
#include "collections/arena.h"

/* How much of the page cache a fault maps at once (fault_around_bytes). */
#define FAULT_AROUND_BYTES 65536

/* Calls that move no bytes. */
struct still_sum {
	uint64_t count;
	struct interval_union time;
};

/* Reads, writes or faults. */
struct moved_sum {
	uint64_t count, bytes, fetched_bytes, created_bytes;
	struct interval_union time;
};

/* A process's position in an open file: the offset at which its next access would be consecutive,
 * and the same for its next read, each plus 1; 0 before the first. */
struct position {
	uint64_t next, next_read;
	uint32_t process;
	uint32_t open_file : EVENT_OPEN_FILE_BITS; /* used last; 0: unknown */
	bool closed : 1;  /* a descriptor of it was closed since its last use */
	bool several : 1; /* the process has had the file open several times at once */
};

/* Where a thread's next access would be consecutive, plus 1; 0 before the first. */
struct stream {
	uint32_t thread; /* see file_order_stream_key */
	uint64_t next;
	uint64_t resume; /* ... and where it would have been before a jump ahead */
};

#define STREAMS 16

/* Threads that each access a file in order are not in order together. */
struct order {
	uint64_t patterns[PATTERNS];
	struct stream first;
	struct stream *others; /* STREAMS entries, by thread; a slot belongs to its latest thread */
	uint64_t known, back;  /* see struct jump_sums */
	uint64_t near;	       /* faults 2 pages to FAULT_AROUND_BYTES past the thread's last */
};

/* For files that are mapped, synced, truncated, both read and written, read with O_DIRECT, advised
 * on, or fetched by operations on other files. */
struct file_use_more {
	struct moved_sum other, mapped;	  /* other: see file_use.moved */
	uint64_t errors[2];		  /* of reads and of writes */
	uint64_t major, dirtied_bytes;	  /* through mappings */
	uint64_t read_for_write_bytes;	  /* by writes */
	uint64_t copied;		  /* faults that copied a page */
	uint64_t aligned;		  /* faults at an edge of FAULT_AROUND_BYTES */
	uint64_t ranks[2];		  /* lowest and highest that mapped it, + 1; 0: none */
	uint64_t overwriters;		  /* bits of the ranks that opened it with O_TRUNC */
	uint64_t next_fault;		  /* like position.next, for the first process */
	struct order *faults, *reads;	  /* NULL: none; reads: if ACCESSED_MIXED */
	uint64_t faulted_bytes, furthest; /* by faults only */
	uint64_t direct_bytes;		  /* read with O_DIRECT */
	uint64_t advised;		  /* fadvise calls that fetched nothing */
	struct still_sum sync;
	struct still_sum listing, locking, overwriting; /* also in metadata */
	struct page_sums still;				/* fills by metadata and sync calls */
	struct page_sums unattributed, indirect;
	struct versions {
		uint64_t first_bytes; /* written by calls when the current one began */
		uint64_t last_bytes;  /* of the one before */
		uint64_t grown;	      /* larger than the one before */
		uint64_t repeated_bytes;
	} versions; /* each begins with an open that truncates the file */
	bool truncated;
	uint64_t size_bytes; /* after truncation, if later than its size was recorded */
};

/* By read and write calls; only by the kind in file_use.writes up to ACCESSED_IN_ORDER. */
enum { ACCESSED_NEVER, ACCESSED_ONCE, ACCESSED_IN_ORDER, ACCESSED_MIXED };

struct file_use {
	struct still_sum metadata;
	struct moved_sum moved;	  /* reads or writes, whichever came first */
	uint64_t furthest;	  /* end of the furthest access by a call */
	struct position position; /* of the first process, if any */
	union {
		struct order *calls; /* ACCESSED_IN_ORDER and _MIXED */
		struct {
			uint32_t process, thread;
		} once; /* ACCESSED_ONCE: by whom; thread: a stream key */
	};
	struct file_use_more *more;
	uint32_t opens;		 /* saturates at UINT32_MAX */
	uint32_t processes : 26; /* that used it */
	uint32_t accessed : 2;
	bool writes : 1; /* `moved` holds writes */
	bool unlinked : 1;
	bool loaded : 1, known : 1; /* loaded: see loaded_is; known: loaded is set */
};

_Static_assert(sizeof(struct file_use) == 128, "two cache lines for each of a million files");

/* Cache of (process, file) pairs, which recur. */
#define PAIR_SLOTS 1024

struct pair {
	struct position position;
	uint64_t next_fault;
};

struct pair_slot {
	uint64_t key;
	struct pair *pair; /* valid while the map ... */
	size_t map_slots;  /* ... has this many slots: it moves as it grows. 0: free */
};

/* The position in an open file other than the last one used. */
struct aside {
	uint64_t next, next_read;
};

struct file_uses {
	const struct job *job;
	struct file_use *uses; /* by file number */
	struct arena *arena;
	struct map pairs;  /* process << 32 | file -> struct pair, except first processes */
	struct map asides; /* the same, position.open_file -> struct aside */
	size_t pairs_max;  /* for both maps; accesses by further pairs have no pattern */
	uint64_t overflow; /* number of such accesses */
	struct pair none;
	struct pair_slot
		lately[PAIR_SLOTS]; /* recently found, by the low bits of process and file */
};

/* Ends the current version of a file, of which calls have written `written_bytes` so far: a larger
 * one is taken to repeat the one before. */
void file_versions_end(struct versions *versions, uint64_t written_bytes);

/* The job must outlive it. Errors are left in the arena. */
void file_uses_init(struct file_uses *uses, struct arena *arena, const struct job *job);
/* Adds events in order of start time. */
int file_uses_add(struct file_uses *uses, const struct event *events, size_t count);
/* The same for a series of similar events. */
int file_uses_add_series(struct file_uses *uses, const struct event_series *series);

/* Whether there was any activity on a file. */
bool file_uses_any(const struct file_uses *uses, uint32_t file);
/* Returns what is allocated separately; zeros if nothing is. */
const struct file_use_more *file_uses_more(const struct file_uses *uses, uint32_t file);
const struct order *file_uses_order(const struct file_uses *uses, uint32_t file,
				    unsigned int access);
/* Sets the sums of a use. Calls that move no bytes have only count, time and page-cache fills. */
void file_uses_tally(const struct file_uses *uses, uint32_t file, enum use use,
		     struct tally *tally);

/* Returns what is known of a file. */
struct file_view file_uses_view(const struct file_uses *uses, uint32_t file);
/* The same, from the file's row in a merged report. */
struct file_view file_view_of_row(const struct table *table, size_t row);
