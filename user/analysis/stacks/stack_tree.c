/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds stacks to the tree, and finds them. */
#include "analysis/stacks/stack_tree.h"

#include <string.h>

#include "base/number.h"

void stack_tree_init(struct stack_tree *tree, const struct stack_table *table)
{
	memset(tree, 0, sizeof(*tree));
	tree->table = table;
	map_init_in(&tree->text_numbers, &tree->arena, 2, 1);
	map_init_in(&tree->frame_numbers, &tree->arena, 2, 1);
	map_init_in(&tree->stack_numbers, &tree->arena, 2, 1);
	map_init_in(&tree->ids, &tree->arena, 2, 1);
	if (!ARENA_GROW(&tree->arena, tree->texts, tree->text_room, 1) ||
	    !ARENA_GROW(&tree->arena, tree->frames, tree->frame_room, 1) ||
	    !ARENA_GROW(&tree->arena, tree->stacks, tree->stack_room, 1))
		return;
	tree->texts[0] = (struct trace_string) { "", 0 };
	tree->text_count = tree->frame_count = tree->stack_count = 1;
}

void stack_tree_free(struct stack_tree *tree)
{
	arena_free(&tree->arena);
	memset(tree, 0, sizeof(*tree));
}

/* --- adding --- */

uint32_t stack_tree_text(struct stack_tree *tree, struct trace_string text)
{
	const size_t length = number_min(text.length, STACK_TEXT_MAX);
	const uint64_t key[] = { map_hash_bytes(&tree->text_numbers, text.bytes, length), length };
	bool added;
	uint64_t *number;
	char *copy;

	if (!length)
		return 0;
	number = map_add(&tree->text_numbers, key, &added);
	if (!number || !added)
		return number ? *number : 0;
	copy = arena_text(&tree->arena, text.bytes, length);
	if (!copy || !ARENA_GROW(&tree->arena, tree->texts, tree->text_room, tree->text_count + 1))
		return 0;
	tree->texts[tree->text_count] = (struct trace_string) { copy, length };
	return *number = tree->text_count++;
}

uint32_t stack_tree_frame(struct stack_tree *tree, const struct tree_frame *frame)
{
	const uint64_t key[] = { (uint64_t)frame->source << 32 | frame->function, frame->line };
	bool added;
	uint64_t *number = map_add(&tree->frame_numbers, key, &added);

	if (!number || !added)
		return number ? *number : 0;
	if (!ARENA_GROW(&tree->arena, tree->frames, tree->frame_room, tree->frame_count + 1))
		return 0;
	tree->frames[tree->frame_count] = *frame;
	return *number = tree->frame_count++;
}

/* A row of a trace adds at most one stack to the tree, unless its stack is too deep: cut off from
 * its outer frames, each of its rows may become a stack of its own. Only hostile traces do that. */
static uint32_t push(struct stack_tree *tree, uint32_t caller, uint32_t frame, bool cut, bool deep)
{
	const uint64_t key[] = { (uint64_t)caller << 32 | frame, cut };
	uint64_t *number = map_find(&tree->stack_numbers, key);
	bool added;

	if (number)
		return *number;
	if (deep && tree->stack_count > tree->table->stacks.count + STACK_DEPTH_MAX)
		return STACK_NONE;
	number = map_add(&tree->stack_numbers, key, &added);
	if (!number)
		return STACK_NONE;
	if (!ARENA_GROW(&tree->arena, tree->stacks, tree->stack_room, tree->stack_count + 1))
		return STACK_NONE;
	tree->stacks[tree->stack_count] = (struct tree_stack) {
		.caller = caller,
		.frame = frame,
		.depth = tree->stacks[caller].depth + 1,
		.cut = cut,
	};
	return *number = tree->stack_count++;
}

static uint32_t add(struct stack_tree *tree, uint32_t trace, uint64_t id)
{
	uint32_t frames[STACK_DEPTH_MAX], stack = STACK_NONE;
	struct stack_frame of;
	size_t count = 0;
	bool deep;

	while (count < STACK_DEPTH_MAX && stack_table_next(tree->table, trace, &id, &of)) {
		const struct tree_frame frame = { stack_tree_text(tree, of.source),
						  stack_tree_text(tree, of.function), of.line };

		frames[count++] = stack_tree_frame(tree, &frame);
	}
	deep = count == STACK_DEPTH_MAX && id;
	while (count) {
		stack = push(tree, stack, frames[--count], id != 0, deep);
		if (stack == STACK_NONE)
			break;
	}
	return stack;
}

/* --- finding --- */

uint32_t stack_tree_find(struct stack_tree *tree, uint32_t trace, uint64_t id)
{
	const uint64_t key[] = { trace, id };
	const uint64_t *known = map_find(&tree->ids, key);
	uint64_t *number;
	uint32_t stack;
	bool added;

	if (known || arena_status(&tree->arena))
		return known ? *known : STACK_NONE;
	stack = add(tree, trace, id);
	if (stack == STACK_NONE)
		return STACK_NONE; /* a hostile trace may name any number of such stacks */
	number = map_add(&tree->ids, key, &added);
	if (number)
		*number = stack;
	return stack;
}

size_t stack_tree_chain(const struct stack_tree *tree, uint32_t stack,
			uint32_t frames[STACK_DEPTH_MAX])
{
	const size_t depth = tree->stacks[stack].depth;

	for (size_t i = depth; i-- > 0; stack = tree->stacks[stack].caller)
		frames[i] = tree->stacks[stack].frame;
	return depth;
}
