/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ends of spans whose begin never came: the sign of a begin that somebody else heard, or nobody.
 */
#ifndef FAULTLINE_SPAN_ENDS_H
#define FAULTLINE_SPAN_ENDS_H

#include <stdint.h>

struct span_ends;

/* Returns NULL for want of memory. */
struct span_ends *span_ends_make(void);
void span_ends_free(struct span_ends *ends); /* NULL is fine */

/* Records as they come, in any order. */
void span_ends_fork(struct span_ends *ends, uint32_t parent, uint32_t child);
void span_ends_begin(struct span_ends *ends, uint32_t pid, uint64_t id);
void span_ends_end(struct span_ends *ends, uint32_t pid, uint64_t id);

/* A process ran before the recording: ends of spans that it or its children began then are nothing
 * that was missed. */
void span_ends_present(struct span_ends *ends, uint32_t pid);

/*
 * How many ends there were of ids that neither the process nor any that it was forked from has
 * begun; an id that is ended twice is none. To be asked when all records have come. 0 when there
 * were too many to tell: what is claimed is so.
 */
uint64_t span_ends_unbegun(struct span_ends *ends);
/* ... and how many that did not count because their processes ran before. To be asked after it. */
uint64_t span_ends_before(const struct span_ends *ends);

#endif
