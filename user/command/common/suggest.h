/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Guesses what a mistyped word was meant to be. */
#pragma once

#include <stddef.h>

/* The best guess so far. Initialize with zeros and `word`. */
struct suggestion {
	const char *word;
	const char *best; /* NULL: nothing is close enough */
	size_t distance;
};

/* Takes a candidate if it is closer than the best one: a word that begins with `word`, or one that
 * is at most a third of its letters away (letters inserted, omitted, replaced or swapped with the
 * next one). */
void suggest_consider(struct suggestion *suggestion, const char *candidate);
