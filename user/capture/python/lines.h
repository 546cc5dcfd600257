/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Converts an instruction of a code object to a line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A position in a table of lines. */
struct python_position {
	uint32_t at;   /* bytes of the table */
	uint32_t end;  /* of the instructions that these describe, in bytes */
	uint32_t line; /* of the last one */
};

/* The lines of a code object: co_lnotab up to 3.9, co_linetable since. */
struct python_lines {
	const uint8_t *table; /* hostile */
	uint32_t bytes;
	int32_t first_line;
	uint16_t version; /* 0x30b is 3.11 */
	uint32_t marks_count;
	const struct python_position *marks; /* see python_lines_mark */
};

/* Tables are searched from their start; marks shorten the search in tables longer than this. */
#define PYTHON_MARK_BYTES 256

/* Makes the marks of a table, at most one for each PYTHON_MARK_BYTES. Returns their number. */
size_t python_lines_mark(const struct python_lines *lines, struct python_position *marks);

/* The instruction belongs to no line. */
#define PYTHON_LINE_NONE (-1)
/* The table ends before the instruction, or makes no sense. */
#define PYTHON_LINE_UNKNOWN (-2)

/* Returns the line of the instruction at `offset` bytes from the first one (negative: the code has
 * not begun), or PYTHON_LINE_*. */
int32_t python_line(const struct python_lines *lines, int32_t offset);
