/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of spans and instants: each pair of name and category once, by number, regardless of how
 * many string ids it has.
 */
#pragma once

#include "collections/arena.h"
#include "collections/map.h"
#include "trace/read/reader.h"

/* Any more share a label "(others)", one per meaning of their categories. */
#define LABELS_MAX 4096
#define LABELS_OTHERS "(others)"

/* Categories with a meaning. */
enum category {
	CATEGORY_FREE, /* any other word */
	CATEGORY_COMPUTE,
	CATEGORY_IO,
	CATEGORY_DATA,	     /* also "reader" */
	CATEGORY_DATALOADER, /* DFTracer's name for it */
	CATEGORY_PREPROCESS,
	CATEGORY_CHECKPOINT,
	CATEGORY_STEP,
	CATEGORY_COUNT,
};

struct label {
	struct trace_string name, category; /* hostile */
	enum category meaning;
	bool evaluates;
	bool waits, has_body; /* one of DFTracer's two spans of a loop ... */
	size_t loop_length;   /* ... whose own name has this length */
};

/* True if the name is this one; true if it contains this part. */
bool label_is(const struct label *label, const char *name);
bool label_has(const struct label *label, const char *part);
/*
 * DFTracer's two spans of a loop: "fetch.iter" for the wait for each item, and "fetch.block" (or
 * "loop.yield") for its processing. *length is set to that of the loop's own name.
 */
bool label_is_loop_wait(const struct label *label, size_t *length);
bool label_is_loop_body(const struct label *label, size_t *length);

/* True if spans are passes over the data: by their name (or their loop's), by category. */
bool label_names_epoch(const struct label *label);
bool label_of_epochs(const struct label *label);
/* True if spans evaluate the trained model: "evaluate", DFTracer's "test", and the like. */
bool label_names_evaluation(const struct label *label);

#define LABELS_CACHE 256

struct labels {
	struct label *labels;
	size_t count;
	size_t others[CATEGORY_COUNT]; /* number + 1 of the "(others)" label; 0 for none */
	struct map texts;	       /* hashes of name and category -> number */
	struct arena arena;
	struct trace_reader *const *traces;
	struct labels_found { /* recent lookups, by the low bits of the ids */
		uint64_t name, category;
		uint32_t trace, label;
		bool known;
	} found[LABELS_CACHE];
};

/* The traces must outlive the labels. Returns 0 or -ENOMEM. */
int labels_init(struct labels *labels, struct trace_reader *const *traces);
void labels_free(struct labels *labels);

/* Finds the label for the string ids of a trace, adding it if new. Returns 0 or -ENOMEM. */
int labels_find(struct labels *labels, uint32_t trace, uint64_t name, uint64_t category,
		uint64_t *label);
