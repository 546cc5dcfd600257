/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Detects hosts whose recordings do not overlap by their wall clocks: they ran one after the other,
 * or their clocks differ.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Recorded time of a host, ns since 1970. */
struct host_time {
	const char *host;
	uint64_t start_ns, end_ns;
};

/* Writes the longest gap between recordings, with the hosts before and after it; nothing if no gap
 * is long enough. Sorts the hosts. */
void clocks_write_gap(struct strbuf *text, struct host_time *hosts, size_t count);
