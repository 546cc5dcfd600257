/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tracks the open spans, and finds which one an operation belongs to. Memory holds only open spans.
 */
#pragma once

#include "analysis/job/process_table.h"

#define OPEN_SPANS_MAX (1u << 18) /* more are refused: no program nests or leaks that many */
#define SPAN_NONE UINT32_MAX

/* Keys of open spans; if several match, the one that began last is found. */
enum span_key { SPAN_BY_ID, SPAN_BY_THREAD, SPAN_BY_PROCESS, SPAN_KEYS };

struct span {
	uint64_t serial;	   /* counts the spans that began, from 1; 0: this slot is free */
	uint64_t id;		   /* assigned by the program */
	uint64_t begin_ns, end_ns; /* the end only once it has ended */
	uint32_t process, thread;
	uint32_t label;		/* number in the job's labels */
	uint32_t parent;	/* the span that an operation would have belonged to as it began, or
				 * SPAN_NONE ... */
	uint64_t parent_serial; /* ... if that slot still has this serial */
	bool unfinished;	/* its program ended first */
	struct {
		uint32_t newer, older; /* in the same bucket, or SPAN_NONE */
	} links[SPAN_KEYS];
};

struct open_spans {
	struct span *slots;
	size_t room, used, open;
	uint32_t free; /* the first free slot; linked by links[0].older */
	uint32_t *buckets[SPAN_KEYS];
	size_t bucket_count; /* a power of two */
	uint64_t seed, serial;
	uint64_t refused;	 /* begins for which there was no room */
	uint64_t unmatched_ends; /* ends of spans that were not open */
};

void open_spans_init(struct open_spans *spans);
void open_spans_free(struct open_spans *spans);

/* Opens a span with the given id, begin, process, thread and label. *slot is its slot until it is
 * closed; SPAN_NONE if it has no id or there is no room. `processes` may be NULL: process numbers
 * are then the caller's own and have no ancestors. Returns 0 or -ENOMEM. */
int open_spans_begin(struct open_spans *spans, const struct span *span,
		     const struct process_table *processes, uint32_t *slot);
/* Closes an open span. */
void open_spans_close(struct open_spans *spans, uint32_t slot);

/* These return SPAN_NONE if there is none. */
uint32_t open_spans_of_id(const struct open_spans *spans, uint32_t process, uint64_t id);
uint32_t open_spans_of_process(const struct open_spans *spans, uint32_t process);
uint32_t open_spans_parent(const struct open_spans *spans, uint32_t slot);

/* Use open_spans_find instead. */
uint32_t open_spans_search(const struct open_spans *spans, const struct process_table *processes,
			   uint32_t process, uint32_t thread, bool *inherited);

/*
 * Returns the span that an operation of a thread belongs to now: the thread's innermost one;
 * otherwise its process's; otherwise that of the nearest ancestor with an open span, and *inherited
 * is set.
 */
static inline uint32_t open_spans_find(const struct open_spans *spans,
				       const struct process_table *processes, uint32_t process,
				       uint32_t thread, bool *inherited)
{
	*inherited = false;
	return spans->open ? open_spans_search(spans, processes, process, thread, inherited)
			   : SPAN_NONE;
}

/* The label of that span, or SPAN_NONE. */
static inline uint32_t open_spans_label(const struct open_spans *spans,
					const struct process_table *processes, uint32_t process,
					uint32_t thread)
{
	bool inherited;
	uint32_t slot = open_spans_find(spans, processes, process, thread, &inherited);

	return slot == SPAN_NONE ? SPAN_NONE : spans->slots[slot].label;
}
