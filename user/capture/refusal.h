/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that the kernel did not take although it allows what they are attached to, and what it
 * said of each. Knows nothing of how programs are loaded.
 */
#ifndef FAULTLINE_REFUSAL_H
#define FAULTLINE_REFUSAL_H

#include <stddef.h>

struct refusal {
	char program[32];
	char why[200];
};

/* Grows; all zeroes is an empty one. */
struct refusals {
	struct refusal *rows;
	size_t count;
};

/*
 * Notes a refused program. `log` is what the verifier wrote, the reason in the last line of its
 * own; where it wrote nothing, `err` (a negative errno) is all there is to tell.
 */
int refusals_add(struct refusals *refusals, const char *program, const char *log, int err);
/* Why a program was refused, or NULL. */
const char *refusals_find(const struct refusals *refusals, const char *program);
void refusals_free(struct refusals *refusals);

#endif
