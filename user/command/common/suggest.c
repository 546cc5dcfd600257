/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Word distance is Damerau-Levenshtein, in which no substring is edited twice. */
#include "command/common/suggest.h"

#include <string.h>

#include "base/number.h"

#define LETTERS_MAX 32

static size_t distance(const char *from, const char *to)
{
	size_t rows[3][LETTERS_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];
	size_t length = strlen(to);

	for (size_t j = 0; j <= length; j++)
		last[j] = j;
	for (size_t i = 1; from[i - 1]; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = number_min(number_min(last[j], row[j - 1]) + 1,
					    last[j - 1] + (from[i - 1] != to[j - 1]));
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				row[j] = number_min(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[length];
}

void suggest_consider(struct suggestion *suggestion, const char *candidate)
{
	size_t length = strlen(suggestion->word), far;

	if (!length || length > LETTERS_MAX || strlen(candidate) > LETTERS_MAX)
		return;
	far = distance(suggestion->word, candidate);
	if (length >= 3 && !strncmp(candidate, suggestion->word, length))
		far = 1; /* a prefix of it */
	if (far > (length + 1) / 3 || (suggestion->best && far >= suggestion->distance))
		return;
	suggestion->best = candidate;
	suggestion->distance = far;
}
