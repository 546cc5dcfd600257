/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The secret that a caller over the network has to know before it may have something done. Knows
 * nothing of HTTP but the form of the header that carries it.
 */
#ifndef FAULTLINE_TOKEN_H
#define FAULTLINE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_LEAST 16 /* characters: what nobody guesses */
#define TOKEN_MOST 256

struct token {
	char text[TOKEN_MOST + 1]; /* empty: there is none, and nothing matches */
	size_t length;
};

/* Reads the first and only line of a file that nobody but its owner may read or change. Returns 0
 * or a negative errno, logged. */
int token_read(struct token *token, const char *path);
/* Whether an Authorization header ("Bearer TOKEN") carries it; in a time that does not tell how
 * much of it is right. NULL is no header. */
bool token_matches(const struct token *token, const char *authorization);

#endif
