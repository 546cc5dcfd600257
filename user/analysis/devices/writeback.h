/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Dirtied and written-back data by file, for the table "writeback" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/devices/writers.h"

/* A file as the table's columns see it. Unknown numbers are TABLE_NO_UINT; times are on the job's
 * clock. */
struct writeback_view {
	struct table_text path;
	struct writer_sums sums;
	uint64_t device_bytes;	  /* of the file, in completed write requests */
	uint64_t unwritten_bytes; /* dirty at the end of the recording, upper bound */
	uint64_t first_dirtied_ns, last_dirtied_ns;
	uint64_t first_reached_ns, last_reached_ns;
	uint64_t delay_ns, longest_delay_ns; /* from dirtying to the device; mean over bytes */
	uint64_t after_ns;	/* from the end of the last write or store to the last arrival */
	uint64_t changed_bytes; /* written by calls, and pages faulted on by stores */
	uint64_t unseen_bytes;	/* other pages of large folios, possibly stored to */
	uint64_t large_faults, inside_faults; /* stores to large folios; not to their first page */
	double amplification;		      /* lower bound: unseen_bytes all changed */
	double amplification_most;	      /* upper bound: none of them changed */
	struct writer_list processes, spans;
};

/* Returns false if the file (number in the job) was neither written nor written back. Leaves
 * processes and spans unset. */
bool writeback_of(const struct results *results, uint32_t file, struct writeback_view *view);

/* Returns the bytes written back because of stores, by their share of each file's dirtied bytes.
 * TABLE_NO_UINT: unknown. */
uint64_t writeback_of_stores(const struct results *results);
