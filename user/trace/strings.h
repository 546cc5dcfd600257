/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bounded memory of which strings a writer has written, and under which id. Knows nothing of how
 * they are written.
 */
#ifndef FAULTLINE_TRACE_STRINGS_H
#define FAULTLINE_TRACE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Together 16 MiB. When either is full, everything is forgotten. */
#define STRINGS_BYTES (12u << 20)
#define STRINGS_SLOTS (1u << 18) /* of 16 bytes; three quarters are used at most */
/* Longer strings are not remembered: each comes under a new id. */
#define STRINGS_LENGTH_MAX 65536

/* Those that mostly come once, as arguments of spans do: the last of each hash are remembered. */
#define STRINGS_RECENT 256
#define STRINGS_RECENT_BYTES 240 /* longer ones are not remembered */

struct strings_recent {
	uint32_t id; /* 0: free */
	uint32_t hash, length;
	uint8_t bytes[STRINGS_RECENT_BYTES];
};

struct strings_slot {
	uint32_t id; /* 0: free */
	uint32_t hash;
	uint32_t offset, length; /* in `bytes` */
};

struct strings {
	struct strings_slot *slots;
	size_t slot_count, used;
	uint8_t *bytes;
	size_t length, capacity;
	struct strings_recent *recent; /* NULL until there is one */
	uint32_t last_id;
	uint64_t seed; /* paths are chosen by traced programs: they shall not choose the collisions
			*/
};

void strings_init(struct strings *strings);
void strings_free(struct strings *strings);

/*
 * Gives the id of a string of at least one byte. `is_new` says that it was never given out or is
 * forgotten, so that the caller has to write the string. Ids count up from 1 and are not reused.
 * Returns 0, -ENOMEM, or -ENOSPC when ids have run out.
 */
int strings_intern(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
		   bool *is_new);
/* The same, from the same ids, for strings that mostly come once. Knows nothing of the others. */
int strings_intern_recent(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
			  bool *is_new);

#endif
