/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Turns records of code objects and stacks into rows: a frame for each line, a stack for each
 * path through frames, each once, when something first refers to it. Or keeps one line of each
 * stack, without rows.
 *
 * What is remembered takes a bounded amount of memory. When it is full, a new generation begins:
 * the kernel side describes everything again, and the last generation is kept for records that are
 * still under way.
 */
#pragma once

#include "bpf/records/event.h"
#include "trace/write/writer.h"

struct python_frames;

struct python_frames *python_frames_make(void);	       /* NULL: out of memory */
void python_frames_free(struct python_frames *frames); /* NULL is fine */

#define PYTHON_GENERATION_BYTES (12u << 20) /* of a generation; two are kept */

/* Sets where the kernel side reads the number of the current generation, and the memory for each.
 * Without it, the first one never ends. */
void python_frames_share_generation(struct python_frames *frames, volatile uint32_t *generation_out,
				    size_t bytes);

/* Returns the number of the current generation. */
uint32_t python_frames_generation(const struct python_frames *frames);

/* Takes the record of a code object, whose table has event->table_bytes bytes. */
void python_frames_take_code(struct python_frames *frames, const struct event_frame *event);

/* Takes the record of a stack. */
void python_frames_take_stack(struct python_frames *frames, const struct event_stack *event);

struct kept_line;

/* A stack, the innermost frame first. */
struct kept_stack {
	uint64_t entries[2]; /* as in struct event_stack */
	const struct kept_line *lines;
	uint32_t part; /* which the rows are in */
	uint32_t row;  /* its id in rows; 0: it has no frames */
	uint32_t count;
	uint32_t frames[]; /* ids in rows */
};

/* Returns a stack from its id in records, and appends the rows that are new. NULL: it is unknown.
 * Valid until there is a new generation. */
const struct kept_stack *python_frames_rows(struct python_frames *frames,
					    struct trace_writer *writer, unsigned int lane,
					    uint64_t time_ns, uint32_t id);

/* From now on, the rows are those of another part of the recording: the ones so far are appended
 * again, under new ids, once something refers to them. */
void python_frames_begin_part(struct python_frames *frames);
/* Gets the highest ids so far, and gives new rows ids above these. */
void python_frames_last(const struct python_frames *frames, uint32_t *frame, uint32_t *stack);
void python_frames_continue(struct python_frames *frames, uint32_t frame, uint32_t stack);

/* Texts are hostile. */
struct python_line {
	const char *path, *function;
	size_t path_bytes, function_bytes; /* 0: unknown */
	uint32_t line;			   /* 0: unknown */
};

/* --- stacks that are put together from others' frames --- */

/* Begins a new generation if the current one is full. Call before each stack; what takes records
 * does so itself. */
void python_frames_make_room(struct python_frames *frames);

/* Both return an id in rows, and append the row if it is new; 0: out of memory. */
uint32_t python_frames_add(struct python_frames *frames, struct trace_writer *writer,
			   unsigned int lane, uint64_t time_ns, const struct python_line *line);
uint32_t python_frames_push(struct python_frames *frames, struct trace_writer *writer,
			    unsigned int lane, uint64_t time_ns, uint32_t caller, uint32_t frame);

/* --- without rows --- */

/* Returns which of the lines of a stack, the innermost first, is to be kept. */
typedef size_t python_choose_fn(const struct python_line *lines, size_t count);

/* Takes the record of a stack, and keeps one of its lines. Not for frames whose stacks become
 * rows. */
void python_frames_keep_line(struct python_frames *frames, const struct event_stack *event,
			     python_choose_fn *choose);

/* Returns the line of a stack, valid until the next record is taken; NULL: it is unknown. */
const struct python_line *python_frames_line(const struct python_frames *frames, uint32_t id);
