/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the bits of `flags` columns are called. Knows nothing of how they are shown.
 */
#ifndef FAULTLINE_FLAGS_H
#define FAULTLINE_FLAGS_H

#include "trace/schema.h"

/* The name of a bit of trace/flags.h in rows of this kind; NULL for one without a name. */
const char *flags_name(enum trace_kind kind, unsigned int bit);

#endif
