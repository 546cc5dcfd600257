/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stacks that samples of a job's traces contain: frames and stacks by id, which are numbers of
 * one trace.
 */
#pragma once

#include <stdbool.h>

#include "collections/map.h"
#include "trace/read/reader.h"

#define STACK_FRAMES_MAX 1024 /* maximum depth of a stack; only hostile traces have deeper ones */

#define STACK_TEXT_MAX 4096 /* the recorder's maximum; longer texts are cut */

struct stack_frame {
	struct trace_string source, function; /* hostile; "": unknown */
	uint64_t line;			      /* 0: unknown */
};

struct stack_table {
	struct trace_reader *const *traces;
	struct map frames; /* trace and id -> string ids of source and function, line */
	struct map stacks; /* trace and id -> id of the caller's stack, and of the frame */
	size_t max;	   /* maximum of either; 0: no limit ... */
	uint64_t overflow; /* ... and rows beyond it, which are unknown */
};

/* The traces must outlive the table. Allocates nothing. */
void stack_table_init(struct stack_table *table, struct trace_reader *const *traces);
void stack_table_free(struct stack_table *table);

/* Reads the frames and stacks of one trace. Returns 0 or -errno. */
int stack_table_load(struct stack_table *table, uint32_t trace, struct trace_error *error);

/*
 * Gets the innermost frame of a stack, and replaces *stack by the id of its caller's stack. Returns
 * false if there is no such stack: after the outermost frame, *stack is 0. In a hostile trace,
 * callers may loop: stop after STACK_FRAMES_MAX frames. Strings are valid as trace_reader_string
 * says.
 */
bool stack_table_next(const struct stack_table *table, uint32_t trace, uint64_t *stack,
		      struct stack_frame *frame);
