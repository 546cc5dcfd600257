/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The sums over the files that match one rule, and the evidence that they become. */
#pragma once

#include "analysis/files/advice.h"
#include "analysis/finding/finding_files.h"

/* Files with the same suffix (".jpg"), as far as so few slots distinguish suffixes. */
#define ENDINGS 16
struct file_group_ending {
	uint64_t files, most_ns;
	struct table_text path; /* of the one with the most time */
	uint64_t readahead_bytes;
};

/* Sums from which shares are computed. */
struct file_group_sums {
	uint64_t use_ns[USES]; /* time, by use */
	uint64_t direct_bytes; /* read past the page cache: also from storage */
	uint64_t copied_bytes, touched_pages, advised;
	uint64_t reads;
	uint64_t scan_opens, scan_reads; /* of files that each open scans */
	uint64_t dropped, random;
	/* Bytes fetched again; and the part from files whose pages the job did not drop itself. */
	uint64_t again_bytes, undropped_bytes;
	uint64_t accesses, consecutive, jumps, backward;
	struct file_group_ending endings[ENDINGS];
};

/* Returns the time that a rule counts for a file. */
uint64_t file_group_time_of(const struct file_group_rule *kind, const struct file_view *file);
void file_group_add(struct file_group *file_group, struct file_group_sums *sums,
		    const struct file_group_rule *kind, const struct file_view *file,
		    const struct advice_view *advice);
/* Computes averages and shares. To be called once all files were added. */
void file_group_finish(struct file_group *file_group, const struct file_group_sums *sums,
		       const struct file_group_rule *kind);
/* Makes unknown what summed operations do not tell: their order and merged time. */
void file_group_forget_events(struct file_group *file_group);
