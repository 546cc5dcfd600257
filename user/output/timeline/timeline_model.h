/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* State and functions of the timeline model. Private to timeline*.c. */
#pragma once

#include "collections/map.h"
#include "analysis/events/resolve.h"
#include "analysis/shared/sites.h"
#include "output/timeline/device_names.h"
#include "output/timeline/timeline.h"

enum timeline_counter {
	COUNTER_READ,
	COUNTER_WRITTEN,
	COUNTER_FETCHED,
	COUNTER_CREATED,
	COUNTER_COUNT
};
#define COUNTERS_RECENT 64
#define THREADS_RECENT 64

/* Sums of a process in one bucket that are not in the map yet. */
struct recent_bucket {
	uint32_t process;
	uint64_t from_ns, until_ns; /* 0, 0: none */
	uint64_t sums[COUNTER_COUNT];
};

/* State of one of the job's open spans. */
struct timeline_span {
	uint64_t name, category, args; /* string ids of the trace */
	uint64_t flags;
	uint64_t limit_ns; /* end of the slice it began in; 0 for none */
	uint32_t trace, process;
	uint32_t thread, ended_by; /* tracks */
	uint32_t below, above;	   /* on its thread's stack or list, or TIMELINE_NONE */
	bool wanted;
	bool aside; /* on the list of spans that do not nest */
	/* Slices that begin with the span and must follow it in the file. */
	struct sink waiting;
};

struct model {
	struct timeline timeline;
	const struct timeline_encoder *encoder;
	const struct export_options *options;
	struct filter rest; /* the part of the filter that the walk applies */
	struct row_resolver *resolver;
	struct device_names devices;
	struct sink made; /* for names */
	struct arena site_arena;
	struct sites sites;
	struct sink lines; /* those of the latest sampled item */
	struct timeline_track *tracks;
	size_t track_count, track_room;
	struct map track_numbers; /* kind and process, key -> track */
	struct map pids;	  /* pid -> number of processes that had it so far */
	size_t thread_count, device_count;
	uint32_t recent_threads[THREADS_RECENT]; /* tracks found lately */
	struct timeline_span *spans;		 /* by slot of the job's open spans */
	size_t span_room;
	uint64_t bucket_ns;
	struct map buckets; /* process, bucket -> bytes by enum timeline_counter */
	struct recent_bucket recent[COUNTERS_RECENT];
	struct timeline_item item;		/* the one under construction */
	struct timeline_name operation, family; /* of the latest operation */
};

/* --- timeline_items.c --- */

/* Judges only by process: whether its pid and rank are wanted. */
bool model_wants(const struct model *model, uint32_t process);
/* Sets the item's times, cut to the window if the encoder wants that. Returns false if it is
 * outside or too short. */
bool model_cut(const struct model *model, struct timeline_item *item, uint64_t start_ns,
	       uint64_t end_ns);
/* Write the item: to a span's buffer unless `waiting` is NULL. `thread` may be TIMELINE_NONE. */
void model_slice(struct model *model, struct sink *waiting, struct timeline_item *item,
		 uint32_t track, uint32_t thread);
void model_instant(struct model *model, struct timeline_item *item, uint32_t thread);

/* --- timeline_tracks.c: errors are kept in the timeline; TIMELINE_NONE is returned then --- */

void tracks_init(struct model *model);
void tracks_free(struct model *model);
uint32_t track_find(struct model *model, enum timeline_kind kind, uint32_t process, uint64_t key,
		    uint32_t parent);
uint32_t track_of_process(struct model *model, uint32_t process);
uint32_t track_of_thread(struct model *model, uint32_t process, uint64_t tid);
/* Returns a lane of the parent that is free at `start_ns`, and occupies it until `end_ns`. */
uint32_t track_lane(struct model *model, enum timeline_kind kind, uint32_t parent,
		    uint64_t start_ns, uint64_t end_ns);
/* Writes the track, and its parent, unless they were written before. Valid until another track is
 * used. */
const struct timeline_track *track_use(struct model *model, uint32_t number);
/* Names threads after their exit rows, which may lie after the window. */
int tracks_name_threads(struct model *model, struct trace_error *error);

/* --- timeline_spans.c --- */

/* Walk callbacks (walk.h). */
int model_span_begun(void *state, uint32_t slot, const struct event *event);
int model_span_ended(void *state, uint32_t slot, const struct event *event);
int model_span_refused(void *state, const struct event *event);
void spans_free(struct model *model);
/* Decides where a slice of a thread goes; returns the buffer for it, or NULL. */
struct sink *model_place(struct model *model, uint32_t thread, struct timeline_item *item,
			 uint32_t *track);

/* --- timeline_args.c --- */

void item_add(struct timeline_item *item, enum timeline_arg_id id, enum timeline_type type,
	      uint64_t value);
void item_add_text(struct timeline_item *item, enum timeline_arg_id id, enum timeline_type type,
		   struct trace_string text);
/* Returns a string of a trace as a name, or a literal if it is empty. */
struct timeline_name name_string(const struct model *model, uint32_t trace, uint64_t string,
				 const char *none);
/* Sets the name, category and arguments of an item from its row. */
void item_describe(struct model *model, struct timeline_item *item);

/* --- timeline_stacks.c --- */

/* Keeps a sample for the operation that follows on its thread, which is a track. */
void stacks_take_sample(struct model *model, uint32_t thread, const struct event *event);
/* Adds the lines of the item's sample, if the thread has one of it. */
void stacks_describe(struct model *model, uint32_t thread, struct timeline_item *item);
/* Names an item, which is a sample of a thread on a CPU, after its line, and adds its lines. */
void stacks_name(struct model *model, struct timeline_item *item);

/* --- timeline_counters.c --- */

void counters_init(struct model *model);
void counters_free(struct model *model);
/* Adds the bytes of an operation that fall into the window. */
void counters_add(struct model *model, uint32_t process, const struct event *event);
void counters_write(struct model *model);
