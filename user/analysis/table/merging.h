/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of one kind from several reports, made one: each number by the rule of its column. An
 * analysis says what the rules are once, in its struct analysis; most follow from units:
 *
 *	counts, bytes, summed thread time    are added
 *	percentiles (p50_ns, p99_ns)         are those of all values together; the longest is max_ns
 *	other times                          unions: known as long as one table alone has any, or
 *	                                     the runs do not overlap; else their sum stands for the
 *	                                     one that is not known (cell.summed: null in JSON)
 *	reals                                are not known of several
 *	texts, identifiers, truths           as in all of them, or else not known
 *
 * Knows nothing of what a column means, nor of where tables come from.
 */
#ifndef FAULTLINE_MERGING_H
#define FAULTLINE_MERGING_H

#include "analysis/base/map.h"
#include "analysis/table/table.h"

/*
 * What is not as units say. Names are separated by commas; "*" at one end of a name stands for
 * anything.
 */
struct merging {
	/* Rows that have the same there are one; NULL: each row stands for itself. */
	const char *keys;
	const char *added;
	const char *unions; /* numbers as such times are: several runs may tell the same twice */
	const char *apart;  /* known only if runs do not overlap: others have a part in each */
	const char *most, *least; /* the largest or smallest of those that are known */
	const char *first;	  /* of the first table that has one */
	const char *joined;	  /* texts: all that there are, with commas between */
	const char *listed;	  /* lists of texts: all that there are */
	const char *any, *all;	  /* truths */
	const char *status;	  /* the first that is not 0; not known if one is not */
	const char *moments;	  /* times from the start of the run, of which the first counts */
	const char *same;	  /* as in all of them, or not known */
	const char *unknown;	  /* not known of several tables */
	/* All that is not named above is as in the row with the most of these, the first of them
	 * first. */
	const char *dearest;
	const char *lost;   /* not known once there are several tables, whatever rows they have */
	const char *sorted; /* by what rows are sorted; with "-" in front the largest first */
	const char *many;   /* what rows are, for "other (12 files)"; NULL: "rows" ... */
	const char *label;  /* ... in this column; NULL: in the first key that is a text */
	const char *single; /* a row where this is known stands for itself, */
	const char *named;  /* and so does one where this is not */
	/* Columns that others know by their places: none comes between. */
	const struct table_column *fixed;
	size_t fixed_count;
	bool own;   /* a row is of one run alone: many are cut off, not folded */
	bool top;   /* a list of the first by `sorted`: as long as the longest */
	bool alone; /* it cannot be told of several runs together */
	bool whole; /* its numbers are not known where one run has no such table */
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

/* By what rule a column of an analysis's table is merged. */
enum merge_rule merge_rule_of(const struct merging *merging, const struct table_column *column);
/* Whether every name of the rules is one of some column; else *unknown is where one begins. */
bool merging_fits(const struct merging *merging, const struct table *table, const char **unknown);

/* Where a table comes from. */
struct merge_source {
	uint64_t shift; /* to be added to its moments */
	bool apart;	/* its run does not overlap with any that was merged before */
};

/* A table that others are merged into. */
struct merged {
	const struct merging *merging;
	struct table *table; /* owned */
	enum merge_rule *rules;
	struct map rows; /* hash of the keys -> row + 1 */
	struct merged_row {
		uint32_t tables;  /* that had it */
		uint32_t foldeds; /* of these, those that have no room for others */
	} * sources;
	size_t source_room;
	uint32_t tables, foldeds; /* merged so far, and those of them that lack rows */
	size_t other;		  /* the row that folded ones are in, plus 1; 0: none */
	uint64_t folded, cut;
	size_t longest; /* rows of a table */
};

/* An empty one like a table. To be freed after an error, too. Functions return 0 or -ENOMEM. */
int merged_begin(struct merged *merged, const struct merging *merging, const struct table *like);
int merged_add(struct merged *merged, const struct table *from, const struct merge_source *source);
/* Adds to all moments: a run that began earlier has come. */
void merged_shift(struct merged *merged, uint64_t shift);
/* Marks what other tables may have more of, and sorts; nothing may be added after it. */
int merged_finish(struct merged *merged);
/* The table, which is the caller's from now on. */
struct table *merged_take(struct merged *merged);
void merged_free(struct merged *merged);

/* Folds all rows but the largest `most` into one, or cuts them off where each stands for itself.
 * The table is replaced. */
int merging_fold(const struct merging *merging, struct table **table, size_t most);

#endif
