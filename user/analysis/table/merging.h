/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merges tables of one analysis from several reports: each number as the kind of its column says
 * (enum table_kind). A number that cannot be known becomes CELL_NULL, or, in place of an unknown
 * union, the sum (cell.summed: null in JSON).
 */
#pragma once

#include "collections/map.h"
#include "analysis/table/table.h"

/* How a table merges, beyond the kinds of its columns. Without a KIND_KEY, no rows are merged. */
struct merging {
	/* Columns that decide which of two rows KIND_LARGEST is from, compared in this order;
	 * names separated by commas. */
	const char *costliest;
	const char *sorted; /* sort column; a leading "-" sorts the largest first */
	const char *many;   /* noun for rows, as in "other (12 files)"; NULL: "rows" */
	const char *label;  /* column that shows it; NULL: the first key that is a text */
	const char *single; /* a row where this is known is not merged, */
	const char *named;  /* nor is one where this is unknown */
	bool many_single;   /* most rows are of a single run or host: see report_sum_bound */
	/* Columns that other code finds by position: none may be inserted between them. */
	const struct table_column *fixed;
	size_t fixed_count;
	bool own;   /* each row belongs to one run: excess rows are cut off, not folded */
	bool top;   /* the first rows by `sorted`: as many as the longest table has */
	bool alone; /* cannot be merged over several runs */
	bool whole; /* its numbers are unknown if one run lacks this table */
};

/* The source of a table. */
struct merge_source {
	uint64_t shift; /* to add to its moments */
	bool disjoint;	/* its run overlaps none merged before */
};

/* The table that others are merged into. */
struct merged {
	const struct merging *merging;
	struct table *table; /* owned */
	bool keyed;	     /* rows with equal keys are merged */
	struct map rows;     /* hash of the keys -> row + 1 */
	struct merged_row {
		uint32_t tables;     /* that have the row */
		uint32_t incomplete; /* tables among these that lack rows */
	} * sources;
	size_t source_room;
	uint32_t tables, incomplete; /* merged so far; those that lack rows */
	size_t other;		     /* row of the folded rows, plus 1; 0: none */
	uint64_t folded, cut;
	size_t longest; /* most rows in one table */
};

/* Starts empty, with the columns of `like`. Free it even after an error. Functions return 0 or
 * -ENOMEM. */
int merged_begin(struct merged *merged, const struct merging *merging, const struct table *like);
int merged_add(struct merged *merged, const struct table *from, const struct merge_source *source);
/* Adds to all moments, once an earlier run turns up. */
void merged_shift(struct merged *merged, uint64_t shift);
/* Marks lower bounds and sorts. Nothing may be added afterwards. */
int merged_finish(struct merged *merged);
/* Returns the table; the caller takes ownership. */
struct table *merged_take(struct merged *merged);
void merged_free(struct merged *merged);

/* Folds all rows except the largest `max` into one, or cuts them off if rows are not merged.
 * Replaces the table. */
int merging_fold(const struct merging *merging, struct table **table, size_t max);

/* Makes a table in which rows of `from` are one if they have the same names, which are keys and
 * texts, in the columns that `view` shows. Its DERIVED columns must be shares of a common whole
 * and, in ns, standard errors. Returns 0 or -ENOMEM. */
int merging_shown(const struct table *from, const struct table_view *view, struct table **merged);
