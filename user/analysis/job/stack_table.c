/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loads frames and stacks, and walks stacks. */
#include "analysis/job/stack_table.h"

#include <errno.h>

#include "base/number.h"

enum { SOURCE, FUNCTION, LINE, FRAME_WORDS };
enum { CALLER, FRAME, STACK_WORDS };

void stack_table_init(struct stack_table *table, struct trace_reader *const *traces)
{
	*table = (struct stack_table) { .traces = traces };
	map_init(&table->frames, 2, FRAME_WORDS);
	map_init(&table->stacks, 2, STACK_WORDS);
}

void stack_table_free(struct stack_table *table)
{
	map_free(&table->frames);
	map_free(&table->stacks);
	*table = (struct stack_table) { 0 };
}

/* Which columns of a kind are kept, in the order of the words above. */
struct stack_source {
	enum trace_kind kind;
	unsigned int id, words[FRAME_WORDS], count;
};

static const struct stack_source sources[] = {
	{ TRACE_FRAME, FRAME_ID, { FRAME_SOURCE, FRAME_FUNCTION, FRAME_LINE }, FRAME_WORDS },
	{ TRACE_STACK, STACK_ID, { STACK_CALLER, STACK_FRAME }, STACK_WORDS },
};

/* Adds a row, unless its id is 0 or known. Returns 0 or -ENOMEM. */
static int load_row(struct stack_table *table, uint32_t trace, const struct stack_source *source,
		    uint32_t row)
{
	const struct trace_reader *reader = table->traces[trace];
	struct map *map = source->kind == TRACE_FRAME ? &table->frames : &table->stacks;
	const uint64_t key[] = { trace, trace_reader_column(reader, source->id)[row] };
	uint64_t *value;
	bool added;

	if (!key[1] || map_find(map, key))
		return 0;
	if (table->max && map->count >= table->max) {
		table->overflow++;
		return 0;
	}
	value = map_add(map, key, &added);
	if (!value)
		return -ENOMEM;
	for (unsigned int i = 0; i < source->count; i++)
		value[i] = trace_reader_column(reader, source->words[i])[row];
	return 0;
}

static int load_block(struct stack_table *table, uint32_t trace, const struct stack_source *source,
		      size_t block, struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	uint32_t rows = trace_reader_block_info(reader, block)->rows;
	uint64_t columns = 1ull << source->id;
	int status;

	for (unsigned int i = 0; i < source->count; i++)
		columns |= 1ull << source->words[i];
	status = trace_reader_read(reader, block, columns, error);
	if (status == -EINVAL) { /* damaged: the other blocks are still useful */
		trace_reader_pass_over(reader, block, error);
		return 0;
	}
	for (uint32_t i = 0; i < rows && !status; i++)
		status = load_row(table, trace, source, i);
	return status;
}

int stack_table_load(struct stack_table *table, uint32_t trace, struct trace_error *error)
{
	struct trace_reader *reader = table->traces[trace];
	size_t blocks = trace_reader_block_count(reader);
	int status = 0;

	for (size_t i = 0; i < blocks; i++)
		for (size_t j = 0; j < sizeof(sources) / sizeof(sources[0]) && !status; j++)
			if (trace_reader_block_info(reader, i)->kind == sources[j].kind)
				status = load_block(table, trace, &sources[j], i, error);
	return status;
}

static struct trace_string string_of(const struct trace_reader *reader, uint64_t id)
{
	struct trace_string string = trace_reader_string(reader, id);

	if (!string.length)
		return (struct trace_string) { "", 0 };
	string.length = number_min(string.length, STACK_TEXT_MAX);
	return string;
}

bool stack_table_next(const struct stack_table *table, uint32_t trace, uint64_t *stack,
		      struct stack_frame *frame)
{
	const uint64_t key[] = { trace, *stack };
	const uint64_t *found = map_find(&table->stacks, key), *line;

	*frame = (struct stack_frame) { { "", 0 }, { "", 0 }, 0 };
	if (!found)
		return false;
	line = map_find(&table->frames, (const uint64_t[]) { trace, found[FRAME] });
	*stack = found[CALLER];
	if (line)
		*frame = (struct stack_frame) {
			.source = string_of(table->traces[trace], line[SOURCE]),
			.function = string_of(table->traces[trace], line[FUNCTION]),
			.line = line[LINE],
		};
	return true;
}
