/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the slots of mode profile and reports what was added since the last reading. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"

struct profile;

#define PROFILE_SLOTS_MAX (1u << 20) /* 384 MiB */

/* Returns the default number of slots that any key may take, by the number of CPUs. */
unsigned int profile_default_slots(unsigned int cpus);
/* The same for a service that covers a whole node, which leaves more slots behind than one job; and
 * the memory that `slots` slots take on both sides. */
#define PROFILE_NODE_BYTES_MAX (64u << 20)
unsigned int profile_node_slots(unsigned int cpus);
size_t profile_memory(unsigned int slots);
/* Rounds up to a valid number of slots, a power of two. */
unsigned int profile_round_slots(uint64_t slots);
/* Returns the number of entries of the kernel side's map for that many slots. */
unsigned int profile_map_entries(unsigned int slots);

/* Maps the slots of `fd`, which stays the caller's. Must run before any process is followed.
 * Returns 0 or a negative errno. */
int profile_open(struct profile **profile, int fd, unsigned int slots);
void profile_close(struct profile *profile); /* NULL is fine */

/*
 * Receives what was added to a slot: `sums` of `added` are differences, first_ns is about when they
 * began, and last_ns is the start of the last operation.
 */
typedef void (*profile_take_fn)(void *context, const struct profile_slot *added);

/*
 * Reports what was added since the last reading. If slots run short, frees those that were used
 * least; a key that needs one again takes a new one. `last`: nothing is attached any more; reports
 * everything. Returns the number of slots with additions.
 */
size_t profile_read(struct profile *profile, uint64_t now_ns, bool last, profile_take_fn take,
		    void *context);

/* Returns whether a process has ended; its slots are freed once they are reported. NULL:
 * unknown. */
typedef bool (*profile_exited_fn)(void *context, uint32_t pid);
void profile_set_exited(struct profile *profile, profile_exited_fn has_exited, void *context);

/* Estimates from a sample of slots whether keys begin to find no free slot; cheap enough to call
 * often. A reading then retires slots, and the next one frees them. False for NULL. */
bool profile_is_full(struct profile *profile);

struct profile_use {
	uint64_t operations; /* read so far */
	uint64_t other;	     /* of these, on files without a slot */
	uint64_t given_back; /* slots retired to make room */
	size_t most_used;    /* slots in use at a reading */
};
struct profile_use profile_use(const struct profile *profile); /* NULL: all zeroes */
