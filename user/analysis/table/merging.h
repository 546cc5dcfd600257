/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merges tables of one kind from several reports, each number by the rule of its column. An
 * analysis defines the rules once, in its struct analysis; most follow from units:
 *
 *	counts, bytes, thread time           are added
 *	percentiles (p50_ns, p99_ns)         are computed from all values; max_ns is the maximum
 *	other times                          unions: known if only one table has any, or if the
 *	                                     runs do not overlap; otherwise the sum is shown for
 *	                                     the unknown union (cell.summed: null in JSON)
 *	reals                                are unknown for several tables
 *	texts, identifiers, booleans         are kept if equal in all tables, otherwise unknown
 */
#ifndef FAULTLINE_MERGING_H
#define FAULTLINE_MERGING_H

#include "base/map.h"
#include "analysis/table/table.h"

/*
 * Exceptions to the rules by unit. Names are separated by commas; "*" at one end of a name matches
 * anything.
 */
struct merging {
	/* Rows with equal values here are merged; NULL: no rows are merged. */
	const char *keys;
	const char *added;
	const char *unions; /* numbers merged like such times: runs may report the same twice */
	const char *apart;  /* known only if runs do not overlap: each includes parts of others */
	const char *most, *least; /* the largest or smallest known value */
	const char *first;	  /* the value of the first table that has one */
	const char *joined;	  /* texts: all distinct ones, separated by commas */
	const char *listed;	  /* lists of texts: their union */
	const char *any, *all;	  /* booleans */
	const char *status;	  /* the first that is not 0; unknown if any is unknown */
	const char *moments;	  /* times from the start of the run: the earliest */
	const char *same;	  /* kept if equal in all tables, otherwise unknown */
	const char *unknown;	  /* unknown for several tables */
	/* All other columns come from the row with the largest values of these, compared in
	 * this order. */
	const char *dearest;
	const char *lost;   /* unknown once there are several tables, whatever their rows */
	const char *sorted; /* sort column; a leading "-" sorts the largest first */
	const char *many;   /* noun for rows, as in "other (12 files)"; NULL: "rows" */
	const char *label;  /* column that shows it; NULL: the first key that is a text */
	const char *single; /* a row where this is known is not merged, */
	const char *named;  /* nor is one where this is unknown */
	/* Columns that other code finds by position: none may be inserted between them. */
	const struct table_column *fixed;
	size_t fixed_count;
	bool own;   /* each row belongs to one run: excess rows are cut off, not folded */
	bool top;   /* the first rows by `sorted`: as many as the longest table has */
	bool alone; /* cannot be merged over several runs */
	bool whole; /* its numbers are unknown if one run lacks this table */
};

enum merge_rule {
	MERGE_KEY,
	MERGE_ADD,
	MERGE_UNION,
	MERGE_APART,
	MERGE_MAX,
	MERGE_MIN,
	MERGE_FIRST,
	MERGE_JOIN,
	MERGE_LIST,
	MERGE_ANY,
	MERGE_ALL,
	MERGE_STATUS,
	MERGE_MOMENT,
	MERGE_SAME,
	MERGE_UNKNOWN,
	MERGE_LOST,
	MERGE_DEAREST,
	MERGE_PERCENTILE,
	MERGE_RULES,
};

/* Returns the rule by which a column of an analysis's table is merged. */
enum merge_rule merge_rule_of(const struct merging *merging, const struct table_column *column);
/* Returns whether every name in the rules matches a column; if not, *unknown points to one. */
bool merging_fits(const struct merging *merging, const struct table *table, const char **unknown);

/* The source of a table. */
struct merge_source {
	uint64_t shift; /* to add to its moments */
	bool apart;	/* its run overlaps none merged before */
};

/* The table that others are merged into. */
struct merged {
	const struct merging *merging;
	struct table *table; /* owned */
	enum merge_rule *rules;
	struct map rows; /* hash of the keys -> row + 1 */
	struct merged_row {
		uint32_t tables;  /* that have the row */
		uint32_t foldeds; /* tables among these that lack rows */
	} * sources;
	size_t source_room;
	uint32_t tables, foldeds; /* merged so far; those that lack rows */
	size_t other;		  /* row of the folded rows, plus 1; 0: none */
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

/* Folds all rows except the largest `most` into one, or cuts them off if rows are not merged.
 * Replaces the table. */
int merging_fold(const struct merging *merging, struct table **table, size_t most);

#endif
