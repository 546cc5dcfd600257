/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the flame graph as JSON. */
#include "output/page/html_data.h"

#include "trace/format/thread_states.h"

static void write_states(struct json *json)
{
#define STATE_TEXTS(id, name, title, ...) { name, title },
	static const char *const states[][2] = { THREAD_STATES(STATE_TEXTS) { SAMPLE_IO_NAME,
									      "in I/O" } };

	json_begin_list(json, "states");
	for (size_t i = 0; i < FLAME_STATES; i++) {
		json_begin_list(json, NULL);
		json_literal(json, NULL, states[i][0]);
		json_literal(json, NULL, states[i][1]);
		json_end(json);
	}
	json_end(json);
}

static void write_texts(struct json *json, const struct stack_tree *tree)
{
	json_begin_list(json, "texts");
	for (size_t i = 0; i < tree->text_count; i++)
		html_text(json, NULL, tree->texts[i].bytes, tree->texts[i].length);
	json_end(json);
}

static void write_nodes(struct json *json, const struct picture_flame *flame)
{
	json_begin_list(json, "nodes");
	for (size_t i = 0; i < flame->node_count; i++) {
		const struct tree_frame *frame = &flame->tree->frames[flame->nodes[i].frame];

		json_begin_list(json, NULL);
		json_uint(json, NULL, flame->nodes[i].parent);
		json_uint(json, NULL, frame->source);
		json_uint(json, NULL, frame->line);
		json_uint(json, NULL, frame->function);
		json_end(json);
	}
	json_end(json);
}

/* Writes the cells of one node and state. Returns how many there are. */
static size_t write_sum(struct json *json, const struct flame_cell *cells, size_t count)
{
	struct {
		uint64_t exact_ns, samples, estimated_ns;
	} sums[PICTURE_COARSE] = { 0 };
	uint64_t weight_ns = 0;
	bool same = true; /* weight of all samples */
	size_t used = 0;

	for (; used < count && cells[used].node == cells->node && cells[used].state == cells->state;
	     used++) {
		const struct flame_sum *sum = &cells[used].sum;

		sums[cells[used].stretch].exact_ns = sum->time_ns - sum->estimated_ns;
		sums[cells[used].stretch].samples = sum->estimated_samples;
		sums[cells[used].stretch].estimated_ns = sum->estimated_ns;
		if (sum->estimated_samples && !weight_ns)
			weight_ns = sum->estimated_ns / sum->estimated_samples;
		same &= sum->estimated_ns == weight_ns * sum->estimated_samples;
	}
	json_begin_list(json, NULL);
	json_uint(json, NULL, cells->node);
	json_uint(json, NULL, cells->state);
	html_list(json, NULL, &sums->exact_ns, sizeof(sums[0]), PICTURE_COARSE);
	if (weight_ns || !same)
		html_list(json, NULL, &sums->samples, sizeof(sums[0]), PICTURE_COARSE);
	if (!same)
		html_list(json, NULL, &sums->estimated_ns, sizeof(sums[0]), PICTURE_COARSE);
	else if (weight_ns)
		json_uint(json, NULL, weight_ns);
	json_end(json);
	return used;
}

void html_flame(struct json *json, const char *name, const struct pictures *pictures)
{
	const struct picture_flame *flame = &pictures->flame;

	if (!(pictures->layers & JOB_STACK)) {
		json_null(json, name);
		return;
	}
	json_begin(json, name);
	write_states(json);
	write_texts(json, flame->tree);
	write_nodes(json, flame);
	json_begin_list(json, "sums");
	for (size_t i = 0; i < flame->cell_count;)
		i += write_sum(json, &flame->cells[i], flame->cell_count - i);
	json_end(json);
	json_end(json);
}
