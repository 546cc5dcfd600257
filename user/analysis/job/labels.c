/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of spans and what they mean. */
#include "analysis/job/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const meanings[CATEGORY_COUNT] = {
	[CATEGORY_FREE] = LABELS_OTHERS,
	[CATEGORY_COMPUTE] = "compute",
	[CATEGORY_IO] = "io",
	[CATEGORY_DATA] = "data",
	[CATEGORY_DATALOADER] = "dataloader",
	[CATEGORY_PREPROCESS] = "preprocess",
	[CATEGORY_CHECKPOINT] = "checkpoint",
	[CATEGORY_STEP] = "step",
};

int labels_init(struct labels *labels, struct trace_reader *const *traces)
{
	*labels = (struct labels) { .traces = traces };
	map_init(&labels->texts, 2, 1);
	labels->labels = calloc(LABELS_MAX + CATEGORY_COUNT, sizeof(*labels->labels));
	return labels->labels ? 0 : -ENOMEM;
}

void labels_free(struct labels *labels)
{
	free(labels->labels);
	map_free(&labels->texts);
	arena_free(&labels->arena);
	*labels = (struct labels) { 0 };
}

static bool is(struct trace_string string, const char *text)
{
	return string.length == strlen(text) && !memcmp(string.bytes, text, string.length);
}

static enum category meaning_of(struct trace_string category)
{
	for (int i = CATEGORY_FREE + 1; i < CATEGORY_COUNT; i++)
		if (is(category, meanings[i]))
			return i;
	return is(category, "reader") ? CATEGORY_DATA : CATEGORY_FREE; /* as in DFTracer */
}

bool label_is(const struct label *label, const char *name)
{
	return is(label->name, name);
}

bool label_has(const struct label *label, const char *part)
{
	return memmem(label->name.bytes, label->name.length, part, strlen(part));
}

/* True if the name ends with `end`; *length is what comes before. */
static bool label_ends(const struct label *label, const char *end, size_t *length)
{
	size_t bytes = strlen(end);

	if (label->name.length < bytes ||
	    memcmp(label->name.bytes + label->name.length - bytes, end, bytes))
		return false;
	*length = label->name.length - bytes;
	return true;
}

bool label_is_loop_wait(const struct label *label, size_t *length)
{
	*length = label->loop_length;
	return label->waits;
}

bool label_is_loop_body(const struct label *label, size_t *length)
{
	*length = label->loop_length;
	return label->has_body;
}

static bool says_epoch(const char *bytes, size_t length)
{
	return length == strlen("epoch") && !memcmp(bytes, "epoch", length);
}

bool label_names_epoch(const struct label *label)
{
	return says_epoch(label->name.bytes,
			  label->has_body ? label->loop_length : label->name.length);
}

bool label_of_epochs(const struct label *label)
{
	return says_epoch(label->category.bytes, label->category.length);
}

bool label_names_evaluation(const struct label *label)
{
	return label->evaluates;
}

/* By its name, or that of the loop whose body it is. */
static bool evaluates(const struct label *label)
{
	static const char *const names[] = { "evaluate", "eval",       "evaluation", "validate",
					     "valid",	 "validation", "test",	     "testing" };
	const struct trace_string name = { label->name.bytes, label->has_body
								      ? label->loop_length
								      : label->name.length };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is(name, names[i]))
			return label->meaning != CATEGORY_COMPUTE;
	return false;
}

static void find_loop(struct label *label)
{
	label->waits = label_ends(label, ".iter", &label->loop_length);
	label->has_body = label_ends(label, ".block", &label->loop_length) ||
			  label_ends(label, ".yield", &label->loop_length);
}

static struct trace_string string_of(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

static int keep(struct labels *labels, struct trace_string from, struct trace_string *to)
{
	to->bytes = arena_text(&labels->arena, from.bytes, from.length);
	to->length = from.length;
	return to->bytes ? 0 : -ENOMEM;
}

/* The label of those for which there is no room. */
static uint64_t others_of(struct labels *labels, enum category meaning)
{
	if (!labels->others[meaning]) {
		labels->labels[labels->count] =
			(struct label) { .name = string_of(LABELS_OTHERS),
					 .category = string_of(meanings[meaning]),
					 .meaning = meaning };
		labels->others[meaning] = ++labels->count;
	}
	return labels->others[meaning] - 1;
}

/* Two texts with the same hash under a random 64-bit seed are the same text. */
static int find_texts(struct labels *labels, struct trace_string name, struct trace_string category,
		      uint64_t *number)
{
	const uint64_t key[] = { map_hash_bytes(&labels->texts, name.bytes, name.length),
				 map_hash_bytes(&labels->texts, category.bytes, category.length) };
	const uint64_t *known = map_find(&labels->texts, key);
	struct label *label = &labels->labels[labels->count];
	uint64_t *added;
	bool is_new;

	if (known) {
		*number = *known;
		return 0;
	}
	if (labels->texts.count == LABELS_MAX) {
		*number = others_of(labels, meaning_of(category));
		return 0;
	}
	if (keep(labels, name, &label->name) || keep(labels, category, &label->category))
		return -ENOMEM;
	added = map_add(&labels->texts, key, &is_new);
	if (!added)
		return -ENOMEM;
	label->meaning = meaning_of(category);
	find_loop(label);
	label->evaluates = evaluates(label);
	*added = *number = labels->count++;
	return 0;
}

int labels_find(struct labels *labels, uint32_t trace, uint64_t name, uint64_t category,
		uint64_t *label)
{
	struct labels_found *found = &labels->found[(name + 31 * category) % LABELS_CACHE];
	const struct trace_reader *reader = labels->traces[trace];
	int status;

	if (found->known && found->name == name && found->category == category &&
	    found->trace == trace) {
		*label = found->label;
		return 0;
	}
	status = find_texts(labels, trace_reader_string(reader, name),
			    trace_reader_string(reader, category), label);
	if (!status)
		*found = (struct labels_found) { name, category, trace, *label, true };
	return status;
}
