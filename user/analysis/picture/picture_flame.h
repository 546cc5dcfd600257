/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A flame graph of a run: stacks of samples as a tree of callers below the kinds of threads and the
 * programs, with the time of each node in each state and coarse stretch. Bounded for any trace:
 * frames with little time become one node "(other)" for each caller.
 */
#pragma once

#include "analysis/events/event.h"
#include "analysis/order/walk.h"
#include "analysis/picture/picture_axis.h"
#include "analysis/stacks/stack_tree.h"

#define FLAME_STATES (THREAD_STATE_COUNT + 1) /* of threads; SAMPLE_IO */
#define FLAME_OTHER "(other)"

/* The number of a parent is lower. Node 0 is the root; its children are kinds of threads, whose
 * children are programs. */
struct flame_node {
	uint32_t parent;
	uint32_t frame; /* in the tree */
};

/* The part of the time that is estimated, and the number of its samples: see struct line_sums. */
struct flame_sum {
	uint64_t time_ns, estimated_ns, estimated_samples;
};

/* Time of a node itself, without its children. */
struct flame_cell {
	uint32_t node;
	uint8_t state, stretch;
	struct flame_sum sum;
};

struct picture_flame {
	const struct job *job; /* valid while it is made */
	struct picture_axis axis;
	struct stack_tree trees[2], *tree; /* one of the two: has frames and texts */
	struct flame_node *nodes;
	size_t node_count, node_room;
	struct map children;	  /* parent and frame -> node */
	struct map leaves;	  /* program's node and stack, whether it is cut -> node */
	struct map sums;	  /* node, state and stretch -> struct flame_sum */
	struct flame_cell *cells; /* set at the end: by node, state, stretch */
	size_t cell_count;
};

extern const struct walk_calls picture_flame_calls; /* the state is a struct picture_flame */

/* Must be freed, also after an error; must not be moved. Returns 0 or -ENOMEM. */
int picture_flame_init(struct picture_flame *flame, const struct job *job,
		       const struct picture_axis *axis);
/* All events have passed: the job may be freed. Returns 0 or -ENOMEM. */
int picture_flame_finish(struct picture_flame *flame);
void picture_flame_free(struct picture_flame *flame); /* all zeros is fine, too */
