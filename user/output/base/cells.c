/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats cells as text, by type and unit. */
#include "output/base/cells.h"

#include "base/units.h"

static void format_uint(struct sink *out, uint64_t value, enum table_unit unit)
{
	char text[UNITS_TEXT];

	switch (unit) {
	case UNIT_BYTES:
		sink_text(out, value ? units_bytes(text, value) : "0");
		break;
	case UNIT_NS:
		sink_text(out, value ? units_ns(text, value) : "0");
		break;
	case UNIT_COUNT:
		sink_text(out, units_count(text, value));
		break;
	default:
		sink_uint(out, value);
	}
}

struct cell cell_as_text(struct sink *out, const struct cell *cell, enum table_unit unit)
{
	const bool numeric = cell->type == CELL_UINT || cell->type == CELL_REAL;
	const bool share = cell->type == CELL_REAL && unit == UNIT_SHARE;
	const char *bound = cell->at_least && numeric ? "≥" : "";
	char text[UNITS_TEXT];

	out->used = 0;
	if (!share)
		sink_text(out, bound);
	switch (cell->type) {
	case CELL_TEXT:
		return *cell;
	case CELL_TEXTS:
		for (uint32_t i = 0; i < cell->length; i++) {
			if (i)
				sink_char(out, ' ');
			sink_bytes(out, cell->texts[i].text, cell->texts[i].length);
		}
		break;
	case CELL_NULL:
		sink_char(out, '-');
		break;
	case CELL_UINT:
		format_uint(out, cell->uint, unit);
		break;
	case CELL_INT:
		if (cell->sint < 0)
			sink_char(out, '-');
		format_uint(out, cell->sint < 0 ? -(uint64_t)cell->sint : (uint64_t)cell->sint,
			    unit);
		break;
	case CELL_REAL:
		if (share)
			sink_text(out, units_share_bound(text, bound, cell->real));
		else
			sink_format(out, "%.3g", cell->real);
		break;
	case CELL_BOOL:
		sink_text(out, cell->flag ? "yes" : "no");
		break;
	case CELL_TABLE:
		sink_uint(out, cell->table->row_count);
		break;
	}
	return (struct cell) { .type = CELL_TEXT, .length = out->used, .text = out->buffer };
}

bool cell_is_empty(const struct cell *cell)
{
	return cell->type == CELL_NULL || (cell->type == CELL_UINT && cell->uint == 0) ||
	       (cell->type == CELL_INT && cell->sint == 0) ||
	       (cell->type == CELL_REAL && cell->real == 0) ||
	       (cell->type == CELL_BOOL && !cell->flag);
}

bool cell_is_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT || cell->type == CELL_TEXTS;
}
