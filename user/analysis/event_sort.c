/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order of events within a block. Rows are written as operations end, so they are nearly in
 * the order of their starts, or wildly out of it when many threads wait on one CPU: a radix sort
 * does not mind. Knows nothing of where events come from.
 */
#include "analysis/event_sort.h"

#include <errno.h>
#include <stdlib.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

struct key {
	uint64_t start; /* since the earliest of all */
	uint32_t number;
};

static void sort_by_digit(const struct key *from, struct key *to, size_t count, unsigned int shift)
{
	uint32_t places[DIGITS] = { 0 }, place = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].start >> shift & (DIGITS - 1)]++;
	for (unsigned int i = 0; i < DIGITS; i++) {
		uint32_t many = places[i];

		places[i] = place;
		place += many;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts keys with the help of as many spare ones; returns whichever of the two holds the result. */
static struct key *sort_keys(struct key *keys, struct key *spare, size_t count, uint64_t most)
{
	for (unsigned int shift = 0; shift < 64 && most >> shift; shift += DIGIT_BITS) {
		struct key *sorted = spare;

		sort_by_digit(keys, sorted, count, shift);
		spare = keys;
		keys = sorted;
	}
	return keys;
}

int event_sort(struct event **events, size_t count)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct key *keys, *result;
	struct event *sorted;
	size_t i;

	for (i = 1; i < count && (*events)[i - 1].start <= (*events)[i].start; i++)
		;
	if (i >= count)
		return 0;
	keys = reallocarray(NULL, count, 2 * sizeof(*keys));
	sorted = reallocarray(NULL, count, sizeof(*sorted));
	if (!keys || !sorted) {
		free(keys);
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		uint64_t start = (*events)[i].start;

		least = start < least ? start : least;
		most = start > most ? start : most;
	}
	for (i = 0; i < count; i++)
		keys[i] = (struct key) { (*events)[i].start - least, i };
	result = sort_keys(keys, keys + count, count, most - least);
	for (i = 0; i < count; i++)
		sorted[i] = (*events)[result[i].number];
	free(keys);
	free(*events);
	*events = sorted;
	return 0;
}
