/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "groups": I/O by a key that was asked for, see rollup_keys.
 */
#ifndef FAULTLINE_GROUPS_H
#define FAULTLINE_GROUPS_H

#include "analysis/analysis.h"
#include "analysis/rollup.h"

struct groups;

/* Returns 0 or -ENOMEM. */
int groups_new(struct groups **groups, const struct job *job, const struct rollup_key *key);
void groups_free(struct groups *groups); /* NULL is fine */
extern const struct walk_calls groups_calls;
/* A table named after the key, the most time first. Returns 0 or -ENOMEM. */
int groups_fill(struct groups *groups, struct table **table);

#endif
