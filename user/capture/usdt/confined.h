/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs code that reads hostile input in a separate process, which can do nothing else. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CONFINED_BYTES_MAX 65536 /* size of the result */

/* Time budget of all children, beyond the share that each has. A child that hangs uses up budget of
 * later ones, so that many such children cannot block everything. */
struct time_budget {
	uint64_t left_ns;
};

#define CONFINED_LONGEST_NS 2000000000ull
#define CONFINED_SHARE_NS 250000000ull
#define CONFINED_BUDGET_NS (2 * CONFINED_LONGEST_NS) /* initial value */

/* Returns the time limit of the next child: its share plus what is left of the budget, at most
 * CONFINED_LONGEST_NS. */
uint64_t confined_max_ns(const struct time_budget *time_budget);

/* Charges a child's time beyond its share to the budget. */
void confined_took(struct time_budget *time_budget, uint64_t took_ns);

/*
 * Runs `work` in a child without privileges: no capabilities, user nobody if we may choose, no new
 * descriptors, at most 64 MiB of additional memory, a time limit of two seconds or what is left of
 * the budget. Our open descriptors stay open in it. `work` writes `size` bytes to `out`, the only
 * result. Returns 0; -ETIMEDOUT; -EPROTO if the child died or wrote nothing.
 */
int confined_run(void (*work)(void *context, void *out), void *context, void *out, size_t size,
		 struct time_budget *time_budget);
