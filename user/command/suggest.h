/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Guesses what a mistyped word was meant to be. */
#ifndef FAULTLINE_SUGGEST_H
#define FAULTLINE_SUGGEST_H

#include <stddef.h>

/* The best guess so far; all zeroes but `word` is none. */
struct suggestion {
	const char *word;
	const char *best; /* NULL: nothing is near enough */
	size_t distance;
};

/* Takes a candidate if it is nearer than the best one: a word that `word` is the beginning of, or
 * one that is at most a third of its letters away (letters inserted, left out, replaced or swapped
 * with the next one). */
void suggest_consider(struct suggestion *suggestion, const char *candidate);

#endif
