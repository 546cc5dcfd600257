/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls and page faults in flight, and threads, during a recording: iterators over tasks, run at
 * each reading. Each run over operations also adds their time so far to the sums of mode profile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/records/event.h"

struct faultline;
struct in_flight;

struct in_flight_list {
	struct event_in_flight *rows; /* the caller frees them */
	size_t count, room;
};

struct thread_list {
	struct event_thread_now *rows; /* the caller frees them */
	size_t count, room;
};

/* Opens the iterators over operations and over threads, if their programs are loaded. Logs a
 * warning if one cannot be opened. Returns NULL if out of memory. */
struct in_flight *in_flight_open(struct faultline *skeleton, bool operations, bool threads);
void in_flight_close(struct in_flight *in_flight); /* NULL is fine */
/* Replaces the list with the operations in flight for at least 10 ms; callable from any thread.
 * Returns 0, or a negative errno with an empty list. Finds nothing without the iterator. */
int in_flight_read(struct in_flight *in_flight, struct in_flight_list *list);
/* Replaces the list with all followed threads and their times since their last records.
 * Returns 0, or a negative errno with an empty list; -ENOENT without the iterator. */
int in_flight_read_threads(struct in_flight *in_flight, struct thread_list *list);
