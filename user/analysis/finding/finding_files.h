/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about groups of files: the sums over those that match a rule, and the one with the most
 * time as their example.
 */
#pragma once

#include "analysis/files/files.h"
#include "analysis/finding/finding.h"

/* Evidence of such a rule; numbers are sums over all files that match it. */
struct file_group {
	struct table_text path, file; /* of the example */
	uint64_t files, others;	      /* others: without the example; TABLE_NO_UINT: none */
	uint64_t limit_bytes;	      /* memory limit that they may exceed; TABLE_NO_UINT: none */
	bool too_large;		      /* for half of the memory, or of that limit */
	uint64_t processes;	      /* of the file with the most */
	uint64_t overwriters;	      /* ranks, likewise; TABLE_NO_UINT: none */
	uint64_t opens, metadata;     /* metadata: calls of that class */
	uint64_t count, bytes, fetched_bytes, created_bytes;
	uint64_t major, minor; /* faults */
	uint64_t size_bytes, size_each;
	uint64_t bytes_each;	     /* of an operation, on average */
	uint64_t fetched_each;	     /* of a major fault, on average */
	uint64_t touched_pages;	     /* through mappings, estimated; TABLE_NO_UINT: unknown */
	uint64_t readahead_bytes;    /* of the example; TABLE_NO_UINT: unknown */
	uint64_t again_bytes;	     /* read beyond the size of the file */
	uint64_t versions;	     /* written after truncation, each larger than the one before */
	uint64_t repeated_bytes;     /* of these versions, what the one before had */
	uint64_t direct_bytes;	     /* read with O_DIRECT; TABLE_NO_UINT: none */
	uint64_t storage_bytes;	     /* fetched, or read with O_DIRECT */
	uint64_t copied_bytes;	     /* by stores to private mappings; TABLE_NO_UINT: none */
	uint64_t time_ns, bandwidth; /* bytes (of faults: fetched) per second */
	uint64_t advised;	     /* calls of fadvise that fetched nothing; as above */
	uint64_t dropped, random;    /* see advice_of; as above */
	uint64_t misadvised;	     /* random, if it does not suit; as above */
	double consecutive, backward; /* shares of the accesses */
	double fetched_share;	      /* share of the bytes that came from storage; NAN: unknown */
	double of_run;	     /* share of the run, for the time that no compute overlapped */
	uint64_t path_ns;    /* of time_ns, on the critical path, at most; UINT64_MAX: unknown */
	uint64_t scan_reads; /* small reads, if each open does many; TABLE_NO_UINT: it does not */
	double reading;	     /* share of reads in the time of what the rule counts */
	uint64_t reads;	     /* whatever `use` the rule has */
	uint64_t reopen_ns;  /* from opens to the first new read; TABLE_NO_UINT: not used */
};

extern const struct finding_evidence file_group_evidence;
#define FINDING_OF_FILES_EVIDENCE .evidence = &file_group_evidence

/* Initializes a rule that has `files`. */
#define FINDING_OF_FILES .find = file_group_find, FINDING_OF_FILES_EVIDENCE

/* The `find` of rules with `files`: adds the finding if any files match. The first call looks at
 * all files for all rules, because there may be a million. Returns 0 or -ENOMEM. */
int file_group_find(struct findings *findings, const struct finding_rule *rule);
/* Share of jumps backward within the same thread; for faults, by 1 MiB and more. */
double file_group_backward(const struct file_view *file, unsigned int by);
/* Returns the part of the calls' CPU time that larger reads of the same data take, too. */
double file_group_copies(const struct file_group *file_group);
/* A `stays`: larger reads save the waits and the calls, not the copies. */
double file_group_copies_stay(const struct findings *findings, const struct file_group *file_group);
/* A `cost_bytes`: bytes from storage. */
uint64_t file_group_fetched(const struct file_group *file_group);

/* Returns what reads and faults fetched. */
static inline uint64_t file_group_fetched_to_read(const struct file_view *file)
{
	return file->tallies[USE_READ].fetched_bytes + file->tallies[USE_MMAP].fetched_bytes;
}

/* Returns what devices read for the run from no known file; UINT64_MAX if that is unknown or
 * incomplete. Goes over all files: rules use `elsewhere_bytes`. */
uint64_t file_group_elsewhere_bytes(const struct findings *findings);
/* Clears what a file fetched if that is far more than devices can have read of it, bytes of unknown
 * files included: it has holes, or no block was read for another reason. */
void file_group_forget_holes(const struct findings *findings, uint32_t number,
			     struct file_view *file);

/* Finds whether almost nothing of the bytes fetched can have come from storage: devices read almost
 * nothing, and there is almost no other source. Returns 0 or -ENOMEM. */
int finding_find_holes(struct findings *findings, uint64_t fetched_bytes, bool *holes);

/* Returns whether a file, by its number, matches a rule that has `files`. */
bool file_group_takes(const struct findings *findings, const struct finding_rule *rule,
		      uint32_t number);

/* Returns the time of writes with O_SYNC that the finding fsync-often has counted; 0: none. */
uint64_t finding_synced_ns(const struct findings *findings);

/* Returns whether the finding rewritten is about such a file. */
bool finding_rewritten_takes(const struct file_view *file);

/* Returns whether a file is a program, library, module or made up by the kernel (/proc, /sys), and
 * so not the job's data. */
bool file_group_is_program(const struct file_view *file);
