/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables, which analyses fill and renderers print. Each column has a name, title, unit, kind,
 * meaning and a getter that fills its cell of a row.
 *
 * An analysis lists its columns once and passes each row to table_add, which calls every getter.
 * Errors are sticky: after the first one a table stays as it is, and table_status returns it once
 * the table is complete.
 *
 *	struct line { const char *path; uint64_t bytes; };
 *	static const struct table_column columns[] = {
 *		{ "path", "file", UNIT_PATH, KIND_KEY, "path of the file", get_path },
 *		COLUMN(line, bytes, "bytes", BYTES, SUM, "moved by calls"),
 *	};
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/table/stretch.h"
#include "collections/histogram.h"

enum cell_type {
	CELL_NULL, /* not measured, or no meaning here; never printed as 0 */
	CELL_UINT,
	CELL_INT,
	CELL_REAL,
	CELL_BOOL,
	CELL_TEXT,  /* bytes of any kind, hostile */
	CELL_TEXTS, /* a list of texts */
	CELL_TABLE, /* a nested table, for example with a row per rank */
};

enum table_unit {
	UNIT_NONE,  /* an identifier or a text: 1234567 */
	UNIT_COUNT, /* how many: 1,234,567 */
	UNIT_BYTES,
	UNIT_NS,
	UNIT_SHARE, /* a CELL_REAL of 0 to 1: 12.3% */
	UNIT_PATH,  /* a text whose directories may be shortened, shown last */
};

/* Returns the unit's name in lists of columns. */
const char *table_unit_name(enum table_unit unit);

/*
 * The kind of a column's numbers or texts. With the unit, it decides how tables of several
 * runs merge (merging.h), which numbers are lower bounds after loss (lower_bounds.h), what is
 * unknown if operations were aggregated (summed.h), and how the page narrows the column to a part
 * of the run. A summary stores these numbers: append only.
 */
enum table_kind {
	KIND_NONE,
	KIND_KEY,	   /* identifies the row, with the other keys */
	KIND_FACT,	   /* the same wherever the row occurs; unknown if tables contradict */
	KIND_SUM,	   /* adds up: counts, bytes, parts of times */
	KIND_THREAD,	   /* time summed over threads, or spans: adds up */
	KIND_UNION,	   /* time with at least one operation in progress: adds up if the runs do
			    * not overlap; unknown if operations were aggregated */
	KIND_COVERED,	   /* the same for spans, requests, processes, which are never aggregated;
			    * and counts that overlapping runs may share */
	KIND_UNOVERLAPPED, /* time of one thing outside another, which may be in another run:
			    * known only if the runs do not overlap */
	KIND_REMAINDER,	   /* the same, but lost events make it too large */
	KIND_RATIO,	   /* follows from a KIND_UNION: its share, bytes per second of it */
	KIND_DERIVED, /* follows from the whole run: ratios, means, numbers of different things */
	KIND_PERCENTILE,
	KIND_MAX,
	KIND_MIN,
	KIND_MOMENT,   /* time since the start of the run; the earliest of several */
	KIND_DURATION, /* of the row's subject, which begins at its KIND_MOMENT */
	KIND_FIRST,    /* the value of the first run that has one */
	KIND_LIST,     /* lists of texts, or texts separated by commas: all distinct ones */
	KIND_ANY,      /* booleans */
	KIND_ALL,
	KIND_STATUS,  /* the first that is not 0; unknown if any is unknown */
	KIND_SHARED,  /* of a thing that rows share, like their device: unknown for several runs */
	KIND_LARGEST, /* as in the row with the largest values of merging.costliest */
	KIND_TOTAL,   /* adds up; unknown if unknown for any run */
	TABLE_KINDS,
};

/* The kind's name in lists of columns, and its meaning over several runs. */
struct table_kind_text {
	const char *name, *meaning;
};
extern const struct table_kind_text table_kinds[TABLE_KINDS];

enum table_shape {
	TABLE_RECORD, /* exactly one row: a JSON object */
	TABLE_LIST,   /* rows: a JSON array of objects */
};

struct table;

struct cell {
	enum cell_type type : 16;
	bool at_least;	 /* a number that may be larger: see lower_bounds.h */
	bool summed;	 /* a sum in place of an unknown union: see summed.h */
	uint32_t length; /* of a text, or of a list */
	union {
		uint64_t uint;
		int64_t sint;
		double real;
		bool flag;
		const char *text;
		const struct cell *texts; /* `length` cells of type CELL_TEXT */
		const struct table *table;
	};
};

struct table_column;

/* Fills a cell, initially CELL_NULL. `row` is what the analysis passed to table_add. */
typedef void table_getter(struct table *table, struct cell *cell, const void *row,
			  const struct table_column *column);

struct table_column {
	const char
		*name; /* of the JSON report; dots nest: "read.bytes" is {"read": {"bytes": ...}} */
	const char *title; /* heading in the text report; NULL: only in JSON */
	enum table_unit unit;
	enum table_kind kind;
	const char *meaning;  /* a line for --list-columns */
	table_getter *get;    /* NULL: the cells stay CELL_NULL */
	size_t key;	      /* for getters shared by columns, usually an offset in the row */
	unsigned int needs;   /* bits that table.recorded must have, or the cells stay CELL_NULL */
	unsigned int stretch; /* its summands, for parts of the run: see stretch.h */
};

struct table_text {
	const char *bytes; /* not NUL-terminated; NULL: none */
	size_t length;
};

/* A group of columns, "NAME.COLUMN", for example the measures of one class of I/O. */
struct table_group {
	const char *name, *title; /* `title` precedes the columns' titles */
	unsigned int needs;	  /* without them one column NAME that is always CELL_NULL */
	const struct table_column *columns;
	size_t count;
};

#define TABLE_COLUMNS(list) (list), sizeof(list) / sizeof((list)[0])

/* Getters of members of the row, to be followed by `needs`, if any. */
#define TABLE_UINT(type, member) .get = table_get_uint, .key = offsetof(type, member)
#define TABLE_INT(type, member) .get = table_get_int, .key = offsetof(type, member)
#define TABLE_REAL(type, member) .get = table_get_real, .key = offsetof(type, member)
#define TABLE_BOOL(type, member) .get = table_get_bool, .key = offsetof(type, member)
#define TABLE_LITERAL(type, member) .get = table_get_literal, .key = offsetof(type, member)
#define TABLE_TEXT(type, member) .get = table_get_text, .key = offsetof(type, member)
#define TABLE_P50(type, member) .get = table_get_p50, .key = offsetof(type, member)
#define TABLE_P99(type, member) .get = table_get_p99, .key = offsetof(type, member)

/* A column that shows a member of the row, whose type chooses the getter; `needs`, if any, and the
 * rest of a struct table_column follow. */
#define COLUMN_AS(name, type, member, title, unit, kind, meaning, ...)                               \
	{                                                                                            \
		name, title, UNIT_##unit, KIND_##kind, meaning,                                    \
			.get = _Generic(((struct type *)0)->member,                                \
				uint64_t: table_get_uint,                                          \
				int64_t: table_get_int,                                            \
				double: table_get_real,                                            \
				bool: table_get_bool,                                              \
				int8_t: table_get_maybe,                                           \
				uint32_t: table_get_device,                                        \
				const char *: table_get_literal,                                   \
				struct table_text: table_get_text),                                \
			.key = offsetof(struct type, member), ##__VA_ARGS__ \
	}
/* Named after the member. */
#define COLUMN(type, member, title, unit, kind, meaning, ...)                                      \
	COLUMN_AS(#member, type, member, title, unit, kind, meaning, ##__VA_ARGS__)

/* Numbers in a row that mean unknown, CELL_NULL. */
#define TABLE_NO_UINT UINT64_MAX
#define TABLE_NO_INT INT64_MIN

#define TABLE_SHOWN_MAX 24
#define TABLE_NO_COLUMN SIZE_MAX

/* What the text report shows of a table by default. */
struct table_view {
	size_t shown[TABLE_SHOWN_MAX]; /* columns, most important first */
	size_t shown_count;	       /* 0: all that have a title */
	size_t by;	   /* column that rows are sorted by and shares are computed from */
	size_t only;	   /* bool column: hides rows where it is false; or TABLE_NO_COLUMN */
	const char *share; /* title of the share; NULL: "of I/O" */
	bool text_only;	   /* repeats numbers of other tables: not in JSON */
	bool heat;	   /* rows form heat maps (heat.h), drawn unless rows are requested */
	bool merges;	   /* rows that look the same are shown as one: merging_shown */
};

/* The histogram behind a percentile in a cell, for merging tables. */
struct table_percentile {
	size_t row, column;
	unsigned int percent;
	struct sparse_histogram of;
};

struct table {
	const char *name;    /* key in the JSON report */
	const char *title;   /* heading in the text report; NULL: only in JSON */
	const char *meaning; /* a line for --list-tables, not copied; may be NULL */
	enum table_shape shape;
	bool absent; /* its layer was not captured: JSON null; `note` says why in the text report */
	const char *note;
	unsigned int recorded; /* see table_column.needs; bits defined by the analysis */
	struct table_view view;
	struct table_column *columns;
	size_t column_count;
	struct cell *cells; /* row_count x column_count, row by row, in the order to print */
	size_t row_count;
	struct table_percentile *percentiles; /* by row and column */
	size_t percentile_count, percentile_room;
	uint64_t folded;    /* rows summed up in the last one; 0: it is an ordinary row */
	uint64_t cut;	    /* rows dropped for lack of room, in no sum */
	struct table *next; /* next nested table of the same parent */
	void *arena;	    /* owner of everything above */
};

/* Functions that change a table do nothing after an error. They take NULL, a table for which there
 * was no memory. Texts are copied. */

/* Returns NULL if out of memory. */
struct table *table_new(const char *name, const char *title, enum table_shape shape);
void table_free(struct table *table);
/* Returns 0 or the first error of a table and those nested in it. */
int table_status(const struct table *table);
/* Sets the table's error to that of something else that belongs to it; 0 is fine. */
void table_fail(struct table *table, int status);
/* Columns must be added before the first row. All texts of a column are copied. */
void table_add_column(struct table *table, const struct table_column *column);
void table_add_columns(struct table *table, const struct table_column *columns, size_t count);
/* Adds the columns of a group, with `base` added to their keys. */
void table_add_group(struct table *table, const struct table_group *group, size_t base);
/* Adds a row and fills it with the columns' getters. */
void table_add(struct table *table, const void *row);

table_getter table_get_uint;	/* a uint64_t, or TABLE_NO_UINT */
table_getter table_get_int;	/* an int64_t, or TABLE_NO_INT */
table_getter table_get_real;	/* a double; CELL_NULL unless finite */
table_getter table_get_bool;	/* a bool */
table_getter table_get_maybe;	/* an int8_t: 0, 1, or negative if unknown */
table_getter table_get_device;	/* a uint32_t: the number of a device, as major:minor; 0: none */
table_getter table_get_literal; /* a const char *; NULL is CELL_NULL */
table_getter table_get_text;	/* a struct table_text; CELL_NULL without bytes */
table_getter table_get_p50;	/* of a const struct histogram *; NULL is CELL_NULL */
table_getter table_get_p99;

/* Sets the getters and keys of columns, for table_read_row, to those of the same names that
 * `add_columns` adds to a table, and clears those of all others. */
void table_adopt(struct table *table, void (*add_columns)(struct table *like));
/* The inverse of table_add, for members of the row. Leaves members unchanged whose cells are
 * CELL_NULL or of another type than their getter makes. Texts belong to the table. */
void table_read_row(const struct table *table, size_t row, void *into);

/* Adds a row of CELL_NULL, valid until the next row is added. Returns NULL after an error. */
struct cell *table_add_row(struct table *table);
void table_set_text(struct table *table, struct cell *cell, const char *bytes, size_t length);
/* The same for a NUL-terminated text; NULL is CELL_NULL. */
void table_set_literal(struct table *table, struct cell *cell, const char *text);
void table_set_texts(struct table *table, struct cell *cell, const struct cell *texts,
		     size_t count);
/* Adds a copy of a text to a list made by table_set_texts. */
void table_append_text(struct table *table, struct cell *cell, const struct cell *text);
/* Copies another table's cell, with everything it points to. */
void table_copy_cell(struct table *table, struct cell *cell, const struct cell *from);
/* Records a copy of the histogram behind the percentile in a cell of the last row. */
void table_note_percentile(struct table *table, const struct cell *cell,
			   const struct histogram *histogram, unsigned int percent);
/* Returns the histogram recorded for a cell, or NULL. */
struct table_percentile *table_find_percentile(const struct table *table, size_t row,
					       size_t column);
/* Makes a nested table with the same `recorded`, which is freed with this one. Returns NULL after
 * an error. */
struct table *table_set_table(struct table *table, struct cell *cell, enum table_shape shape);
/*
 * Sets the view from names separated by commas; `by` and `only` may be NULL. Columns of a layer
 * that was not recorded are left out. Returns 0, the table's error, or -EINVAL for a name that is
 * not a column; then *unknown, unless `unknown` is NULL, points to it.
 */
int table_show(struct table *table, const char *shown, const char *by, const char *only,
	       const char **unknown);
/* Sets the note that the text report prints below the table; the text is copied. */
void table_set_note(struct table *table, const char *note);
/* The same, after what the note says already. */
void table_append_note(struct table *table, const char *note);
/* Marks the table as absent or not, with a note that says why; returns whether. */
bool table_absent_if(struct table *table, bool is_absent, const char *why);
/* Changes the heading of a column; the text is copied. */
void table_set_title(struct table *table, size_t column, const char *title);
/* Copies missing meanings from the columns of the same names in another table. An absent table
 * without columns gets all of them. */
void table_take_meanings(struct table *table, const struct table *like);
/* Sorts the rows; equal ones keep their order. */
void table_sort(struct table *table,
		int (*compare)(const struct table *table, size_t a, size_t b, const void *context),
		const void *context);
/* Returns the type of a column's cells other than CELL_NULL: CELL_UINT, _INT, _REAL, _BOOL, or
 * CELL_TEXT, which includes lists and tables. */
enum cell_type table_column_type(const struct table_column *column);
/* Returns the index of the column of that name, or -1. */
int table_find_column(const struct table *table, const char *name);
/* Gets the number in a row's column of that name, 0 if there is none. Returns false if the true
 * value is unknown (cell.summed). */
bool table_number(const struct table *table, size_t row, const char *name, uint64_t *number);
/* Returns that number. */
uint64_t table_uint(const struct table *table, size_t row, const char *name);

/* Returns the text at the head of a column. */
static inline const char *table_heading(const struct table_column *column)
{
	return column->title ?: column->name;
}

/* Returns the cells of a row. */
static inline struct cell *table_row(const struct table *table, size_t row)
{
	return &table->cells[row * table->column_count];
}

/* Returns whether a row sums up all rows that are not listed. */
static inline bool table_is_rest(const struct table *table, size_t row)
{
	return table->folded && row + 1 == table->row_count;
}

/* Returns the rows in display order: largest view.by first, the row for the rest last. Free the
 * result; NULL if out of memory. */
size_t *table_order(const struct table *table);

static inline void cell_uint(struct cell *cell, uint64_t value)
{
	cell->type = CELL_UINT;
	cell->uint = value;
}

static inline void cell_int(struct cell *cell, int64_t value)
{
	cell->type = CELL_INT;
	cell->sint = value;
}

static inline void cell_real(struct cell *cell, double value)
{
	cell->type = CELL_REAL;
	cell->real = value;
}

static inline void cell_bool(struct cell *cell, bool value)
{
	cell->type = CELL_BOOL;
	cell->flag = value;
}

/* Returns whether the cell is this text. */
static inline bool cell_is(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && cell->length == strlen(text) &&
	       !memcmp(cell->text, text, cell->length);
}
