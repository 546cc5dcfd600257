/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options that select events, the same for all commands that read traces. */
#pragma once

#include "analysis/order/filter.h"
#include "command/common/options.h"

/* Fields of a struct filter. */
extern const struct option_rows filter_rows;

/* Returns 0, or an exit status after a line on stderr. */
int filters_check(const struct filter *filter);
