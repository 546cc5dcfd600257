/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arming tasks that run already: passes of the kernel's iterator over tasks, and records that say
 * which processes they found. Knows nothing of the trace, nor of how targets are named.
 */
#ifndef FAULTLINE_ARMING_H
#define FAULTLINE_ARMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/event.h"
#include "capture/ring.h"

struct arming;
struct faultline; /* the skeleton, loaded and attached */

/* Returns 0 or a negative errno. The skeleton stays the caller's. */
int arming_open(struct arming **arming, struct faultline *skeleton);
void arming_close(struct arming *arming); /* NULL is fine */

/* Names a process, by a descriptor of pidfd_open; before arming_run. Returns 0 or a negative errno.
 */
int arming_mark(struct arming *arming, int pidfd);
/* Whether the kernel has shown that process to a pass; false, too, when nothing is left of it. */
bool arming_met(const struct arming *arming, int pidfd);

/*
 * Makes passes until one arms nothing new. *processes and *threads receive how many were. Returns 0
 * or a negative errno; that some tasks could not be armed is counted, not an error.
 */
int arming_run(struct arming *arming, size_t *processes, size_t *threads);
uint64_t arming_begun_ns(const struct arming *arming);
void arming_each(const struct arming *arming, void (*take)(void *context, pid_t pid),
		 void *context);

/* Hands on the records on what was found, of kind RECORD_EXEC; makes another
 * pass where somebody came with threads that were not met. Returns how many. */
size_t arming_drain(struct arming *arming, ring_record_fn take, void *context);

/* Adds the records that were handed on to the events, and what could not be armed to the notes. */
void arming_count(const struct arming *arming, struct kind_total *kinds, uint64_t *notes);

#endif
