/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames one after the other, on a terminal or printed. Knows nothing of options.
 */
#ifndef FAULTLINE_TOP_LIVE_H
#define FAULTLINE_TOP_LIVE_H

#include "output/sink.h"
#include "top/controls.h"

/* Where samples come from. */
struct live_source {
	/* Puts the JSON of /jobs into `json`, a memory sink, which is emptied before. Returns 0 or
	 * a negative errno; `trouble`, of `size` bytes, says what is wrong. */
	int (*take)(void *context, struct sink *json, char *trouble, size_t size);
	void *context;
	const char *where; /* for people */
};

struct live {
	struct live_source source;
	struct controls controls; /* what is seen at first */
	uint64_t interval_ns;
	uint64_t frames;    /* then it ends; 0: it does not */
	bool batch;	    /* printed, without a terminal */
	bool json;	    /* then: one object a frame, a line each */
	const char *colour; /* see style_colour */
};

/* Without `batch` terminal_prepare comes first. Returns 0, or a negative errno, logged. */
int live_run(const struct live *live);

#endif
