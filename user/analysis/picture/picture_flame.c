/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds up samples by node, and merges nodes with little time whenever there are too many. */
#include "analysis/picture/picture_flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/processes/threads.h"
#include "analysis/stacks/lines.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"

#define ROOT 0
#define SUM_WORDS (sizeof(struct flame_sum) / sizeof(uint64_t))

/* While events pass, nodes are merged above these. The number of stacks is limited already. */
#define NODES_FULL (1u << 17)
#define SUMS_FULL (1u << 18)
#define TEXTS_FULL (16u << 20) /* bytes */

/* How much is kept when nodes are merged. */
struct limits {
	size_t nodes; /* apart from those of merged ones, one for each */
	size_t sums;
	size_t sum_bytes; /* as written on a page */
	size_t text_bytes;
};

/* More than in the end, because light nodes may grow. */
static const struct limits passing = { NODES_FULL / 8, SUMS_FULL / 2, SIZE_MAX, TEXTS_FULL / 4 };
static const struct limits shown = { 1000, SIZE_MAX, 400000, 30000 };

static void clear(struct picture_flame *flame)
{
	map_free(&flame->children);
	map_free(&flame->leaves);
	map_free(&flame->sums);
	map_init(&flame->children, 1, 1);
	map_init(&flame->leaves, 2, 1);
	map_init(&flame->sums, 1, SUM_WORDS);
}

int picture_flame_init(struct picture_flame *flame, const struct job *job,
		       const struct picture_axis *axis)
{
	*flame = (struct picture_flame) { .job = job, .axis = *axis, .tree = flame->trees };
	clear(flame);
	stack_tree_init(flame->tree, &job->stacks);
	if (!GROW(flame->nodes, flame->node_room, 1))
		return -ENOMEM;
	flame->node_count = 1;
	return arena_status(&flame->tree->arena);
}

void picture_flame_free(struct picture_flame *flame)
{
	map_free(&flame->children);
	map_free(&flame->leaves);
	map_free(&flame->sums);
	free(flame->nodes);
	free(flame->cells);
	stack_tree_free(&flame->trees[0]);
	stack_tree_free(&flame->trees[1]);
	*flame = (struct picture_flame) { 0 };
}

/* --- nodes --- */

/* Finds or adds a node. Returns ROOT if out of memory. */
static uint32_t child_of(struct picture_flame *flame, uint32_t parent, uint32_t frame)
{
	const uint64_t key = (uint64_t)parent << 32 | frame;
	bool added;
	uint64_t *number = map_add(&flame->children, &key, &added);

	if (!number)
		return ROOT;
	if (!added)
		return *number;
	if (!GROW(flame->nodes, flame->node_room, flame->node_count + 1))
		return ROOT;
	flame->nodes[flame->node_count] = (struct flame_node) { parent, frame };
	return *number = flame->node_count++;
}

/* A node that is no line of a program. */
static uint32_t named_child(struct picture_flame *flame, uint32_t parent, struct trace_string name)
{
	const struct tree_frame frame = { .function = stack_tree_text(flame->tree, name) };

	return child_of(flame, parent, stack_tree_frame(flame->tree, &frame));
}

static uint32_t literal_child(struct picture_flame *flame, uint32_t parent, const char *name)
{
	return named_child(flame, parent, (struct trace_string) { name, strlen(name) });
}

static uint32_t program_of(struct picture_flame *flame, const struct event *event)
{
	uint32_t kind =
		literal_child(flame, ROOT, thread_kind(flame->job, event->process, event->thread));
	struct trace_string comm = job_comm_at(flame->job, event->process, event->start);

	return comm.length ? named_child(flame, kind, comm)
			   : literal_child(flame, kind, "(unknown)");
}

static uint32_t add_chain(struct picture_flame *flame, uint32_t node, uint32_t stack, bool cut)
{
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_tree_chain(flame->tree, stack, frames);

	if (cut)
		node = literal_child(flame, node, "(outer frames missing)");
	for (size_t i = 0; i < count; i++)
		node = child_of(flame, node, frames[i]);
	return node;
}

/* Returns the node of a sample's innermost frame. */
static uint32_t leaf_of(struct picture_flame *flame, const struct event *event)
{
	const uint32_t program = program_of(flame, event);
	const uint32_t stack =
		stack_tree_find(flame->tree, event->block->trace, event_value(event, SAMPLE_STACK));
	const bool cut = flame->tree->stacks[stack].cut ||
			 event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT;
	const uint64_t key[] = { (uint64_t)program << 32 | stack, cut };
	uint64_t *leaf;
	char name[64];
	bool added;

	if (stack == STACK_NONE) {
		snprintf(name, sizeof(name), "(%s)", line_unknown(flame->job, event));
		return literal_child(flame, program, name);
	}
	leaf = map_add(&flame->leaves, key, &added);
	if (!leaf)
		return ROOT;
	if (added)
		*leaf = add_chain(flame, program, stack, cut);
	return *leaf;
}

/* --- sums --- */

static uint64_t sum_key(uint32_t node, unsigned int state, unsigned int stretch)
{
	return (uint64_t)node << 32 | state << 16 | stretch;
}

static struct flame_cell cell_of(uint64_t key, const uint64_t *sum)
{
	return (struct flame_cell) { .node = key >> 32,
				     .state = key >> 16,
				     .stretch = key,
				     .sum = { sum[0], sum[1], sum[2] } };
}

static int add_sum(struct map *sums, uint64_t key, const struct flame_sum *more)
{
	bool added;
	uint64_t *sum = map_add(sums, &key, &added);

	if (!sum)
		return -ENOMEM;
	sum[0] = number_add(sum[0], more->time_ns);
	sum[1] = number_add(sum[1], more->estimated_ns);
	sum[2] += more->estimated_samples;
	return 0;
}

static int add_sample(struct picture_flame *flame, const struct event *event)
{
	const unsigned int state = event_sample_state(flame->job, event);
	const struct line_sums sums = line_sums_of(flame->job, event, state);
	const uint32_t leaf = leaf_of(flame, event);
	uint64_t start_ns, end_ns, times[PICTURE_COARSE];
	struct picture_stretches over;
	int status = leaf == ROOT ? -ENOMEM : 0;

	line_interval(flame->job, event, &sums, &start_ns, &end_ns);
	over = picture_stretches_of(&flame->axis, start_ns, end_ns);
	memset(&times[over.first], 0, (over.last - over.first + 1) * sizeof(times[0]));
	picture_spread_coarse(times, sizeof(times[0]), &flame->axis, &over, sums.time_ns);
	for (unsigned int i = over.first; i <= over.last && !status; i++) {
		/* If any of it is estimated, all of it is in one stretch. */
		const struct flame_sum more = { times[i], sums.estimated_ns,
						sums.estimated_samples };

		status = add_sum(&flame->sums, sum_key(leaf, state, i), &more);
	}
	return status;
}

/* --- merging --- */

struct choice {
	double weight;
	uint32_t node;
};

/* Callers, which have at least as much time and lower numbers, come first. */
COMPARE_BY(compare_choices, struct choice,
	   COMPARE(b->weight, a->weight) ?: COMPARE(a->node, b->node))

/* Weighs nodes by their share, with all they call, of the time in the state where that is most;
 * kinds of threads weigh most. Returns NULL if out of memory. */
static struct choice *weigh(const struct picture_flame *flame)
{
	struct choice *choices = calloc(flame->node_count, sizeof(*choices));
	double(*times)[FLAME_STATES] = calloc(flame->node_count, sizeof(*times));
	const uint64_t *key;
	uint64_t *sum;

	for (size_t at = 0; choices && times && map_next(&flame->sums, &at, &key, &sum);) {
		const struct flame_cell cell = cell_of(*key, sum);

		times[cell.node][cell.state] += cell.sum.time_ns;
	}
	for (size_t i = flame->node_count; choices && times && i-- > 1;)
		for (int state = 0; state < FLAME_STATES; state++)
			times[flame->nodes[i].parent][state] += times[i][state];
	for (size_t i = 0; choices && times && i < flame->node_count; i++) {
		choices[i].node = i;
		for (int state = 0; state < FLAME_STATES; state++)
			if (times[i][state] > choices[i].weight * times[ROOT][state])
				choices[i].weight = times[i][state] / times[ROOT][state];
		if (flame->nodes[i].parent == ROOT)
			choices[i].weight = i == ROOT ? 3 : 2;
	}
	if (!times) {
		free(choices);
		choices = NULL;
	}
	free(times);
	return choices;
}

static size_t text_bytes(const struct picture_flame *flame, uint32_t text, bool *seen)
{
	size_t bytes = seen[text] ? 0 : flame->tree->texts[text].length;

	seen[text] = true;
	return bytes;
}

/* Marks the nodes to keep, the heaviest. Returns 0 or -ENOMEM. */
static int choose(const struct picture_flame *flame, const struct limits *limits, bool *kept)
{
	struct choice *choices = weigh(flame);
	bool *seen = calloc(flame->tree->text_count, sizeof(*seen));
	size_t count = 0, bytes = 0;

	if (choices && seen)
		qsort(choices, flame->node_count, sizeof(*choices), compare_choices);
	for (; choices && seen && count < flame->node_count && count <= limits->nodes; count++) {
		const uint32_t node = choices[count].node;
		const struct tree_frame *frame = &flame->tree->frames[flame->nodes[node].frame];

		bytes += text_bytes(flame, frame->source, seen) +
			 text_bytes(flame, frame->function, seen);
		if (bytes > limits->text_bytes)
			break;
		kept[node] = true;
	}
	free(seen);
	free(choices);
	return count ? 0 : -ENOMEM;
}

/* Returns the same frame in the flame's current tree. */
static uint32_t copy_frame(struct picture_flame *flame, const struct stack_tree *from,
			   uint32_t frame)
{
	const struct tree_frame copy = {
		.source = stack_tree_text(flame->tree, stack_tree_source(from, frame)),
		.function = stack_tree_text(flame->tree, stack_tree_function(from, frame)),
		.line = from->frames[frame].line,
	};

	return frame ? stack_tree_frame(flame->tree, &copy) : 0;
}

/* Makes the nodes again, and sets the new number of each. Those not kept share one, which their
 * caller has. */
static int remake_nodes(struct picture_flame *flame, const struct stack_tree *old, const bool *kept,
			uint32_t *numbers)
{
	struct flame_node *nodes = flame->nodes;
	size_t count = flame->node_count;

	flame->nodes = NULL;
	flame->node_count = flame->node_room = 0;
	clear(flame);
	if (!GROW(flame->nodes, flame->node_room, 1)) {
		free(nodes);
		return -ENOMEM;
	}
	flame->node_count = 1;
	for (size_t i = 1; i < count; i++) {
		const uint32_t parent = numbers[nodes[i].parent];

		if (kept[i])
			numbers[i] =
				child_of(flame, parent, copy_frame(flame, old, nodes[i].frame));
		else if (kept[nodes[i].parent])
			numbers[i] = literal_child(flame, parent, FLAME_OTHER);
		else
			numbers[i] = parent;
		if (!numbers[i])
			break;
	}
	free(nodes);
	return count == 1 || numbers[count - 1] ? arena_status(&flame->tree->arena) : -ENOMEM;
}

/* With another tree, only the texts and frames of the nodes remain in memory. */
static int remake(struct picture_flame *flame, const bool *kept, bool other_tree)
{
	struct stack_tree *old = flame->tree;
	uint32_t *numbers = calloc(flame->node_count, sizeof(*numbers));
	struct map sums = flame->sums;
	const uint64_t *key;
	uint64_t *sum;
	int status;

	map_init(&flame->sums, 1, SUM_WORDS);
	if (other_tree) {
		flame->tree = &flame->trees[old == flame->trees];
		stack_tree_init(flame->tree, &flame->job->stacks);
	}
	status = numbers ? remake_nodes(flame, old, kept, numbers) : -ENOMEM;
	for (size_t at = 0; !status && map_next(&sums, &at, &key, &sum);) {
		struct flame_cell cell = cell_of(*key, sum);

		cell.node = numbers[cell.node];
		status = add_sum(&flame->sums, sum_key(cell.node, cell.state, cell.stretch),
				 &cell.sum);
	}
	map_free(&sums);
	free(numbers);
	if (other_tree)
		stack_tree_free(old);
	return status;
}

static size_t digits_of(uint64_t number)
{
	size_t digits = 1;

	for (; number > 9; number /= 10)
		digits++;
	return digits + 1; /* with a comma */
}

/* Returns an upper bound of the bytes of all sums on a page. Estimated times take none if all
 * samples of a state have the same weight. */
static size_t sum_bytes(const struct picture_flame *flame)
{
	uint64_t weights[FLAME_STATES] = { 0 };
	const uint64_t *key;
	uint64_t *value;
	size_t bytes = 0;

	for (size_t at = 0; map_next(&flame->sums, &at, &key, &value);) {
		const struct flame_cell cell = cell_of(*key, value);
		const struct flame_sum *sum = &cell.sum;

		bytes += digits_of(sum->time_ns - sum->estimated_ns) +
			 digits_of(sum->estimated_samples);
		if (!sum->estimated_samples)
			continue;
		if (!weights[cell.state])
			weights[cell.state] = sum->estimated_ns / sum->estimated_samples;
		if (sum->estimated_ns != weights[cell.state] * sum->estimated_samples)
			bytes += digits_of(sum->estimated_ns);
	}
	return bytes;
}

static bool is_tree_full(const struct picture_flame *flame)
{
	return flame->tree->arena.bytes > TEXTS_FULL;
}

static bool is_full(const struct picture_flame *flame)
{
	return flame->node_count > NODES_FULL || flame->leaves.count > NODES_FULL ||
	       flame->sums.count > SUMS_FULL || is_tree_full(flame);
}

/* Merges the lightest nodes into one for each caller, as far as needed. */
static int merge(struct picture_flame *flame, const struct limits *limits)
{
	struct limits now = *limits;
	bool other_tree = limits == &shown || is_tree_full(flame);
	int status = 0;

	for (; !status && now.nodes; now.nodes = now.nodes * 3 / 4) {
		bool *kept = calloc(flame->node_count, sizeof(*kept));

		status = kept ? choose(flame, &now, kept) : -ENOMEM;
		if (!status)
			status = remake(flame, kept, other_tree);
		free(kept);
		if (flame->sums.count <= now.sums && sum_bytes(flame) <= now.sum_bytes)
			break;
	}
	return status;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct picture_flame *flame = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		if (!event_is_sample(event))
			continue;
		status = add_sample(flame, event);
		if (!status)
			status = arena_status(&flame->tree->arena);
		if (!status && is_full(flame))
			status = merge(flame, &passing);
	}
	return status;
}

const struct walk_calls picture_flame_calls = { .events = add_events, .matters = EVENT_THREAD };

/* --- at the end --- */

COMPARE_BY(compare_cells, struct flame_cell,
	   COMPARE(a->node, b->node) ?:
	   COMPARE(a->state, b->state) ?:
	   COMPARE(a->stretch, b->stretch))

int picture_flame_finish(struct picture_flame *flame)
{
	const uint64_t *key;
	uint64_t *sum;
	int status = merge(flame, &shown);

	flame->cells = status ? NULL : calloc(flame->sums.count + 1, sizeof(*flame->cells));
	if (!flame->cells)
		return -ENOMEM;
	for (size_t at = 0; map_next(&flame->sums, &at, &key, &sum);)
		flame->cells[flame->cell_count++] = cell_of(*key, sum);
	if (flame->cell_count)
		qsort(flame->cells, flame->cell_count, sizeof(*flame->cells), compare_cells);
	clear(flame);
	return 0;
}
