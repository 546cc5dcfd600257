/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Turns records of code objects and stacks into rows. */
#include "capture/python/frames.h"

#include <stdlib.h>
#include <string.h>

#include "collections/arena.h"
#include "collections/map.h"
#include "capture/python/lines.h"
#include "trace/write/redact.h"

#define ENTRY_BYTES 64 /* of a map, on average */

/* At most three bytes for each byte of a string. */
#define PATH_BYTES (3 * EVENT_FRAME_PATH_BYTES)
#define FUNCTION_BYTES (3 * EVENT_FRAME_FUNCTION_BYTES)

struct code {
	struct python_lines lines;
	const char *path, *function;
	size_t path_bytes, function_bytes;
};

struct kept_line {
	const struct code *code;
	uint32_t line; /* 0: unknown */
};

struct generation {
	uint32_t number;
	struct arena arena; /* what the values point to */
	struct map codes;   /* by address, and check; the value is a struct code * */
	struct map stacks;  /* by id in records; a struct kept_stack *, or struct python_line * */
};

struct python_frames {
	volatile uint32_t *generation_out;
	size_t generation_bytes;
	uint32_t current;
	struct generation generations[2]; /* the current one, and the one before */
	struct map frames;		  /* by hashes of path and function, and line */
	struct map stacks;		  /* by caller, and frame */
	uint32_t last_frame, last_stack, part;
};

static void generation_begin(struct generation *generation, uint32_t number)
{
	generation->number = number;
	map_init(&generation->codes, 2, 1);
	map_init(&generation->stacks, 1, 1);
}

static void generation_end(struct generation *generation)
{
	arena_free(&generation->arena);
	memset(&generation->arena, 0, sizeof(generation->arena));
	map_free(&generation->codes);
	map_free(&generation->stacks);
}

/* Returns NULL if it has ended. */
static struct generation *find_generation(struct python_frames *frames, uint32_t number)
{
	struct generation *generation = &frames->generations[number & 1];

	return generation->number == number ? generation : NULL;
}

struct python_frames *python_frames_make(void)
{
	struct python_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	generation_begin(&frames->generations[0], 0);
	generation_begin(&frames->generations[1], 1); /* not begun: empty */
	frames->generations[1].number = UINT32_MAX;
	frames->part = 1;
	map_init(&frames->frames, 3, 1);
	map_init(&frames->stacks, 2, 1);
	return frames;
}

void python_frames_free(struct python_frames *frames)
{
	if (!frames)
		return;
	for (int i = 0; i < 2; i++)
		generation_end(&frames->generations[i]);
	map_free(&frames->frames);
	map_free(&frames->stacks);
	free(frames);
}

void python_frames_share_generation(struct python_frames *frames, volatile uint32_t *generation_out,
				    size_t bytes)
{
	frames->generation_out = generation_out;
	frames->generation_bytes = bytes;
}

uint32_t python_frames_generation(const struct python_frames *frames)
{
	return frames->current;
}

static void forget_rows(struct python_frames *frames)
{
	map_free(&frames->frames);
	map_free(&frames->stacks);
	map_init(&frames->frames, 3, 1);
	map_init(&frames->stacks, 2, 1);
}

void python_frames_make_room(struct python_frames *frames)
{
	const struct generation *current = &frames->generations[frames->current & 1];
	size_t entries = current->codes.count + current->stacks.count + frames->frames.count +
			 frames->stacks.count;
	struct generation *next;

	if (!frames->generation_out ||
	    current->arena.bytes + entries * ENTRY_BYTES < frames->generation_bytes)
		return;
	next = &frames->generations[++frames->current & 1];
	generation_end(next);
	generation_begin(next, frames->current);
	forget_rows(frames); /* they remain valid */
	*frames->generation_out = frames->current;
}

void python_frames_begin_part(struct python_frames *frames)
{
	frames->part++;
	forget_rows(frames);
}

void python_frames_last(const struct python_frames *frames, uint32_t *frame, uint32_t *stack)
{
	*frame = frames->last_frame;
	*stack = frames->last_stack;
}

void python_frames_continue(struct python_frames *frames, uint32_t frame, uint32_t stack)
{
	frames->last_frame = frame;
	frames->last_stack = stack;
}

/* --- code objects --- */

/* Encodes characters of 1 (Latin-1), 2 or 4 bytes as UTF-8. Returns the number of bytes. */
static size_t encode(const unsigned char *from, size_t bytes, unsigned int width, char *to)
{
	char *at = to;

	if (!width) {
		memcpy(to, from, bytes);
		return bytes;
	}
	for (size_t i = 0; i + width <= bytes; i += width) {
		uint32_t c = 0;

		memcpy(&c, from + i, width);
		if (c < 0x80) {
			*at++ = c;
			continue;
		}
		if (c < 0x800) {
			*at++ = 0xc0 | c >> 6;
		} else {
			if (c < 0x10000) {
				*at++ = 0xe0 | c >> 12;
			} else {
				*at++ = 0xf0 | (c >> 18 & 7);
				*at++ = 0x80 | (c >> 12 & 63);
			}
			*at++ = 0x80 | (c >> 6 & 63);
		}
		*at++ = 0x80 | (c & 63);
	}
	return at - to;
}

static bool is_width(unsigned int width)
{
	return width <= 2 || width == 4;
}

/* Without marks, if there is no memory for them, lines take longer to find. */
static void mark_lines(struct arena *arena, struct python_lines *lines)
{
	uint32_t max = lines->bytes / PYTHON_MARK_BYTES;
	struct python_position *marks = max ? arena_alloc(arena, max * sizeof(*marks)) : NULL;

	if (!marks)
		return;
	lines->marks_count = python_lines_mark(lines, marks);
	lines->marks = marks;
}

void python_frames_take_code(struct python_frames *frames, const struct event_frame *event)
{
	const uint64_t key[] = { event->code, event->check };
	char path[PATH_BYTES], function[FUNCTION_BYTES];
	struct generation *generation;
	struct code *code;
	uint64_t *entry;
	bool added;

	python_frames_make_room(frames);
	generation = find_generation(frames, event->generation);
	if (!generation || event->path_bytes > sizeof(event->path) ||
	    event->function_bytes > sizeof(event->function) || !is_width(event->path_width) ||
	    !is_width(event->function_width))
		return;
	entry = map_add(&generation->codes, key, &added);
	if (!entry || !added)
		return;
	code = arena_alloc(&generation->arena, sizeof(*code));
	if (!code)
		return;
	code->path_bytes =
		encode((const void *)event->path, event->path_bytes, event->path_width, path);
	code->function_bytes = encode((const void *)event->function, event->function_bytes,
				      event->function_width, function);
	code->path = arena_text(&generation->arena, path, code->path_bytes);
	code->function = arena_text(&generation->arena, function, code->function_bytes);
	code->lines = (struct python_lines) {
		.table = (const uint8_t *)arena_text(&generation->arena, event->table,
						     event->table_bytes),
		.bytes = event->table_bytes,
		.first_line = event->first_line,
		.version = event->version,
	};
	if (arena_status(&generation->arena))
		return;
	mark_lines(&generation->arena, &code->lines);
	*entry = (uintptr_t)code;
}

/* --- stacks --- */

static const struct code *find_code(const struct generation *generation,
				    const struct python_frame *frame)
{
	static const struct code unknown = { .path = "", .function = "" };
	const uint64_t key[] = { frame->code, frame->check };
	const uint64_t *entry = map_find(&generation->codes, key);

	return entry && *entry ? (const struct code *)(uintptr_t)*entry : &unknown;
}

/* The interpreter's own frame that creates an object of a class has no line (since 3.12). */
static bool is_shim(const struct code *code, int32_t line)
{
	return line == PYTHON_LINE_NONE && code->path_bytes == code->function_bytes &&
	       !memcmp(code->path, code->function, code->path_bytes);
}

uint32_t python_frames_add(struct python_frames *frames, struct trace_writer *writer,
			   unsigned int lane, uint64_t time_ns, const struct python_line *line)
{
	const uint64_t key[] = {
		map_hash_bytes(&frames->frames, line->path, line->path_bytes),
		map_hash_bytes(&frames->frames, line->function, line->function_bytes),
		line->line,
	};
	uint64_t row[FRAME_COLUMNS], *id;
	bool added;

	id = map_add(&frames->frames, key, &added);
	if (!id || !added)
		return id ? *id : 0;
	*id = ++frames->last_frame;
	row[FRAME_TIME] = time_ns;
	row[FRAME_ID] = *id;
	row[FRAME_SOURCE] =
		trace_writer_name(writer, TRACE_NAME_PATH, line->path, line->path_bytes);
	row[FRAME_LINE] = line->line;
	row[FRAME_FUNCTION] = trace_writer_function(writer, line->path, line->path_bytes,
						    line->function, line->function_bytes);
	trace_writer_append(writer, TRACE_FRAME, lane, row);
	return *id;
}

uint32_t python_frames_push(struct python_frames *frames, struct trace_writer *writer,
			    unsigned int lane, uint64_t time_ns, uint32_t caller, uint32_t frame)
{
	const uint64_t key[] = { caller, frame };
	uint64_t row[STACK_COLUMNS], *id;
	bool added;

	id = map_add(&frames->stacks, key, &added);
	if (!id || !added)
		return id ? *id : 0;
	*id = ++frames->last_stack;
	row[STACK_TIME] = time_ns;
	row[STACK_ID] = *id;
	row[STACK_CALLER] = caller;
	row[STACK_FRAME] = frame;
	trace_writer_append(writer, TRACE_STACK, lane, row);
	return *id;
}

static bool is_entry(const struct event_stack *event, uint32_t i)
{
	return event->entries[i / 64] >> i % 64 & 1;
}

/* Names the frames of a stack, the innermost first, and returns their number. Sets the bits of
 * those that C has called. */
static size_t name_frames(const struct generation *generation, const struct event_stack *event,
			  struct kept_line lines[PYTHON_FRAMES_MAX], uint64_t entries[2])
{
	size_t count = 0;

	entries[0] = entries[1] = 0;

	for (uint32_t i = 0; i < event->count && i < PYTHON_FRAMES_MAX; i++) {
		const struct python_frame *frame = &event->frames[i];
		const struct code *code = find_code(generation, frame);
		int32_t line = python_line(&code->lines, frame->instruction);

		if (is_shim(code, line))
			continue;
		if (line == PYTHON_LINE_NONE) /* before the function's first line */
			line = code->lines.first_line;
		entries[count / 64] |= (uint64_t)is_entry(event, i) << count % 64;
		lines[count++] = (struct kept_line) { code, line > 0 ? line : 0 };
	}
	return count;
}

static struct python_line text_of(const struct kept_line *line)
{
	const struct code *code = line->code;

	return (struct python_line) { code->path, code->function, code->path_bytes,
				      code->function_bytes, line->line };
}

/* Returns the value of a stack that is to be set, or NULL. */
static uint64_t *add_stack(struct python_frames *frames, const struct event_stack *event,
			   struct generation **generation)
{
	const uint64_t key[] = { event->id };
	bool added;

	python_frames_make_room(frames);
	*generation = find_generation(frames, event->generation);
	return *generation ? map_add(&(*generation)->stacks, key, &added) : NULL;
}

void python_frames_take_stack(struct python_frames *frames, const struct event_stack *event)
{
	struct kept_line lines[PYTHON_FRAMES_MAX], *copy;
	struct generation *generation;
	uint64_t *entry = add_stack(frames, event, &generation);
	struct kept_stack *kept;
	uint64_t entries[2];
	size_t count;

	if (!entry)
		return;
	count = name_frames(generation, event, lines, entries);
	copy = arena_alloc(&generation->arena, count * sizeof(*copy));
	kept = arena_alloc(&generation->arena, sizeof(*kept) + count * sizeof(*kept->frames));
	if (!copy || !kept)
		return;
	memcpy(copy, lines, count * sizeof(*copy));
	kept->lines = copy;
	kept->count = count;
	memcpy(kept->entries, entries, sizeof(entries));
	*entry = (uintptr_t)kept;
}

void python_frames_keep_line(struct python_frames *frames, const struct event_stack *event,
			     python_choose_fn *choose)
{
	struct kept_line named[PYTHON_FRAMES_MAX];
	struct python_line lines[PYTHON_FRAMES_MAX], *kept;
	struct generation *generation;
	uint64_t *entry = add_stack(frames, event, &generation);
	uint64_t entries[2];
	size_t count = entry ? name_frames(generation, event, named, entries) : 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		lines[i] = text_of(&named[i]);
	kept = arena_alloc(&generation->arena, sizeof(*kept));
	if (kept)
		*kept = lines[choose(lines, count)];
	*entry = (uintptr_t)kept;
}

/* Returns what a stack's id in records stands for; NULL: it is unknown. */
static void *find_stack(const struct python_frames *frames, uint32_t id)
{
	const uint64_t key[] = { id };

	for (int i = 0; i < 2; i++) {
		const uint64_t *entry = map_find(&frames->generations[i].stacks, key);

		if (entry)
			return (void *)(uintptr_t)*entry;
	}
	return NULL;
}

const struct kept_stack *python_frames_rows(struct python_frames *frames,
					    struct trace_writer *writer, unsigned int lane,
					    uint64_t time_ns, uint32_t id)
{
	struct kept_stack *kept = find_stack(frames, id);

	if (!kept || kept->part == frames->part)
		return kept;
	kept->part = frames->part;
	kept->row = 0;
	for (size_t i = kept->count; i-- > 0;) {
		const struct python_line line = text_of(&kept->lines[i]);

		kept->frames[i] = python_frames_add(frames, writer, lane, time_ns, &line);
		kept->row = python_frames_push(frames, writer, lane, time_ns, kept->row,
					       kept->frames[i]);
	}
	return kept;
}

const struct python_line *python_frames_line(const struct python_frames *frames, uint32_t id)
{
	return find_stack(frames, id);
}
