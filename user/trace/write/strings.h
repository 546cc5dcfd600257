/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Remembers in bounded memory which strings a writer has written, and under which ids. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 16 MiB together. When either is full, everything is dropped. */
#define STRINGS_BYTES (12u << 20)
#define STRINGS_SLOTS (1u << 18) /* of 16 bytes; at most three quarters are used */
/* Longer strings are not remembered: they get a new id each time. */
#define STRINGS_LENGTH_MAX 65536

/* For strings that mostly occur once, like span arguments: the last one per hash is remembered. */
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
	struct strings_recent *recent; /* NULL until it is needed */
	uint32_t last_id;
	uint64_t seed; /* traced programs choose paths, but must not choose collisions */
};

void strings_init(struct strings *strings);
void strings_free(struct strings *strings);

/*
 * Sets *id to the id of a string of at least one byte. `is_new` means that the string is new or was
 * dropped, so that the caller must write it. Ids count up from 1 and are not reused. Returns 0,
 * -ENOMEM, or -ENOSPC when ids have run out.
 */
int strings_intern(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
		   bool *is_new);
/* The same, from the same ids, for strings that mostly occur once. Does not find the others. */
int strings_intern_recent(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
			  bool *is_new);
