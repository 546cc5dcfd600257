/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The spans that are open at a moment, and which of them an operation belongs to. Memory is that of
 * open spans alone. Knows nothing of what is summed up over them.
 */
#ifndef FAULTLINE_OPEN_SPANS_H
#define FAULTLINE_OPEN_SPANS_H

#include "analysis/model/process_table.h"

#define OPEN_SPANS_MOST (1u << 18) /* more are refused: nobody nests or leaks that many */
#define SPAN_NONE UINT32_MAX

/* By what open spans are found; of several that match, the one that began last. */
enum span_key { SPAN_BY_ID, SPAN_BY_THREAD, SPAN_BY_PROCESS, SPAN_KEYS };

struct span {
	uint64_t serial;	   /* counts the spans that began, from 1; 0: this place is free */
	uint64_t id;		   /* as the program gave it */
	uint64_t begin_ns, end_ns; /* the end once it ended */
	uint32_t process, thread;
	uint32_t label; /* number in the job's labels */
	uint32_t
		parent; /* what an operation would have belonged to as it began, or SPAN_NONE ... */
	uint64_t parent_serial; /* ... if that one still has this serial */
	bool unfinished;	/* its program ended before it did */
	struct {
		uint32_t newer, older; /* of those in the same bucket, or SPAN_NONE */
	} links[SPAN_KEYS];
};

struct open_spans {
	struct span *slots;
	size_t room, used, open;
	uint32_t free; /* the first of the free slots, which are linked by links[0].older */
	uint32_t *buckets[SPAN_KEYS];
	size_t bucket_count; /* a power of two */
	uint64_t seed, serial;
	uint64_t refused;	 /* begins that there was no room for */
	uint64_t unmatched_ends; /* ends of spans that were not open */
};

void open_spans_init(struct open_spans *spans);
void open_spans_free(struct open_spans *spans);

/* Opens a span: its id, begin, process, thread and label are given. *slot is its place until it is
 * closed; SPAN_NONE where it has no id or there is no room. `processes` may be NULL: numbers of
 * processes are the caller's own, and none has ancestors. Returns 0 or -ENOMEM. */
int open_spans_begin(struct open_spans *spans, const struct span *begun,
		     const struct process_table *processes, uint32_t *slot);
/* Closes a span that is open. */
void open_spans_close(struct open_spans *spans, uint32_t slot);

/* These give SPAN_NONE when there is none. */
uint32_t open_spans_of_id(const struct open_spans *spans, uint32_t process, uint64_t id);
uint32_t open_spans_of_process(const struct open_spans *spans, uint32_t process);
uint32_t open_spans_parent(const struct open_spans *spans, uint32_t slot);

/* Use open_spans_find. */
uint32_t open_spans_search(const struct open_spans *spans, const struct process_table *processes,
			   uint32_t process, uint32_t thread, bool *inherited);

/*
 * The span that an operation of a thread belongs to now: the innermost one of the thread; failing
 * that, of its process; failing that, of the nearest ancestor that has one open, and then
 * *inherited is set.
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

#endif
