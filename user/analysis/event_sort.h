/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Puts events into the order of their starts. Knows nothing of where they come from.
 */
#ifndef FAULTLINE_EVENT_SORT_H
#define FAULTLINE_EVENT_SORT_H

#include "analysis/event.h"

/* Sorts *events, which may be replaced by another allocation; those that start together keep their
 * order. At most 2^32 - 1 of them. Returns 0 or -ENOMEM, and then they are as they were. */
int event_sort(struct event **events, size_t count);

#endif
