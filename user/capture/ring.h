/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rings, one per lane of CPUs, drained in batches. Knows the layout that the kernel gives a
 * ring buffer, nothing of the records in it.
 */
#ifndef FAULTLINE_RING_H
#define FAULTLINE_RING_H

#include <stddef.h>
#include <stdint.h>

struct rings;

/* Makes and maps a ring for each of `count` lanes, and the array of maps that programs find them
 * in. `bytes` is a power of two and a multiple of the page size. Returns 0 or a negative errno. */
int rings_open(struct rings **rings, unsigned int count, size_t bytes);
/* That array of maps; the descriptor stays theirs. Nothing may be attached before
 * rings_wait_offered has returned 0, not a negative errno: until then they are not all in it. */
int rings_outer_fd(const struct rings *rings);
int rings_wait_offered(struct rings *rings);
/* Maps the ring `fd`, which is there already; the descriptor stays the caller's. Nobody waits
 * there.
 */
int rings_open_one(struct rings **rings, int fd, size_t bytes);
void rings_close(struct rings *rings); /* NULL is fine */

/* Gets one record; valid until it returns. */
typedef void (*ring_record_fn)(void *context, unsigned int ring, const void *record, size_t size);

/* Waits until a program wakes the reader, or for `most_ms`, or for rings_wake. Records alone do not
 * end it. */
void rings_wait(struct rings *rings, unsigned int most_ms);
void rings_wake(struct rings *rings); /* from any thread */

/* Notes how far the rings are filled. */
void rings_mark(struct rings *rings);
/* Hands on what was in the rings when they were marked, ring by ring. Returns the number of
 * records.
 */
size_t rings_drain(struct rings *rings, ring_record_fn take, void *context);

#endif
