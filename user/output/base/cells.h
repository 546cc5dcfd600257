/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A table cell as text for people: zero is "0", unmeasured is "-", and a lower bound has a "≥" in
 * front.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/sink.h"

/*
 * Returns a CELL_TEXT, not yet escaped: the cell's own text, or one made in `scratch`, a memory
 * sink, which is valid until the next call.
 */
struct cell cell_as_text(struct sink *scratch, const struct cell *cell, enum table_unit unit);
/* Whether the cell is 0 in any unit, "no", or not measured. */
bool cell_is_empty(const struct cell *cell);
bool cell_is_text(const struct cell *cell);
