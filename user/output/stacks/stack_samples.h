/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples of a job, added up by stack, for formats of flame graphs. Memory grows with the number of
 * different stacks, not with samples.
 */
#pragma once

#include "analysis/job/job.h"
#include "analysis/stacks/stack_tree.h"
#include "output/base/export.h"

/* The program and kind of thread, what is unknown about the stack, and the stack. */
#define STACK_SAMPLE_FRAMES (STACK_DEPTH_MAX + 2)

/* The samples that agree in everything but their numbers. */
struct stack_sample {
	uint32_t program;	  /* frame: "python3 worker" */
	uint32_t unknown;	  /* frame: "(no python)"; 0: the stack is complete */
	uint32_t stack;		  /* in the tree; STACK_NONE: only `unknown` */
	uint32_t state;		  /* text: "io" */
	uint32_t process, thread; /* zeros unless details are wanted, */
	uint32_t operation;	  /* as in the job; */
	bool has_operation;	  /* false: a wait or time on a CPU */
	uint64_t count;
	uint64_t weight_ns;	/* time that the samples stand for */
	uint64_t fetched_bytes; /* bytes from storage, estimated: see stack_samples.c */
};

struct stack_samples {
	struct job job;
	struct stack_tree tree;
	struct map numbers;	      /* by all but the numbers */
	struct stack_sample *samples; /* by first appearance */
	size_t count, room;
	bool details; /* samples of different threads and operations are kept apart */
};

/* Reads the samples that pass the options' filter. `samples` is all zeros, except for `details`.
 * Returns 0, -ENOMEM, -ENODATA if none do, or the error of a trace or a filter, which `error`
 * describes. To be freed in any case. */
int stack_samples_load(struct stack_samples *samples, struct trace_reader *const *traces,
		       const char *const *names, size_t trace_count,
		       const struct export_options *options, struct trace_error *error);
void stack_samples_free(struct stack_samples *samples);

/* Writes the frames of a sample, outermost first, and returns how many: at least one. */
size_t stack_samples_chain(const struct stack_samples *samples, const struct stack_sample *sample,
			   uint32_t frames[STACK_SAMPLE_FRAMES]);
