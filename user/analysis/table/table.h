/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Neutral tables: what analyses fill and renderers print. A table is its columns, each with name,
 * title, unit, meaning and a getter that fills its cell of a row. It knows nothing of how a number
 * was made or how it will look.
 *
 * An analysis lists its columns once and gives each row to table_add, which asks every column:
 *
 *	struct line { const char *path; uint64_t bytes; };
 *	static const struct table_column columns[] = {
 *		{ "path", "file", UNIT_NONE, "path of the file", get_path },
 *		{ "bytes", "bytes", UNIT_BYTES, "moved by calls", TABLE_UINT(struct line, bytes) },
 *	};
 */
#ifndef FAULTLINE_TABLE_H
#define FAULTLINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/base/histogram.h"

enum cell_type {
	CELL_NULL, /* not measured, or no meaning here; never printed as 0 */
	CELL_UINT,
	CELL_INT,
	CELL_REAL,
	CELL_BOOL,
	CELL_TEXT,  /* bytes of any kind, hostile */
	CELL_TEXTS, /* a list of texts */
	CELL_TABLE, /* a table within, such as a row for each rank */
};

enum table_unit {
	UNIT_NONE,  /* an identifier or a text: 1234567 */
	UNIT_COUNT, /* how many: 1,234,567 */
	UNIT_BYTES,
	UNIT_NS,
	UNIT_SHARE, /* a CELL_REAL of 0 to 1: 12.3% */
	UNIT_PATH,  /* a text that is shortened in its directories only, and stands last */
};

/* The unit's name in lists of columns. */
const char *table_unit_name(enum table_unit unit);

enum table_shape {
	TABLE_RECORD, /* exactly one row: a JSON object */
	TABLE_LIST,   /* rows: a JSON array of objects */
};

struct table;

struct cell {
	enum cell_type type : 16;
	bool at_least;	 /* a number that may be larger: see lower_bounds.h */
	bool summed;	 /* it stands for one that is not known: see summed.h */
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

/*
 * Fills a cell, which is CELL_NULL, of a row; `row` is what the analysis gave to table_add. Returns
 * 0 or -ENOMEM.
 */
typedef int table_getter(struct table *table, struct cell *cell, const void *row,
			 const struct table_column *column);

struct table_column {
	const char
		*name; /* of the JSON report; dots nest: "read.bytes" is {"read": {"bytes": ...}} */
	const char *title; /* heading in the text report; NULL: only in JSON */
	enum table_unit unit;
	const char *meaning; /* a line for --list-columns */
	table_getter *get;   /* NULL: the cells stay CELL_NULL */
	size_t key;	     /* for getters that several columns share, as an offset in the row */
	unsigned int needs;  /* bits that table.recorded must have, or the cells stay CELL_NULL */
};

struct table_text {
	const char *bytes; /* not NUL-terminated; NULL: none */
	size_t length;
};

/* Columns that stand together, "NAME.COLUMN", such as the measures of one class of I/O. */
struct table_group {
	const char *name, *title; /* `title` goes in front of those of the columns */
	unsigned int needs;	  /* without them one column NAME that is always CELL_NULL */
	const struct table_column *columns;
	size_t count;
};

#define TABLE_COLUMNS(list) (list), sizeof(list) / sizeof((list)[0])

/* Getters of what stands in the row itself: the rest of a column's initializer. */
#define TABLE_UINT(type, member) table_get_uint, offsetof(type, member)
#define TABLE_INT(type, member) table_get_int, offsetof(type, member)
#define TABLE_REAL(type, member) table_get_real, offsetof(type, member)
#define TABLE_BOOL(type, member) table_get_bool, offsetof(type, member)
#define TABLE_MAYBE(type, member) table_get_maybe, offsetof(type, member)
#define TABLE_LITERAL(type, member) table_get_literal, offsetof(type, member)
#define TABLE_TEXT(type, member) table_get_text, offsetof(type, member)
#define TABLE_P50(type, member) table_get_p50, offsetof(type, member)
#define TABLE_P99(type, member) table_get_p99, offsetof(type, member)

/* Numbers of a row that mean: not known, CELL_NULL. */
#define TABLE_NO_UINT UINT64_MAX
#define TABLE_NO_INT INT64_MIN

#define TABLE_SHOWN_MAX 24
#define TABLE_NO_COLUMN SIZE_MAX

/* What of a table people are shown unless they ask for more. */
struct table_view {
	size_t shown[TABLE_SHOWN_MAX]; /* columns, what matters most first */
	size_t shown_count;	       /* 0: all that have a title */
	size_t by;	   /* rows are sorted by this column, which the others' share is of ... */
	size_t only;	   /* ... and those whose bool is false left out; or TABLE_NO_COLUMN */
	const char *share; /* title of the share; NULL: "of I/O" */
	bool text_only;	   /* the same numbers stand in other tables: not in JSON */
	bool heat; /* its rows are those of heat maps (heat.h), and drawn so unless asked for */
};

/* What a percentile in a cell is of: with it several tables' can be told of together. */
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
	unsigned int recorded; /* see table_column.needs; the analysis's own bits */
	struct table_view view;
	struct table_column *columns;
	size_t column_count;
	struct cell *cells; /* row_count x column_count, row by row, in the order to print */
	size_t row_count;
	struct table_percentile *percentiles; /* by row and column */
	size_t percentile_count, percentile_room;
	uint64_t folded;    /* rows that the last one is the sum of; 0: it stands for itself */
	uint64_t cut;	    /* rows that had no room, and that nothing stands for */
	struct table *next; /* of the tables within the same one */
	void *arena;	    /* owner of everything above */
};

/* All functions return 0 or -ENOMEM, but where said otherwise. Texts are copied. */
int table_new(struct table **table, const char *name, const char *title, enum table_shape shape);
void table_free(struct table *table); /* NULL is fine */
/* Columns are added before the first row. All texts of a column are copied. */
int table_add_column(struct table *table, const struct table_column *column);
int table_add_columns(struct table *table, const struct table_column *columns, size_t count);
/* The columns of a group; `base` is added to their keys. */
int table_add_group(struct table *table, const struct table_group *group, size_t base);
/* Adds a row and lets the columns fill it. */
int table_add(struct table *table, const void *row);

table_getter table_get_uint;	/* a uint64_t, or TABLE_NO_UINT */
table_getter table_get_int;	/* an int64_t, or TABLE_NO_INT */
table_getter table_get_real;	/* a double; what is not finite is CELL_NULL */
table_getter table_get_bool;	/* a bool */
table_getter table_get_maybe;	/* an int8_t: 0, 1, or less where that is not known */
table_getter table_get_literal; /* a const char *; NULL is CELL_NULL */
table_getter table_get_text;	/* a struct table_text; CELL_NULL without bytes */
table_getter table_get_p50;	/* of a const struct histogram *; NULL is CELL_NULL */
table_getter table_get_p99;

/* Columns get the getters and keys of those of the same names that `add_columns` adds to a table,
 * others have none any more: a row is what those are made of, for table_read_row. Returns 0 or a
 * negative errno. */
int table_adopt(struct table *table, int (*add_columns)(struct table *like));
/* The inverse of table_add, of what stands in the row itself: what is CELL_NULL, or of another type
 * than its getter makes, leaves what is there. Texts belong to the table. */
void table_read_row(const struct table *table, size_t row, void *into);

/* Adds a row of CELL_NULL; *row is valid until the next row is added. */
int table_add_row(struct table *table, struct cell **row);
int table_set_text(struct table *table, struct cell *cell, const char *bytes, size_t length);
/* The same for a NUL-terminated text; NULL is CELL_NULL. */
int table_set_literal(struct table *table, struct cell *cell, const char *text);
int table_set_texts(struct table *table, struct cell *cell, const struct cell *texts, size_t count);
/* Adds a copy of a text to a list. */
int table_append_text(struct table *table, struct cell *cell, const struct cell *text);
/* A copy of another table's cell, with all that it points to. */
int table_copy_cell(struct table *table, struct cell *cell, const struct cell *from);
/* Says what the percentile in a cell of the last row is of, which is copied. */
int table_note_percentile(struct table *table, const struct cell *cell,
			  const struct histogram *histogram, unsigned int percent);
/* What one is of, or NULL. */
struct table_percentile *table_find_percentile(const struct table *table, size_t row,
					       size_t column);
/* Makes a table within this one, which frees it. */
int table_set_table(struct table *table, struct cell *cell, enum table_shape shape,
		    struct table **within);
/*
 * Sets the view from names separated by commas; `by` and `only` may be NULL. Columns of a layer
 * that was not recorded are left out. Returns 0, or -EINVAL for a name that is no column; then
 * *unknown, unless that is NULL, receives where it begins.
 */
int table_show(struct table *table, const char *shown, const char *by, const char *only,
	       const char **unknown);
/* What the text report says below the table; the text is copied. */
int table_set_note(struct table *table, const char *note);
/* Gives a column another heading; the text is copied. */
int table_set_title(struct table *table, size_t column, const char *title);
/* Says what columns mean that do not, as those of the same names of another table do. */
int table_take_meanings(struct table *table, const struct table *like);
/* Sorts the rows; those that compare as equal stay as they are. Returns 0 or -ENOMEM. */
int table_sort(struct table *table,
	       int (*compare)(const struct table *table, size_t a, size_t b, const void *context),
	       const void *context);
/* What cells of a column are that are not CELL_NULL: CELL_UINT, _INT, _REAL, _BOOL, or CELL_TEXT,
 * which also stands for lists and tables. */
enum cell_type table_column_type(const struct table_column *column);
/* Index of the column of that name, or -1. */
int table_find_column(const struct table *table, const char *name);
/* The number in a row's column of that name, 0 where there is none. False where it stands for one
 * that is not known (cell.summed). */
bool table_number(const struct table *table, size_t row, const char *name, uint64_t *number);

/* The cells of a row. */
static inline struct cell *table_row(const struct table *table, size_t row)
{
	return &table->cells[row * table->column_count];
}

/* Whether a row stands for all that the table does not tell one by one. */
static inline bool table_is_rest(const struct table *table, size_t row)
{
	return table->folded && row + 1 == table->row_count;
}

/* The rows in the order to show them: those with the most of view.by first, the rest last. To be
 * freed; NULL when memory is out. */
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

/* Whether it is this text. */
static inline bool cell_is(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && cell->length == strlen(text) &&
	       !memcmp(cell->text, text, cell->length);
}

#endif
