/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was made dirty of each file and written back, for the table "writeback" and for those who
 * draw conclusions from it.
 */
#ifndef FAULTLINE_WRITEBACK_H
#define FAULTLINE_WRITEBACK_H

#include "analysis/measured.h"
#include "analysis/writers.h"

/* A file as the columns of the table see it. Numbers that are not known are TABLE_NO_UINT; times
 * are on the job's clock. */
struct writeback_view {
	struct table_text path;
	struct writer_sums sums;
	uint64_t device_bytes;	  /* of the file, in write requests that are done */
	uint64_t unwritten_bytes; /* dirty at the end of the recording, at most */
	uint64_t first_dirtied_ns, last_dirtied_ns;
	uint64_t first_reached_ns, last_reached_ns;
	uint64_t delay_ns, longest_delay_ns; /* from dirtying to the device, mean by bytes */
	uint64_t after_ns;	/* from the end of the last write or store to the last arrival */
	uint64_t changed_bytes; /* written by calls, and pages that were faulted on to store */
	uint64_t unseen_bytes;	/* other pages of large folios, which may have been stored to */
	uint64_t large_faults, inside_faults; /* stores to such; not to their first page */
	double amplification;		      /* device_bytes of all that may have been changed, */
	double amplification_most;	      /* and of what is known to have been */
	struct writer_list processes, spans;
};

/* False when the file, by its number in the job, was neither written nor written back. What is
 * about processes and spans is not filled in. */
bool writeback_of(const struct measured *measured, uint32_t file, struct writeback_view *view);

/* What was written back on account of stores: of each file by their share of what was dirtied.
 * TABLE_NO_UINT: not known. */
uint64_t writeback_of_stores(const struct measured *measured);

#endif
