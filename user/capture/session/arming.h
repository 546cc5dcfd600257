/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arms tasks that already run: makes passes with the kernel's task iterator, and records the
 * processes found.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/records/event.h"
#include "capture/drain/ring.h"

struct arming;
struct faultline; /* the skeleton, loaded and attached */

/* Returns 0 or a negative errno. The caller owns the skeleton. */
int arming_open(struct arming **arming, struct faultline *skeleton);
void arming_close(struct arming *arming); /* NULL is fine */

/* Names a target process by its pidfd; call before arming_run. Returns 0 or a negative errno. */
int arming_mark(struct arming *arming, int pidfd);
/* Whether a pass has met that process; also false if nothing is left of it. */
bool arming_found(const struct arming *arming, int pidfd);

/*
 * Makes passes until one arms no new task. *processes and *threads receive the numbers armed.
 * Returns 0 or a negative errno; tasks that cannot be armed are counted, no error unless all fail.
 */
int arming_run(struct arming *arming, size_t *processes, size_t *threads);
uint64_t arming_begun_ns(const struct arming *arming);
void arming_each(const struct arming *arming, void (*take)(void *context, pid_t pid),
		 void *context);

/* Passes on records of the processes found, of kind RECORD_EXEC; makes another pass if a process
 * joined whose threads were not met. Returns the number of records. */
size_t arming_drain(struct arming *arming, ring_record_fn take, void *context);

/* Adds the records passed on to the events, and the tasks that could not be armed to the notes. */
void arming_count(const struct arming *arming, struct kind_total *kinds, uint64_t *notes);
