/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading the slots of mode profile: what has been added since the last time. Knows their layout,
 * nothing of where the sums go.
 */
#ifndef FAULTLINE_PROFILE_H
#define FAULTLINE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct profile;

#define PROFILE_SLOTS_MOST (1u << 20) /* 384 MiB */

/* Slots that any key may take by default, with so many CPUs. */
unsigned int profile_default_slots(unsigned int cpus);
/* The same for a service that sums up what a whole node does, which leaves more behind than one
 * job; and what so many slots take of memory, on both sides. */
#define PROFILE_NODE_BYTES_MOST (64u << 20)
unsigned int profile_node_slots(unsigned int cpus);
size_t profile_memory(unsigned int slots);
/* The next power of two that there may be of them. */
unsigned int profile_round_slots(uint64_t slots);
/* Of that many, what the kernel side's map has. */
unsigned int profile_map_entries(unsigned int slots);

/* Maps the slots of `fd`, whose descriptor stays the caller's. Nobody may be followed yet. Returns
 * 0 or a negative errno. */
int profile_open(struct profile **profile, int fd, unsigned int slots);
void profile_close(struct profile *profile); /* NULL is fine */

/*
 * Gets what was added to a slot: `sums` of `added` are differences, its first_ns is from when on
 * they began, about, its last_ns the start of the last of them.
 */
typedef void (*profile_take_fn)(void *context, const struct profile_slot *added);

/*
 * Hands on what was added since the last time, and makes room where the slots run short: those that
 * were used least are given back, and found again by whoever needs them. `last`: nothing is
 * attached any more, everything is told. Returns how many slots had anything.
 */
size_t profile_read(struct profile *profile, uint64_t now_ns, bool last, profile_take_fn take,
		    void *context);

/* Whether a process has ended: its slots are given back as soon as they have been told. NULL: it is
 * not known. */
typedef bool (*profile_over_fn)(void *context, uint32_t pid);
void profile_ask_over(struct profile *profile, profile_over_fn is_over, void *context);

/* Whether so many slots are taken that keys begin to find no place, by a few of them: cheap enough
 * to be asked often. A reading makes room then, which the next one gives back. False for NULL. */
bool profile_is_crowded(struct profile *profile);

struct profile_use {
	uint64_t operations; /* read so far */
	uint64_t other;	     /* of them, on files that there was no slot for */
	uint64_t given_back; /* slots */
	size_t most_used;    /* at the moment of a reading */
};
struct profile_use profile_use(const struct profile *profile); /* NULL: all zeroes */

#endif
