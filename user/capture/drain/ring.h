/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* BPF ring buffers, one per CPU or per few CPUs, drained in batches. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rings;

/* Creates and maps `count` rings, and the array of maps where programs find them. `bytes` is a
 * power of two and a multiple of the page size. Returns 0 or a negative errno. */
int rings_open(struct rings **rings, unsigned int count, size_t bytes);
/* The descriptor of that array, owned by the rings. It is incomplete until rings_wait_offered has
 * returned 0 (not a negative errno); nothing may be attached before. */
int rings_outer_fd(const struct rings *rings);
int rings_wait_offered(struct rings *rings);
/* Maps the existing ring `fd`, which stays the caller's. rings_wait does not cover this ring. */
int rings_open_one(struct rings **rings, int fd, size_t bytes);
void rings_close(struct rings *rings); /* NULL is fine */

/* Receives one record, which is valid until the callback returns. */
typedef void (*ring_record_fn)(void *context, unsigned int ring, const void *record, size_t size);

/* Waits until a program wakes the reader, rings_wake is called, or `most_ms` have passed. Records
 * by themselves do not end the wait. */
void rings_wait(struct rings *rings, unsigned int max_ms);
void rings_wake(struct rings *rings); /* from any thread */

/* Notes how far the rings are filled. */
void rings_mark(struct rings *rings);
/* Passes on what was in the rings when they were marked, ring by ring. Returns the number of
 * records. */
size_t rings_drain(struct rings *rings, ring_record_fn take, void *context);
