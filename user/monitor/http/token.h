/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The secret that a network client must present before it may trigger an action. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_MIN 16 /* characters, so that it cannot be guessed */
#define TOKEN_MAX 256

struct token {
	char text[TOKEN_MAX + 1]; /* empty: there is no token, and nothing matches */
	size_t length;
};

/* Reads the only line of a file that only its owner may read or change. Returns 0 or a negative
 * errno, logged. */
int token_read(struct token *token, const char *path);
/* Returns whether an Authorization header ("Bearer TOKEN") carries the token, in time that does not
 * depend on how much of it matches. NULL: no header. */
bool token_matches(const struct token *token, const char *authorization);
