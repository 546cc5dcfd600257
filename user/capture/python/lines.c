/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Formats: Objects/lnotab_notes.txt of CPython up to 3.9 and of 3.10, Objects/locations.md since
 * 3.11. Numbers wrap around: a hostile table gives a wrong line, or none.
 */
#include "capture/python/lines.h"

#include <stdbool.h>

#include "collections/bisect.h"

/* Not below 1: then the table is damaged. */
static int32_t valid(uint32_t line)
{
	return (int32_t)line > 0 ? (int32_t)line : PYTHON_LINE_UNKNOWN;
}

/*
 * The functions below take the next range of instructions: `position` moves behind it, and *line is
 * set. They return false at the end of the table.
 */

/* Up to 3.9: pairs of steps, of the instruction and of the line. */
static bool take_steps(const struct python_lines *lines, struct python_position *position,
		       int32_t *line)
{
	if (position->at + 1 >= lines->bytes)
		return false;
	*line = valid(position->line);
	position->end += lines->table[position->at];
	position->line += (int8_t)lines->table[position->at + 1];
	position->at += 2;
	return true;
}

/* 3.10: pairs of the length of a range in bytes, and its line's distance from the last one; -128:
 * no line. */
static bool take_range(const struct python_lines *lines, struct python_position *position,
		       int32_t *line)
{
	int8_t step;

	if (position->at + 1 >= lines->bytes)
		return false;
	step = lines->table[position->at + 1];
	position->end += lines->table[position->at];
	position->line += step == -128 ? 0 : step;
	position->at += 2;
	*line = step == -128 ? PYTHON_LINE_NONE : valid(position->line);
	return true;
}

/* An entry begins with a byte with bit 7 set: its form, and its length in instructions minus 1. */
enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };
#define CODE_UNIT_BYTES 2
#define ENTRY_BYTES_MAX 64 /* four numbers take at most 24 */

static uint32_t take_number(const struct python_lines *lines, uint32_t *at, uint32_t end)
{
	uint32_t number = 0, shift = 0;

	while (*at < end) {
		uint8_t byte = lines->table[(*at)++];

		if (shift < 32)
			number |= (uint32_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return number;
}

static bool take_entry(const struct python_lines *lines, struct python_position *position,
		       int32_t *line)
{
	uint32_t at = position->at, end = lines->bytes;
	uint8_t head, form;

	if (at >= end || !(lines->table[at] & 128))
		return false;
	if (end - at > ENTRY_BYTES_MAX) /* longer entries are damaged; the table ends there */
		end = at + ENTRY_BYTES_MAX;
	head = lines->table[at++];
	form = head >> 3 & 15;
	if (form == FORM_NO_COLUMNS || form == FORM_LONG) {
		uint32_t step = take_number(lines, &at, end);

		position->line += step & 1 ? -(step >> 1) : step >> 1;
	} else if (form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS) {
		position->line += form - FORM_ONE_LINE;
	}
	while (at < end && !(lines->table[at] & 128)) /* columns */
		at++;
	position->at = at;
	position->end += ((head & 7) + 1) * CODE_UNIT_BYTES;
	*line = form == FORM_NONE ? PYTHON_LINE_NONE : valid(position->line);
	return true;
}

static bool take(const struct python_lines *lines, struct python_position *position, int32_t *line)
{
	if (lines->version < 0x30a)
		return take_steps(lines, position, line);
	return lines->version == 0x30a ? take_range(lines, position, line)
				       : take_entry(lines, position, line);
}

/* --- marks --- */

size_t python_lines_mark(const struct python_lines *lines, struct python_position *marks)
{
	struct python_position position = { .line = lines->first_line };
	size_t count = 0;
	int32_t line;

	while (take(lines, &position, &line))
		if (position.at >= (count + 1) * PYTHON_MARK_BYTES)
			marks[count++] = position;
	return count;
}

/* Returns the last mark before or at an instruction, or the start of the table. */
static struct python_position find_mark(const struct python_lines *lines, uint32_t offset)
{
	const size_t count = BISECT(i, 0, lines->marks_count, lines->marks[i].end <= offset);

	return count ? lines->marks[count - 1]
		     : (struct python_position) { .line = lines->first_line };
}

int32_t python_line(const struct python_lines *lines, int32_t offset)
{
	struct python_position position;
	int32_t line;

	if (offset < 0)
		return valid(lines->first_line);
	position = find_mark(lines, offset);
	while (take(lines, &position, &line))
		if (position.end > (uint32_t)offset)
			return line;
	/* Up to 3.9, the last line has no end. */
	return lines->version < 0x30a ? valid(position.line) : PYTHON_LINE_UNKNOWN;
}
