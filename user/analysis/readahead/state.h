/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fetched pages by file, which readahead.c collects and table.c turns into a table. */
#pragma once

#include "analysis/readahead/fetched_map.h"
#include "analysis/readahead/readahead.h"
#include "collections/longest.h"

struct under_way;

struct read_file {
	struct readahead_sums sums;
	struct under_way *under_way;
	size_t count, room;
	uint64_t elsewhere_bytes; /* fetched by operations that do not name the pages they use */
	uint64_t ahead_pages;	  /* in the map, neither used nor gone; 0: no need to look */
	bool listed;		  /* has a row */
};

struct readahead {
	const struct job *job;
	struct arena *arena;
	struct read_file **files; /* by file number; NULL: nothing was fetched */
	/* Files that may have operations in progress, and how many did at the last check. */
	uint32_t *busy;
	size_t busy_count, busy_room, busy_left;
	struct fetched_map map;
	struct longest_choice choice; /* of files with a row, by bytes fetched */
};

/* Callbacks of the analysis. */
void readahead_begin(void *state, const struct job *job, struct arena *arena);
int readahead_add_events(void *state, const struct event *events, size_t count);
int readahead_add_series(void *state, const struct event_series *series);
