/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "trace": its columns, for code that prints what ran; more columns follow these. */
#pragma once

#include "analysis/shared/analysis.h"

enum about_column {
	ABOUT_FILES,
	ABOUT_HOSTS,
	ABOUT_KERNEL,
	ABOUT_COMMAND,
	ABOUT_EXIT,
	ABOUT_START,
	ABOUT_DURATION,
	ABOUT_MODE,
	ABOUT_COMPLETE,
	ABOUT_INCOMPLETE,
	ABOUT_EVENTS,
	ABOUT_SURVIVORS,
	ABOUT_NOT_FOLLOWED,
	ABOUT_PROCESSES,
	ABOUT_RANKS,
	ABOUT_LOST,
	ABOUT_LOST_CAUSE,
	ABOUT_BEGUN_BY,
	ABOUT_TARGETS,
};

/* Returns the layers, JOB_*, that some of the traces recorded. */
unsigned int trace_layers(const struct table *trace);
