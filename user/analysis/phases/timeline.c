/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "timeline".
 *
 * Times are exact measures within each bin, not samples: between two events every union is one
 * stretch that ends at a known time (see interval.h), and the time between two events is split
 * among the bins it falls into.
 */
#include "analysis/phases/timeline.h"

#include "analysis/phases/activity.h"
#include "base/number.h"

/* Measured separately: all I/O, and I/O by method or class. */
enum part {
	PART_ALL,
	PART_READ,
	PART_DIRECT,
	PART_FAULTS,
	PART_WRITE,
	PART_METADATA,
	PART_SYNC,
	PARTS
};

struct bin {
	uint64_t start_ns, length_ns; /* start: from the start of the run */
	uint64_t compute_ns;
	uint64_t alone_ns[PARTS]; /* outside compute */
	uint64_t fetched_bytes, direct_read_bytes, operations;
};

struct stretch {
	uint64_t start_ns, end_ns;
	bool under_way; /* not all of it has been added to the bins */
};

struct timeline {
	const struct job *job;
	struct bin bins[TIMELINE_BINS];
	uint64_t length_ns; /* of a bin */
	size_t bin;	    /* index of the bin that contains `now_ns` */
	uint64_t now_ns, bin_end_ns;
	/* Everything before, including compute, has been added to the bins; later parts of
	 * stretches under way have not. Compute has neither begun nor ended since. */
	uint64_t settled_ns;
	struct stretch stretches[PARTS]; /* latest stretch of each union */
	uint64_t compute_end_ns;
	uint64_t compute_open; /* open compute spans */
	size_t gpu_next;
	bool computes; /* there is any compute */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct timeline *timeline = state;
	uint64_t duration;

	timeline->job = job;
	duration = number_sub(job->end_ns, job->start_ns);
	timeline->length_ns = duration / TIMELINE_BINS + 1;
	timeline->now_ns = timeline->settled_ns = job->start_ns;
	timeline->bin_end_ns = number_add(job->start_ns, timeline->length_ns);
}

/* --- during the walk --- */

/* Returns the time up to which compute covers everything after `settled_ns`. */
static uint64_t hidden_until(const struct timeline *timeline)
{
	return timeline->compute_open ? UINT64_MAX
				      : number_max(timeline->settled_ns, timeline->compute_end_ns);
}

/* Adds a part's stretch up to `until_ns`, except what compute hides. */
static void book(struct timeline *timeline, unsigned int part, const struct stretch *stretch,
		 uint64_t until_ns)
{
	uint64_t from_ns = number_max(stretch->start_ns, hidden_until(timeline));
	uint64_t to_ns = number_min(stretch->end_ns, until_ns);

	if (to_ns > from_ns)
		timeline->bins[timeline->bin].alone_ns[part] += to_ns - from_ns;
}

/* Adds everything up to `until_ns`, which must be in the current bin. */
static void settle(struct timeline *timeline, uint64_t until_ns)
{
	uint64_t computed_ns = number_min(hidden_until(timeline), until_ns);

	if (until_ns <= timeline->settled_ns)
		return;
	timeline->bins[timeline->bin].compute_ns += computed_ns - timeline->settled_ns;
	for (unsigned int part = 0; part < PARTS; part++) {
		struct stretch *stretch = &timeline->stretches[part];

		if (!stretch->under_way)
			continue;
		book(timeline, part, stretch, until_ns);
		if (stretch->end_ns <= until_ns)
			stretch->under_way = false;
	}
	timeline->settled_ns = until_ns;
}

/* Advances to `time_ns`; time past the end of the run belongs to its last bin. */
static void advance(struct timeline *timeline, uint64_t time_ns)
{
	while (time_ns > timeline->bin_end_ns && timeline->bin + 1 < TIMELINE_BINS) {
		settle(timeline, timeline->bin_end_ns);
		timeline->bin++;
		timeline->bin_end_ns = number_add(timeline->bin_end_ns, timeline->length_ns);
	}
	timeline->now_ns = number_max(timeline->now_ns, time_ns);
}

/* Adds GPU activity up to `time_ns`. */
static void take_gpu(struct timeline *timeline, uint64_t time_ns)
{
	const struct gpu *gpu = timeline->job->activities->gpu;

	while (gpu && timeline->gpu_next < gpu->count &&
	       gpu->intervals[timeline->gpu_next].start_ns <= time_ns) {
		const struct gpu_interval *interval = &gpu->intervals[timeline->gpu_next++];

		advance(timeline, interval->start_ns);
		settle(timeline, interval->start_ns);
		if (interval->end_ns > timeline->compute_end_ns)
			timeline->compute_end_ns = interval->end_ns;
		timeline->computes = true;
	}
}

static void go_to(struct timeline *timeline, uint64_t time_ns)
{
	if (timeline->job->activities->gpu)
		take_gpu(timeline, time_ns);
	advance(timeline, time_ns);
}

static unsigned int part_of(const struct event *event)
{
	static const uint8_t parts[] = {
		[IO_READ] = PART_READ, [IO_WRITE] = PART_WRITE,	     [IO_METADATA] = PART_METADATA,
		[IO_SYNC] = PART_SYNC, [IO_MMAP_READ] = PART_FAULTS, [IO_MMAP_WRITE] = PART_FAULTS,
	};

	return event->method == METHOD_DIRECT ? PART_DIRECT : parts[event->class];
}

/* Extends a stretch or begins a new one; nothing else can change until compute or the bin does.
 * Branchless: which of the two happens is unpredictable. Returns the time to add for the previous
 * stretch. */
static inline uint64_t extend(struct stretch *stretch, const struct event *event,
			      uint64_t hidden_until_ns)
{
	bool goes_on = event->end > stretch->end_ns;
	bool begins = goes_on & (event->start > stretch->end_ns);
	uint64_t from_ns = number_max(stretch->start_ns, hidden_until_ns);
	bool ends = begins & stretch->under_way & (stretch->end_ns > from_ns);
	uint64_t ended_ns = (stretch->end_ns - from_ns) & -(uint64_t)ends;

	stretch->start_ns += (event->start - stretch->start_ns) & -(uint64_t)begins;
	stretch->end_ns = number_max(stretch->end_ns, event->end);
	stretch->under_way |= goes_on;
	return ended_ns;
}

/* Returns the bytes of a read that bypassed the page cache. */
static uint64_t direct_read_bytes(const struct event *event, uint64_t bytes)
{
	return event->class == IO_READ && event->flags & EVENT_DIRECT ? bytes : 0;
}

/* Adds operations that begin in the current bin, and page-cache fills. */
static void add_operations(struct timeline *timeline, const struct event *events, size_t count)
{
	struct bin *bin = &timeline->bins[timeline->bin];
	uint64_t hidden_ns = hidden_until(timeline);

	for (const struct event *event = events; event < events + count; event++) {
		unsigned int part;

		if (event->class == IO_NONE) {
			if (event->flags & EVENT_PAGECACHE)
				bin->fetched_bytes += event->fetched_bytes;
			continue;
		}
		bin->fetched_bytes += event->fetched_bytes;
		bin->direct_read_bytes += direct_read_bytes(event, event->bytes);
		bin->operations += event->flags & EVENT_COUNTED ? 1 : 0;
		if (!(event->flags & EVENT_TIMED))
			continue;
		part = part_of(event);
		bin->alone_ns[PART_ALL] += extend(&timeline->stretches[PART_ALL], event, hidden_ns);
		bin->alone_ns[part] += extend(&timeline->stretches[part], event, hidden_ns);
	}
	timeline->now_ns = number_max(timeline->now_ns, events[count - 1].start);
}

static void add_event(struct timeline *timeline, const struct event *event)
{
	if (event->class == IO_NONE && !(event->flags & EVENT_PAGECACHE))
		return;
	go_to(timeline, event->start);
	add_operations(timeline, event, 1);
}

/* Whether all events can be added at once: no other measured activity begins between them. */
static bool at_once(const struct timeline *timeline, const struct event *events, size_t count)
{
	return count && events[count - 1].start <= timeline->bin_end_ns &&
	       !timeline->job->activities->gpu && !timeline->job->aggregated;
}

/* Spreads aggregated operations over the time in which they began. Their time is thread time, and
 * its overlap with compute is unknown: see summed.h. */
static void add_summed(struct timeline *timeline, const struct event *event)
{
	const struct job *job = timeline->job;
	uint64_t to_ns = number_sub(event->start, job->start_ns), from_ns;
	uint64_t over_ns = event_value(event, PROFILE_OVER);
	bool timed = event->flags & EVENT_TIMED;
	size_t i;

	if (event->flags & EVENT_CLASSES ||
	    (event->class == IO_NONE && !(event->flags & EVENT_PAGECACHE)))
		return;
	from_ns = number_sub(to_ns, over_ns);
	i = number_min(from_ns / timeline->length_ns, TIMELINE_BINS - 1);
	for (bool last = false; !last; i++) {
		struct bin *bin = &timeline->bins[i];
		uint64_t begin_ns = i * timeline->length_ns,
			 end_ns = begin_ns + timeline->length_ns;

		last = end_ns > to_ns || i + 1 == TIMELINE_BINS;
		if (last)
			end_ns = UINT64_MAX;
		if (begin_ns <= from_ns)
			begin_ns = 0;
#define SPREAD(amount)                                                                             \
	(number_part(amount, from_ns, to_ns, end_ns) -                                             \
	 (begin_ns ? number_part(amount, from_ns, to_ns, begin_ns) : 0))
		bin->fetched_bytes += SPREAD(event->fetched_bytes);
		if (event->class == IO_NONE)
			continue;
		bin->direct_read_bytes += direct_read_bytes(event, SPREAD(event->bytes));
		if (event->flags & EVENT_COUNTED)
			bin->operations += SPREAD(event->summed_count);
		if (timed) {
			bin->alone_ns[PART_ALL] += SPREAD(event->summed_ns);
			bin->alone_ns[part_of(event)] += SPREAD(event->summed_ns);
		}
#undef SPREAD
	}
}

static int add_events(void *state, const struct event *events, size_t count)
{
	if (at_once(state, events, count)) {
		add_operations(state, events, count);
		return 0;
	}
	for (const struct event *event = events; event < events + count; event++)
		if (event->flags & EVENT_SUMMED)
			add_summed(state, event);
		else
			add_event(state, event);
	return 0;
}

/* Same as extend for each event in turn, if hidden time is past and the current stretch does not
 * end within the series. Returns false and does nothing otherwise. */
static bool extend_series(struct stretch *stretch, const struct event_series *series,
			  uint64_t hidden_ns, uint64_t *ended_ns)
{
	const struct interval_union *more = &series->sums.time;
	uint64_t start = series->events->start, from_ns = number_max(stretch->start_ns, hidden_ns);
	uint64_t first_ns = series->first_end - start, last_ns = more->end - series->last_start;
	bool gap = start > stretch->end_ns;

	if (hidden_ns > start || stretch->end_ns > series->first_end || !more->measure)
		return false;
	if (!gap && series->last_start == start) { /* the stretch goes on and does not end */
		stretch->under_way |= more->end > stretch->end_ns;
		stretch->end_ns = more->end;
		return true;
	}
	if (!gap) {
		stretch->under_way |= series->first_end > stretch->end_ns;
		stretch->end_ns = series->first_end;
	}
	if (stretch->under_way && stretch->end_ns > from_ns)
		*ended_ns += stretch->end_ns - from_ns;
	*ended_ns += more->measure - last_ns - (gap ? 0 : first_ns);
	*stretch = (struct stretch) { series->last_start, more->end, true };
	return true;
}

/* Adds the series to one part. */
static void add_part(struct timeline *timeline, unsigned int part,
		     const struct event_series *series)
{
	struct stretch *stretch = &timeline->stretches[part];
	uint64_t hidden_ns = hidden_until(timeline), ended_ns = 0;

	if (!extend_series(stretch, series, hidden_ns, &ended_ns))
		for (size_t i = 0; i < series->count; i++)
			ended_ns += extend(stretch, &series->events[i], hidden_ns);
	timeline->bins[timeline->bin].alone_ns[part] += ended_ns;
}

static int add_series(void *state, const struct event_series *series)
{
	struct timeline *timeline = state;
	const struct event *event = series->events;

	if (!at_once(timeline, event, series->count))
		return add_events(state, event, series->count);
	timeline->bins[timeline->bin].fetched_bytes += series->sums.fetched_bytes;
	timeline->bins[timeline->bin].direct_read_bytes +=
		direct_read_bytes(event, series->sums.bytes);
	timeline->bins[timeline->bin].operations += series->sums.count;
	if (event->flags & EVENT_TIMED) {
		add_part(timeline, PART_ALL, series);
		add_part(timeline, part_of(event), series);
	}
	timeline->now_ns = number_max(timeline->now_ns, event[series->count - 1].start);
	return 0;
}

static bool computes(const struct timeline *timeline, const struct span *span)
{
	return timeline->job->labels.labels[span->label].meaning == CATEGORY_COMPUTE;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct timeline *timeline = state;
	const struct span *span = &timeline->job->spans.slots[slot];

	if (!computes(timeline, span))
		return 0;
	go_to(timeline, span->begin_ns);
	settle(timeline, timeline->now_ns);
	timeline->compute_open++;
	timeline->computes = true;
	return 0;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct timeline *timeline = state;
	const struct span *span = &timeline->job->spans.slots[slot];

	if (!computes(timeline, span))
		return 0;
	go_to(timeline, span->end_ns);
	settle(timeline, timeline->now_ns);
	timeline->compute_open--;
	return 0;
}

/* --- the table --- */

#define BIN(member) TABLE_UINT(struct bin, member)

static const struct table_column columns[TIMELINE_COLUMNS] = {
	[TIMELINE_START] = COLUMN(bin, start_ns, "start", NS, MOMENT,
				  "start of the interval, since the start of the run"),
	[TIMELINE_LENGTH] = COLUMN(bin, length_ns, "length", NS, DURATION,
				   "length of the interval; the last one may be shorter"),
	[TIMELINE_COMPUTE] = COLUMN(bin, compute_ns, "compute", NS, COVERED,
				    "time covered by compute (compute spans and GPU activity); "
				    "null if no compute is marked"),
	[TIMELINE_IO] = { "io_ns", "I/O", UNIT_NS, KIND_UNION, "I/O time outside compute",
			  BIN(alone_ns[PART_ALL]), JOB_IO },
	[TIMELINE_READ] = { "read_ns", "read", UNIT_NS, KIND_UNION,
			    "time in read calls outside compute, O_DIRECT excluded",
			    BIN(alone_ns[PART_READ]), JOB_MOVED },
	[TIMELINE_DIRECT] = { "direct_ns", "O_DIRECT", UNIT_NS, KIND_UNION,
			      "time in O_DIRECT reads and writes outside compute",
			      BIN(alone_ns[PART_DIRECT]), JOB_MOVED },
	[TIMELINE_FAULTS] = { "mmap_ns", "faults", UNIT_NS, KIND_UNION,
			      "time in page faults on mapped files outside compute",
			      BIN(alone_ns[PART_FAULTS]), JOB_FAULT },
	[TIMELINE_WRITE] = { "write_ns", "write", UNIT_NS, KIND_UNION,
			     "time in write calls outside compute, O_DIRECT excluded",
			     BIN(alone_ns[PART_WRITE]), JOB_MOVED },
	[TIMELINE_METADATA] = { "metadata_ns", "metadata", UNIT_NS, KIND_UNION,
				"time in metadata calls outside compute",
				BIN(alone_ns[PART_METADATA]), JOB_SYSCALL },
	[TIMELINE_SYNC] = { "sync_ns", "sync", UNIT_NS, KIND_UNION,
			    "time in fsync and similar calls outside compute",
			    BIN(alone_ns[PART_SYNC]), JOB_MOVED },
	[TIMELINE_FETCHED] = COLUMN(
		bin, fetched_bytes, "from storage", BYTES, SUM,
		"bytes read from storage into the page cache, readahead included", JOB_PAGECACHE),
	[TIMELINE_DIRECT_READ] =
		COLUMN(bin, direct_read_bytes, "read with O_DIRECT", BYTES, SUM,
		       "bytes read with O_DIRECT, from storage past the page cache", JOB_MOVED),
	[TIMELINE_OPERATIONS] = COLUMN(bin, operations, "operations", COUNT, SUM,
				       "operations that began in the interval", JOB_IO),
};

static void fill(void *state, struct table *table)
{
	struct timeline *timeline = state;
	const struct job *job = timeline->job;
	uint64_t start_ns = 0, duration = number_sub(job->end_ns, job->start_ns);

	table_add_columns(table, columns, TIMELINE_COLUMNS);
	table->recorded = job->layers;
	go_to(timeline, job->end_ns);
	settle(timeline, timeline->now_ns);
	for (size_t i = 0; i < TIMELINE_BINS && start_ns < duration; i++) {
		struct bin *bin = &timeline->bins[i];

		bin->start_ns = start_ns;
		bin->length_ns = number_min(timeline->length_ns, duration - start_ns);
		if (!timeline->computes)
			bin->compute_ns = TABLE_NO_UINT;
		table_add(table, bin);
		start_ns += timeline->length_ns;
	}
	if (job->lost)
		table_set_note(table, "excludes lost events");
}

const struct analysis analysis_timeline = {
	.name = "timeline",
	.meaning = "the run over time, in up to 240 intervals of equal length",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct timeline),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .sums = true,
		      .events = add_events,
		      .series = add_series,
		      .span_begun = span_begun,
		      .span_ended = span_ended },
	.fill = fill,
	.merging = { .alone = true, .fixed = columns, .fixed_count = TIMELINE_COLUMNS },
};
