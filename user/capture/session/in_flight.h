/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls and page faults in flight during a recording: an iterator over tasks, run at each reading.
 * Each run also adds their time so far to the sums of mode profile.
 */
#ifndef FAULTLINE_IN_FLIGHT_H
#define FAULTLINE_IN_FLIGHT_H

#include <stddef.h>

#include "bpf/records/event.h"

struct faultline;
struct in_flight;

struct in_flight_list {
	struct event_in_flight *rows; /* the caller frees them */
	size_t count, room;
};

/* Returns NULL, with a warning logged, if the kernel has no such iterator. */
struct in_flight *in_flight_open(struct faultline *skeleton);
void in_flight_close(struct in_flight *in_flight); /* NULL is fine */
/* Replaces the list with the operations in flight for at least 10 ms; callable from any thread.
 * Returns 0, or a negative errno with an empty list. Finds nothing for NULL. */
int in_flight_read(struct in_flight *in_flight, struct in_flight_list *list);

#endif
