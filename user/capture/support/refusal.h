/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that the kernel refused although it supports their targets, and its reasons. */
#pragma once

#include <stddef.h>

struct refusal {
	char program[32];
	char why[200];
};

/* Grows as needed; all zeroes is empty. */
struct refusals {
	struct refusal *rows;
	size_t count;
};

/*
 * Adds a refused program. The reason is the last line of `log`, the verifier's log, that is not
 * statistics; if there is none, it is `err`, a negative errno.
 */
int refusals_add(struct refusals *refusals, const char *program, const char *log, int err);
/* Returns why a program was refused, or NULL. */
const char *refusals_find(const struct refusals *refusals, const char *program);
void refusals_free(struct refusals *refusals);
