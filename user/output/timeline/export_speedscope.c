/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes unoverlapped I/O as flame graphs for speedscope (speedscope.app, "file format schema"):
 * spans from outermost to innermost, then the file, then the call. One graph for the job and one
 * per rank. Widths are ns and add up to the report's unoverlapped I/O (if no compute is marked, to
 * all I/O). These are sums, not a timeline; memory grows with the number of different stacks.
 *
 * Where operations overlap, the time belongs to the one that began first: each counts for the part
 * that no earlier one covers, so the parts add up to the length of the union. Parts are queued
 * until the pass reaches them, and count where no compute span is open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/order/walk.h"
#include "analysis/phases/activity.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"
#include "output/base/export.h"
#include "output/base/json.h"

#define NO_NODE 0 /* the root of all stacks */
#define DEPTH_MAX 64

enum frame_kind { FRAME_NO_SPAN, FRAME_SPAN, FRAME_FILE, FRAME_NO_FILE, FRAME_CALL };

struct frame {
	enum frame_kind kind;
	uint64_t number; /* of a label, file or operation */
};

/* A stack: a frame on top of another stack. */
struct node {
	uint32_t parent, frame, depth;
};

/* A part of the I/O union whose end the pass has not reached. */
struct stack_part {
	uint64_t from_ns, until_ns;
	uint32_t node;
};

/* The whole job, or one rank. */
struct graph {
	int64_t rank;			/* -1: the job */
	uint64_t covered_ns, computing; /* end of the union; open compute spans */
	bool computes;
	struct stack_part *parts; /* [first, count) are pending, in time order */
	size_t first, count, room;
};

/* The time of a stack in a graph: in total, and outside compute. */
struct weight {
	uint64_t all_ns, alone_ns;
};

/* The same, to be sorted by graph and node. */
struct weighed {
	uint64_t key; /* graph << 32 | node */
	struct weight weight;
};

struct speedscope {
	const struct export_options *options;
	struct sink *out;
	struct job job;
	struct arena arena;
	struct frame *frames;
	size_t frame_count, frame_room;
	struct map frame_numbers; /* kind, number -> frame */
	struct node *nodes;
	size_t node_count, node_room;
	struct map node_numbers; /* parent, frame -> node */
	uint32_t *span_nodes;	 /* by slot of the open span */
	size_t span_room;
	struct graph *graphs; /* 0 is the job */
	size_t graph_count, graph_room;
	struct map ranks;   /* rank -> graph */
	struct map weights; /* graph << 32 | node -> struct weight */
};

/* --- stacks --- */

static int find_frame(struct speedscope *all, enum frame_kind kind, uint64_t number,
		      uint32_t *frame)
{
	const uint64_t key[] = { kind, number };
	struct frame *found;
	bool added;

	found = MAP_ITEM(&all->frame_numbers, key, all->frames, all->frame_room, all->frame_count,
			 &added);
	if (!found)
		return -ENOMEM;
	*found = (struct frame) { kind, number };
	*frame = found - all->frames;
	return 0;
}

/* Finds or adds the stack of a frame on top of another. */
static int push(struct speedscope *all, uint32_t parent, enum frame_kind kind, uint64_t number,
		uint32_t *node)
{
	uint32_t frame;
	int status = find_frame(all, kind, number, &frame);
	const uint64_t key[] = { parent, status ? 0 : frame };
	struct node *found;
	bool added;

	if (status)
		return status;
	found = MAP_ITEM(&all->node_numbers, key, all->nodes, all->node_room, all->node_count,
			 &added);
	if (!found)
		return -ENOMEM;
	*found = (struct node) { parent, frame, all->nodes[parent].depth + 1 };
	*node = found - all->nodes;
	return 0;
}

/* --- graphs --- */

static int find_graph(struct speedscope *all, uint32_t process, size_t *number)
{
	int64_t rank = all->job.processes.processes[process].rank;
	const uint64_t key[] = { rank };
	struct graph *found;
	bool added;

	*number = 0;
	if (rank < 0 || (all->graph_count > ACTIVITY_RANKS_MAX && !map_find(&all->ranks, key)))
		return 0;
	found = MAP_ITEM(&all->ranks, key, all->graphs, all->graph_room, all->graph_count, &added);
	if (!found)
		return -ENOMEM;
	found->rank = rank;
	*number = found - all->graphs;
	return 0;
}

/* Accounts for the time up to `time_ns`, during which `computing` did not change. */
static int advance(struct speedscope *all, size_t number, uint64_t time_ns)
{
	struct graph *graph = &all->graphs[number];

	for (; graph->first < graph->count; graph->first++) {
		struct stack_part *part = &graph->parts[graph->first];
		uint64_t until_ns = number_min(part->until_ns, time_ns);

		if (until_ns > part->from_ns) {
			const uint64_t key = (uint64_t)number << 32 | part->node;
			bool added;
			struct weight *weight = (void *)map_add(&all->weights, &key, &added);

			if (!weight)
				return -ENOMEM;
			weight->all_ns += until_ns - part->from_ns;
			if (!graph->computing)
				weight->alone_ns += until_ns - part->from_ns;
			part->from_ns = until_ns;
		}
		if (part->until_ns > time_ns)
			break;
	}
	if (graph->first == graph->count)
		graph->first = graph->count = 0;
	return 0;
}

static int add_part(struct speedscope *all, size_t number, const struct event *event, uint32_t node)
{
	struct graph *graph = &all->graphs[number];
	uint64_t from_ns = number_max(event->start, graph->covered_ns);

	if (advance(all, number, event->start))
		return -ENOMEM;
	if (event->end <= from_ns)
		return 0;
	/* Occasionally move pending parts to the front. */
	if (graph->first > 64 && graph->first > graph->count / 2) {
		memmove(graph->parts, graph->parts + graph->first,
			(graph->count - graph->first) * sizeof(*graph->parts));
		graph->count -= graph->first;
		graph->first = 0;
	}
	if (!ARENA_GROW(&all->arena, graph->parts, graph->room, graph->count + 1))
		return -ENOMEM;
	graph->parts[graph->count++] = (struct stack_part) { from_ns, event->end, node };
	graph->covered_ns = event->end;
	return 0;
}

/* --- the walk --- */

static int stack_of(struct speedscope *all, const struct event *event, uint32_t *node)
{
	uint32_t slot = SPAN_NONE;
	bool inherited;
	int status = 0;

	if (all->job.spans.open)
		slot = open_spans_find(&all->job.spans, &all->job.processes, event->process,
				       event->thread, &inherited);
	if (slot == SPAN_NONE)
		status = push(all, NO_NODE, FRAME_NO_SPAN, 0, node);
	else
		*node = all->span_nodes[slot];
	if (!status)
		status = push(all, *node, event->file == FILE_NONE ? FRAME_NO_FILE : FRAME_FILE,
			      event->file == FILE_NONE ? 0 : event->file, node);
	return status ? status : push(all, *node, FRAME_CALL, event->operation, node);
}

static int take_event(struct speedscope *all, const struct event *event)
{
	uint32_t node;
	size_t graph;
	int status = stack_of(all, event, &node);

	if (!status)
		status = add_part(all, 0, event, node);
	if (!status)
		status = find_graph(all, event->process, &graph);
	if (!status && graph)
		status = add_part(all, graph, event, node);
	return status;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct speedscope *all = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++)
		if (event->class != IO_NONE && event->flags & EVENT_TIMED)
			status = take_event(all, event);
	return status;
}

/* Records that compute begins (1) or ends (-1) in the job and in the span's rank. */
static int compute(struct speedscope *all, const struct span *span, uint64_t time_ns, int change)
{
	size_t of[2] = { 0, 0 };
	int status = find_graph(all, span->process, &of[1]);

	for (int i = 0; i < (of[1] ? 2 : 1) && !status; i++) {
		struct graph *graph = &all->graphs[of[i]];

		status = advance(all, of[i], time_ns);
		graph->computing += change;
		graph->computes = true;
	}
	return status;
}

static bool is_compute(const struct speedscope *all, const struct span *span)
{
	return all->job.labels.labels[span->label].meaning == CATEGORY_COMPUTE;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct speedscope *all = state;
	const struct span *span = &all->job.spans.slots[slot];
	uint32_t parent = open_spans_parent(&all->job.spans, slot), below = NO_NODE;
	int status;

	if (!ARENA_GROW(&all->arena, all->span_nodes, all->span_room, all->job.spans.room))
		return -ENOMEM;
	if (parent != SPAN_NONE)
		below = all->span_nodes[parent];
	if (all->nodes[below].depth < DEPTH_MAX)
		status = push(all, below, FRAME_SPAN, span->label, &below);
	else
		status = 0;
	all->span_nodes[slot] = below;
	return status || !is_compute(all, span) ? status : compute(all, span, span->begin_ns, 1);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct speedscope *all = state;
	const struct span *span = &all->job.spans.slots[slot];

	return is_compute(all, span) ? compute(all, span, span->end_ns, -1) : 0;
}

static int read_all(struct speedscope *all, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events,
						 .span_begun = span_begun,
						 .span_ended = span_ended };
	const struct walk_consumer consumer = { &calls, all };
	struct walk walk = {
		.cursor.kinds = CURSOR_SPAN_KINDS | 1ull << TRACE_SYSCALL |
				1ull << TRACE_SYSCALL_PATH | 1ull << TRACE_ASYNC |
				1ull << TRACE_FAULT | 1ull << TRACE_VFS,
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = all->options->progress,
		.context = all->options->context,
	};
	int status;

	if (!ARENA_GROW(&all->arena, all->nodes, all->node_room, 1) ||
	    !ARENA_GROW(&all->arena, all->graphs, all->graph_room, 1))
		return -ENOMEM;
	all->node_count = all->graph_count = 1;
	all->graphs[0].rank = -1;
	status = filter_start(&walk.filter, all->options->filter, &all->job, error);
	filter_set_cursor(walk.filter, &walk.cursor);
	if (!status)
		status = walk_run(&all->job, &walk, error);
	filter_close(walk.filter);
	for (size_t i = 0; i < all->graph_count && !status; i++)
		status = advance(all, i, UINT64_MAX);
	return status;
}

/* --- the file --- */

static struct trace_string literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

static struct trace_string frame_name(const struct speedscope *all, const struct frame *frame)
{
	struct trace_string name;

	switch (frame->kind) {
	case FRAME_SPAN:
		name = all->job.labels.labels[frame->number].name;
		return name.length ? name : literal("(no name)");
	case FRAME_FILE:
		name = file_table_name(&all->job.files, frame->number);
		return name.length ? name : literal("(no path)");
	case FRAME_CALL:
		return literal(all->job.operations[frame->number].name);
	case FRAME_NO_SPAN:
		return literal("(no span)");
	case FRAME_NO_FILE:
		break;
	}
	return literal("(no file)");
}

static void write_stack(const struct speedscope *all, uint32_t node)
{
	uint32_t frames[DEPTH_MAX + 4];
	size_t count = 0;

	for (; node != NO_NODE; node = all->nodes[node].parent)
		frames[count++] = all->nodes[node].frame;
	sink_char(all->out, '[');
	while (count) {
		sink_uint(all->out, frames[--count]);
		if (count)
			sink_char(all->out, ',');
	}
	sink_char(all->out, ']');
}

/* The weight that is shown. */
static uint64_t shown_ns(const struct speedscope *all, const struct weighed *stack)
{
	return all->graphs[0].computes ? stack->weight.alone_ns : stack->weight.all_ns;
}

static void write_graph(const struct speedscope *all, const struct graph *graph,
			const struct weighed *stacks, size_t count)
{
	struct sink *out = all->out;
	const char *between = "";
	uint64_t total = 0;

	sink_text(out, "{\"type\":\"sampled\",\"name\":\"");
	sink_text(out, all->graphs[0].computes ? "unoverlapped I/O" : "I/O (no compute spans)");
	if (graph->rank >= 0)
		sink_format(out, ", rank %" PRId64, graph->rank);
	sink_text(out, "\",\"unit\":\"nanoseconds\",\"startValue\":0,\n\"samples\":[");
	for (size_t i = 0; i < count; i++) {
		if (!shown_ns(all, &stacks[i]))
			continue;
		sink_text(out, between);
		write_stack(all, (uint32_t)stacks[i].key);
		between = ",\n";
	}
	sink_text(out, "],\n\"weights\":[");
	between = "";
	for (size_t i = 0; i < count; i++) {
		const uint64_t weight_ns = shown_ns(all, &stacks[i]);

		if (!weight_ns)
			continue;
		sink_text(out, between);
		sink_uint(out, weight_ns);
		total = number_add(total, weight_ns);
		between = ",";
	}
	sink_text(out, "],\n\"endValue\":");
	sink_uint(out, total);
	sink_char(out, '}');
}

COMPARE_BY(compare_stacks, struct weighed, COMPARE(a->key, b->key))

/* Returns all weights, by graph and node; NULL if out of memory. */
static struct weighed *sort_weights(const struct speedscope *all)
{
	struct weighed *stacks = calloc(all->weights.count + 1, sizeof(*stacks));
	size_t at = 0, count = 0;
	const uint64_t *key;
	uint64_t *weight;

	if (!stacks)
		return NULL;
	while (map_next(&all->weights, &at, &key, &weight))
		stacks[count++] = (struct weighed) { *key, *(const struct weight *)weight };
	qsort(stacks, count, sizeof(*stacks), compare_stacks);
	return stacks;
}

static void write_all(const struct speedscope *all, const struct weighed *stacks)
{
	const struct weighed *end = stacks + all->weights.count;
	struct sink *out = all->out;

	sink_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		       "\"exporter\":\"faultline\",\"name\":");
	json_text(out, all->job.traces[0].name, strlen(all->job.traces[0].name));
	sink_text(out, ",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < all->frame_count; i++) {
		struct trace_string name = frame_name(all, &all->frames[i]);

		sink_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_text(out, name.bytes, name.length);
		sink_char(out, '}');
	}
	sink_text(out, "]},\n\"profiles\":[");
	for (size_t i = 0; i < all->graph_count; i++) {
		const struct weighed *first = stacks;

		while (stacks < end && stacks->key >> 32 == i)
			stacks++;
		sink_text(out, i ? ",\n" : "\n");
		write_graph(all, &all->graphs[i], first, stacks - first);
	}
	sink_text(out, "]}\n");
}

static int write_graphs(const struct export_format *format, struct sink *out,
			struct trace_reader *const *traces, const char *const *names,
			size_t trace_count, const struct export_options *options,
			struct trace_error *error)
{
	struct speedscope all = { .options = options, .out = out };
	int status = job_load(&all.job, traces, names, trace_count, error);
	struct weighed *stacks;

	map_init_in(&all.frame_numbers, &all.arena, 2, 1);
	map_init_in(&all.node_numbers, &all.arena, 2, 1);
	map_init_in(&all.ranks, &all.arena, 1, 1);
	map_init_in(&all.weights, &all.arena, 1, 2);
	if (!status)
		status = read_all(&all, error);
	stacks = status ? NULL : sort_weights(&all);
	if (!status && !stacks)
		status = -ENOMEM;
	if (!status) {
		write_all(&all, stacks);
		status = out->error;
	}
	free(stacks);
	arena_free(&all.arena);
	job_free(&all.job);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.stream = write_graphs,
	.about = "One JSON object in speedscope's file format: shared.frames, profiles.\n\n"
		 "  profiles  the job, then each rank, in nanoseconds: I/O time outside spans of\n"
		 "            category compute; while operations overlap, time counts for the one\n"
		 "            that began first. Without such spans: all I/O time\n"
		 "  samples   one stack each: spans from the outermost in, the file, the call\n"
		 "  weights   ns per stack; they add up to the report's unoverlapped_io_ns\n",
};
