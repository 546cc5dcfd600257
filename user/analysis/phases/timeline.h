/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "timeline": the run in intervals of equal length, for bars and sparklines. */
#pragma once

#include "analysis/shared/analysis.h"

#define TIMELINE_BINS 240

/* Columns of the table, for renderers. */
enum timeline_column {
	TIMELINE_START,
	TIMELINE_LENGTH,
	TIMELINE_COMPUTE,
	/* Time outside compute: all I/O, then by kind. */
	TIMELINE_IO,
	TIMELINE_READ,
	TIMELINE_DIRECT,
	TIMELINE_FAULTS,
	TIMELINE_WRITE,
	TIMELINE_METADATA,
	TIMELINE_SYNC,
	TIMELINE_FETCHED,
	TIMELINE_DIRECT_READ,
	TIMELINE_OPERATIONS,
	TIMELINE_COLUMNS,
};
