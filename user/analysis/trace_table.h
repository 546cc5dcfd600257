/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "trace": its columns, for those who write what ran; others follow them.
 */
#ifndef FAULTLINE_TRACE_TABLE_H
#define FAULTLINE_TRACE_TABLE_H

#include "analysis/analysis.h"

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

/* Events that the kernel counted and that are neither there nor lost, or that are there uncounted.
 * Of complete traces: 0, or something is wrong with them. */
uint64_t trace_unaccounted(const struct job *job);

#endif
