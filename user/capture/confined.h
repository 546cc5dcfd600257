/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running what reads hostile input in a process of its own, which can do nothing but that.
 */
#ifndef FAULTLINE_CONFINED_H
#define FAULTLINE_CONFINED_H

#include <stddef.h>
#include <stdint.h>

#define CONFINED_BYTES_MAX 65536 /* of what it hands over */

/* How long children may take, beyond a share that each has: one that hangs takes from those behind
 * it, so that many of them cannot hold up everything. */
struct confined_patience {
	uint64_t left_ns;
};

#define CONFINED_LONGEST_NS 2000000000ull
#define CONFINED_SHARE_NS 250000000ull
#define CONFINED_PATIENCE_NS (2 * CONFINED_LONGEST_NS) /* to begin with */

/* How long the next child may take: the longest, as long as there is patience; its share at least.
 */
uint64_t confined_most_ns(const struct confined_patience *patience);

/* One has taken so long. */
void confined_took(struct confined_patience *patience, uint64_t took_ns);

/*
 * Runs `work` in a child without privileges: no capabilities, user nobody where we may choose, no
 * new descriptors, 64 MiB of memory more than there are, two seconds or what is left of the
 * caller's patience. It writes `size` bytes to `out`, which is all that comes back. Returns 0;
 * -ETIMEDOUT, or -EPROTO when the child died or said nothing. Descriptors that are open here are
 * open there.
 */
int confined_run(void (*work)(void *context, void *out), void *context, void *out, size_t size,
		 struct confined_patience *patience);

#endif
