/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Formats: Objects/lnotab_notes.txt of CPython up to 3.9 and of 3.10, Objects/locations.md since
 * 3.11. Numbers wrap around: a hostile table gives a wrong line, or none.
 */
#include "capture/python/lines.h"

/* Not below 1: then the table is damaged. */
static int32_t valid(uint32_t line)
{
	return (int32_t)line > 0 ? (int32_t)line : PYTHON_LINE_UNKNOWN;
}

/* Up to 3.9: pairs of steps, of the instruction and of the line. */
static int32_t line_by_steps(const struct python_lines *lines, uint32_t offset)
{
	uint32_t at = 0, line = lines->first_line;

	for (size_t i = 0; i + 1 < lines->bytes; i += 2) {
		at += lines->table[i];
		if (at > offset)
			break;
		line += (int8_t)lines->table[i + 1];
	}
	return valid(line);
}

/* 3.10: pairs of the length of a range in bytes, and its line's distance from the last one; -128:
 * no line. */
static int32_t line_by_ranges(const struct python_lines *lines, uint32_t offset)
{
	uint32_t end = 0, line = lines->first_line;

	for (size_t i = 0; i + 1 < lines->bytes; i += 2) {
		int8_t step = lines->table[i + 1];

		end += lines->table[i];
		line += step == -128 ? 0 : step;
		if (end > offset)
			return step == -128 ? PYTHON_LINE_NONE : valid(line);
	}
	return PYTHON_LINE_UNKNOWN;
}

/* An entry begins with a byte with bit 7 set: its form, and its length in instructions minus 1. */
enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };
#define CODE_UNIT_BYTES 2

static uint32_t take_number(const struct python_lines *lines, size_t *at)
{
	uint32_t number = 0, shift = 0;

	while (*at < lines->bytes) {
		uint8_t byte = lines->table[(*at)++];

		if (shift < 32)
			number |= (uint32_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return number;
}

static int32_t line_by_entries(const struct python_lines *lines, uint32_t offset)
{
	uint32_t end = 0, line = lines->first_line;

	for (size_t at = 0; at < lines->bytes;) {
		uint8_t head = lines->table[at++], form = head >> 3 & 15;

		if (!(head & 128))
			return PYTHON_LINE_UNKNOWN;
		if (form == FORM_NO_COLUMNS || form == FORM_LONG) {
			uint32_t step = take_number(lines, &at);

			line += step & 1 ? -(step >> 1) : step >> 1;
		} else if (form >= FORM_ONE_LINE && form < FORM_NO_COLUMNS) {
			line += form - FORM_ONE_LINE;
		}
		end += ((head & 7) + 1) * CODE_UNIT_BYTES;
		if (end > offset)
			return form == FORM_NONE ? PYTHON_LINE_NONE : valid(line);
		while (at < lines->bytes && !(lines->table[at] & 128))
			at++;
	}
	return PYTHON_LINE_UNKNOWN;
}

int32_t python_line(const struct python_lines *lines, int32_t offset)
{
	if (offset < 0)
		return valid(lines->first_line);
	if (lines->version < 0x30a)
		return line_by_steps(lines, offset);
	return lines->version == 0x30a ? line_by_ranges(lines, offset)
				       : line_by_entries(lines, offset);
}
