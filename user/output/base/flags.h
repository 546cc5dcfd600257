/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of the bits in `flags` columns. */
#pragma once

#include "trace/format/schema.h"

/* Returns the name of a bit of trace/format/flags.h in rows of this kind, or NULL if it has none.
 */
const char *flags_name(enum trace_kind kind, unsigned int bit);
