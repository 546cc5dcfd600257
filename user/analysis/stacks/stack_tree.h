/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks of a job's samples as a tree with numbers of its own: equal texts, frames and stacks are
 * one, whichever trace they come from. Holds the stacks that were looked up, and their callers.
 */
#pragma once

#include "analysis/job/stack_table.h"
#include "collections/arena.h"

#define STACK_NONE 0
/* The recorder's limit. Deeper stacks, which it never writes, lose their outer frames. */
#define STACK_DEPTH_MAX 128

struct tree_frame {
	uint32_t source, function; /* texts; 0: unknown */
	uint64_t line;		   /* 0: unknown */
};

struct tree_stack {
	uint32_t caller; /* a lower number; STACK_NONE: this is the outermost frame */
	uint32_t frame;
	uint32_t depth; /* number of frames, up to STACK_DEPTH_MAX */
	bool cut;	/* the outer frames are missing */
};

struct stack_tree {
	const struct stack_table *table;
	struct arena arena;	    /* its status is to be checked at the end */
	struct trace_string *texts; /* 0 is empty */
	struct tree_frame *frames;  /* 0 is unknown */
	struct tree_stack *stacks;  /* 0 is none */
	size_t text_count, frame_count, stack_count;
	size_t text_room, frame_room, stack_room;
	struct map text_numbers, frame_numbers, stack_numbers; /* by content */
	struct map ids;					       /* trace, id in the trace -> stack */
};

/* The job's table must outlive the tree. */
void stack_tree_init(struct stack_tree *tree, const struct stack_table *table);
void stack_tree_free(struct stack_tree *tree); /* all zeros is fine, too */

/* Returns the number of a stack, by its id in a trace; STACK_NONE if there is no such id, or if
 * the stack is too deep and would make the tree too large. */
uint32_t stack_tree_find(struct stack_tree *tree, uint32_t trace, uint64_t id);
/* Find or add. Return 0 if out of memory; a text is also 0 if it is empty. */
uint32_t stack_tree_text(struct stack_tree *tree, struct trace_string text);
uint32_t stack_tree_frame(struct stack_tree *tree, const struct tree_frame *frame);

/* Writes the frames of a stack, outermost first, and returns how many. */
size_t stack_tree_chain(const struct stack_tree *tree, uint32_t stack,
			uint32_t frames[STACK_DEPTH_MAX]);

static inline struct trace_string stack_tree_source(const struct stack_tree *tree, uint32_t frame)
{
	return tree->texts[tree->frames[frame].source];
}

static inline struct trace_string stack_tree_function(const struct stack_tree *tree, uint32_t frame)
{
	return tree->texts[tree->frames[frame].function];
}
