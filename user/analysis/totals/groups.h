/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "groups": I/O by a key of the user's choice, see rollup_keys. */
#pragma once

#include "analysis/shared/analysis.h"
#include "analysis/shared/rollup.h"

struct groups;

/* Returns NULL after an error of the arena. */
struct groups *groups_new(struct arena *arena, const struct job *job, const struct rollup_key *key);
extern const struct walk_calls groups_calls;
/* Makes a table named after the key, most time first. Returns 0 or -ENOMEM. */
int groups_fill(struct groups *groups, struct table **table);
