/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts ends of spans without a begin: the begin went to another tracer, or to none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct span_ends;

/* Returns NULL if out of memory. */
struct span_ends *span_ends_make(void);
void span_ends_free(struct span_ends *ends); /* NULL is fine */

/* Add records in any order. */
void span_ends_fork(struct span_ends *ends, uint32_t parent, uint32_t child);
void span_ends_begin(struct span_ends *ends, uint32_t pid, uint64_t id);
void span_ends_end(struct span_ends *ends, uint32_t pid, uint64_t id);

/* Notes that a process ran before the recording: spans that it or its children began then were not
 * missed. */
void span_ends_present(struct span_ends *ends, uint32_t pid);

/*
 * Returns how many ends have ids that neither the process nor any that it was forked from has
 * begun. An id that was begun and ended twice does not count. Must run after all records have
 * arrived. Returns 0 if there were too many to be certain: see span_ends_known.
 */
uint64_t span_ends_unbegun(struct span_ends *ends);
/* Whether the number is known. Must run after span_ends_unbegun. */
bool span_ends_known(const struct span_ends *ends);
/* Returns how many did not count because their processes ran before. Must run after
 * span_ends_unbegun. */
uint64_t span_ends_before(const struct span_ends *ends);
