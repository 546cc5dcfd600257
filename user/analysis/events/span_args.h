/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Single arguments of spans, as packed by the program: hostile. */
#pragma once

#include "analysis/events/event.h"

/*
 * Finds the named argument of an event that began a span, in a walk that requests the column
 * SPAN_BEGIN_ARGS. False if it is missing or not an integer that fits.
 */
bool span_args_int(const struct job *job, const struct event *event, const char *name,
		   int64_t *value);
