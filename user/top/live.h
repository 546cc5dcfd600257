/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shows one frame after another, on a terminal or printed. */
#pragma once

#include "output/base/sink.h"
#include "top/controls.h"

/* Source of samples. */
struct live_source {
	/* Writes the JSON of /jobs to `json`, a memory sink, which is emptied before. Returns 0 or
	 * a negative errno; `error`, of `size` bytes, receives what is wrong. */
	int (*take)(void *context, struct sink *json, char *error, size_t size);
	void *context;
	const char *where; /* for display */
};

struct live {
	struct live_source source;
	struct controls controls; /* initial state */
	uint64_t interval_ns;
	uint64_t frames;    /* to show before ending; 0: no limit */
	bool batch;	    /* printed, without a terminal */
	bool json;	    /* with `batch`: one object per frame, one per line */
	const char *colour; /* see style_colour */
};

/* Without `batch`, terminal_prepare must run first. Returns 0, or a negative errno, logged. */
int live_run(const struct live *live);
