/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Activity by file, for the table "files" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/devices/chain.h"
#include "analysis/events/tally.h"
#include "base/units.h"

enum use { USE_READ, USE_WRITE, USE_MMAP, USE_METADATA, USE_SYNC, USES };

/* For any class but IO_NONE. */
static inline enum use files_use_of(enum io_class class)
{
	static const uint8_t by_class[] = {
		[IO_READ] = USE_READ, [IO_WRITE] = USE_WRITE,	 [IO_METADATA] = USE_METADATA,
		[IO_SYNC] = USE_SYNC, [IO_MMAP_READ] = USE_MMAP, [IO_MMAP_WRITE] = USE_MMAP,
	};

	return by_class[class];
}

/* How an access relates to the previous one of the same process and open file: see file_order.h.
 * BY_CALLS compares reads and writes together, BY_READS each read with the previous read. */
enum { SEQUENTIAL, CONSECUTIVE, RANDOM, PATTERNS };
enum { BY_CALLS, BY_FAULTS, BY_READS, ACCESSES };

/* Accesses that followed another of the same thread, and how many of them jumped backward. */
struct jump_sums {
	uint64_t known, back;
	bool several; /* several threads; unknown for several runs */
};

/* Page-cache fills. */
struct page_sums {
	uint64_t events, fetched_bytes, created_bytes;
};

/* A file as the table's columns see it. Unknown numbers are TABLE_NO_UINT. */
struct file_view {
	struct table_text path, filesystem;
	const char *host;
	uint64_t time_ns, fetched_bytes, created_bytes; /* of all uses */
	uint64_t ino, size_bytes, readahead_bytes, processes, opens, written_pages;
	uint64_t stripes, stripe_bytes; /* on Lustre */
	struct page_sums unattributed, indirect;
	uint64_t faulted_bytes;	     /* fetched by faults, not by map calls */
	uint64_t direct_bytes;	     /* read with O_DIRECT: bypassed the page cache */
	uint64_t advised;	     /* fadvise calls that fetched nothing */
	uint64_t listed, listing_ns; /* calls that list the directory, and their time */
	uint64_t locking_ns;	     /* time of calls that lock it; also in metadata */
	uint64_t overwriting_ns;     /* ... and of opens that truncate it */
	uint64_t overwrites;	     /* these opens */
	uint64_t grown;		     /* those of them after which more was written than before */
	uint64_t repeated_bytes;     /* ... and what had been written before each */
	uint64_t overwriters;	     /* ranks that do so */
	uint64_t aligned_faults;     /* at edges of 64 KiB: where a scan faults */
	uint64_t touched_pages;	     /* estimated: see touched_pages */
	uint64_t copied_pages, copied_bytes; /* by stores to private mappings */
	uint64_t first_rank, last_rank;	     /* lowest and highest rank that mapped it */
	uint32_t dev;
	uint64_t instance; /* of the device: see event_device */
	bool known, lost;  /* lost: its name was lost; path says so */
	bool loaded;	   /* see loaded_is */
	int8_t deleted;	   /* it had no name left; negative: unknown */
	uint64_t patterns[ACCESSES][PATTERNS];
	struct jump_sums jumps[ACCESSES];
	struct tally tallies[USES];
	struct chain_line waiting; /* set only in the table: zeros elsewhere */
};

/* Files are numbered from 0 to files_count; one number stands for all unknown files. In merged
 * reports the numbers are rows of the table, one of which may stand for several files. */
uint32_t files_count(const struct results *results);
/* Returns false if there was no activity on the file. */
bool files_used(const struct results *results, uint32_t file, struct file_view *view);
