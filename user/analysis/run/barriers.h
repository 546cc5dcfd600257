/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How far the wall clocks of hosts are apart, by barriers: spans whose name contains "barrier". No
 * process leaves a barrier before all have reached it. So the n-th barrier cannot end on one host
 * before it has begun on every other, and how far it seems to do so bounds the difference of their
 * clocks from below; the same in the other direction bounds it from above.
 */
#pragma once

#include "analysis/shared/results.h"
#include "base/strbuf.h"
#include "collections/map.h"

/* State of analysis_caveats. */
struct barriers {
	const struct job *job;
	struct map reached; /* label, process -> barriers so far */
	struct map passed;  /* label, n, host -> the last one's begin, the first one's end */
};

void barriers_begin(void *state, const struct job *job, struct arena *arena);
int barriers_span_ended(void *state, uint32_t slot, const struct event *event);
/* Writes the largest difference that is certain, if it is large enough to matter. */
void barriers_say(struct strbuf *text, const struct results *results);
