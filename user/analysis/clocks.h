/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hosts that were recorded at different times, by their wall clocks: they ran one after the other,
 * or their clocks differ. Knows nothing of traces.
 */
#ifndef FAULTLINE_CLOCKS_H
#define FAULTLINE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "words.h"

/* From when to when a host was recorded, ns since 1970. */
struct host_time {
	const char *host;
	uint64_t start_ns, end_ns;
};

/* Says how long the longest time is of which nobody recorded anything, and which hosts were
 * recorded before and after; nothing, where none is worth it. Sorts the hosts. */
void clocks_say_apart(struct words *text, struct host_time *hosts, size_t count);

#endif
