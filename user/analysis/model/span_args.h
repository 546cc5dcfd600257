/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Single arguments of spans, as the program packed them: hostile. Knows nothing of what they mean.
 */
#ifndef FAULTLINE_SPAN_ARGS_H
#define FAULTLINE_SPAN_ARGS_H

#include "analysis/model/event.h"

/*
 * The argument of this name, where it is a whole number that fits; of an event that began a span,
 * in a walk that wants the column SPAN_BEGIN_ARGS. Returns whether there is one.
 */
bool span_args_int(const struct job *job, const struct event *event, const char *name,
		   int64_t *value);

#endif
