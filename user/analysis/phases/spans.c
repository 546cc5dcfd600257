/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "spans": count and duration of the application's spans by name, and their I/O. Excludes
 * lost events.
 *
 * An operation counts for one span, the innermost, so that sums over rows never count it twice.
 * Separate columns named "inclusive" include nested spans: there, an operation counts once for each
 * name of the spans around it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/devices/chain.h"
#include "collections/compare.h"
#include "collections/histogram.h"
#include "collections/interval.h"
#include "analysis/events/method_side.h"
#include "analysis/phases/spans.h"
#include "base/number.h"
#include "base/units.h"
#include "base/strbuf.h"

#define DEPTH_MAX 64 /* maximum number of enclosing spans with inclusive sums */

enum moved { MOVED_READ, MOVED_WRITE, MOVED_MAPPED, MOVED_NONE, MOVED_KINDS };

/* I/O time and bytes of spans. */
struct amounts {
	uint64_t io_ns; /* sum of one union per span */
	uint64_t bytes[MOVED_KINDS];
};

struct span_use {
	struct histogram *durations; /* allocated when first needed */
	uint64_t unfinished, instants;
	uint64_t time_ns, union_ns;
	uint64_t open, since_ns; /* for union_ns: open spans, and since when */
	struct amounts own, inclusive;
	uint64_t operations, faults, major, inherited, thread_ns;
	uint64_t methods[METHOD_COUNT][SIDES];
};

/* An open span. */
struct use_of_slot {
	struct interval_union own, inclusive;
	bool nested; /* within a span of the same name, which has the inclusive sums */
};

struct spans {
	const struct job *job;
	struct arena *arena;
	struct span_use *uses; /* by label */
	struct use_of_slot *slots;
	size_t slot_room;
	/* Operations outside spans. */
	uint64_t outside_operations, outside_bytes[MOVED_KINDS];
};

/* --- during the walk --- */

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct spans *spans = state;

	spans->job = job;
	spans->arena = arena;
	spans->uses = arena_alloc(arena, (LABELS_MAX + CATEGORY_COUNT) * sizeof(*spans->uses));
}

static bool is_nested(const struct open_spans *open, uint32_t slot)
{
	uint32_t label = open->slots[slot].label;

	for (int i = 0; i < DEPTH_MAX; i++) {
		slot = open_spans_parent(open, slot);
		if (slot == SPAN_NONE)
			break;
		if (open->slots[slot].label == label)
			return true;
	}
	return false;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct spans *spans = state;
	const struct open_spans *open = &spans->job->spans;
	const struct span *span = &open->slots[slot];
	struct span_use *use = &spans->uses[span->label];

	if (!ARENA_GROW(spans->arena, spans->slots, spans->slot_room, open->room))
		return -ENOMEM;
	spans->slots[slot] = (struct use_of_slot) { .nested = is_nested(open, slot) };
	if (!use->open++)
		use->since_ns = span->begin_ns;
	if (!use->durations)
		use->durations = arena_alloc(spans->arena, sizeof(*use->durations));
	return use->durations ? 0 : -ENOMEM;
}

/* Returns the union's measure up to `time_ns`, which must be after the newest start: beyond that it
 * is one stretch. */
static uint64_t measure_until(const struct interval_union *whole, uint64_t time_ns)
{
	return whole->measure - number_sub(whole->end, time_ns);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct spans *spans = state;
	const struct span *span = &spans->job->spans.slots[slot];
	const struct use_of_slot *here = &spans->slots[slot];
	struct span_use *use = &spans->uses[span->label];
	uint64_t duration = number_sub(span->end_ns, span->begin_ns);

	histogram_add(use->durations, duration);
	use->time_ns += duration;
	use->unfinished += span->unfinished;
	use->own.io_ns += measure_until(&here->own, span->end_ns);
	if (!here->nested)
		use->inclusive.io_ns += measure_until(&here->inclusive, span->end_ns);
	if (!--use->open)
		use->union_ns += number_sub(span->end_ns, use->since_ns);
	return 0;
}

/* How the bytes of each class count. */
static const uint8_t moved_as[] = {
	[IO_READ] = MOVED_READ, [IO_WRITE] = MOVED_WRITE,      [IO_METADATA] = MOVED_NONE,
	[IO_SYNC] = MOVED_NONE, [IO_MMAP_READ] = MOVED_MAPPED, [IO_MMAP_WRITE] = MOVED_MAPPED,
};
_Static_assert(sizeof(moved_as) == IO_CLASS_COUNT, "each class counts as something");

/* The bytes that count for an event. */
static inline uint64_t bytes_of(const struct event *event)
{
	uint64_t mapped =
		-(uint64_t)(moved_as[event->class] == MOVED_MAPPED); /* all bits or none */

	return event->bytes ^ ((event->bytes ^ event->fetched_bytes) & mapped);
}

/* Nearly branchless: the next kind of operation is unpredictable. */
static inline void add_operation(struct span_use *use, const struct event *event)
{
	uint64_t timed = -(uint64_t) !!(event->flags & EVENT_TIMED), bytes = bytes_of(event);

	use->operations += !!(event->flags & EVENT_COUNTED);
	use->faults += !!(event->flags & EVENT_FAULT);
	use->major += event->major;
	use->thread_ns += (event->end - event->start) & timed;
	if (event->method < METHOD_COUNT)
		use->methods[event->method][event->class == IO_WRITE] += bytes;
	use->own.bytes[moved_as[event->class]] += bytes;
}

static void add_inclusive(struct spans *spans, uint32_t slot, const struct event *event)
{
	for (int i = 0; i < DEPTH_MAX && slot != SPAN_NONE; i++) {
		if (!spans->slots[slot].nested) {
			uint32_t label = spans->job->spans.slots[slot].label;

			spans->uses[label].inclusive.bytes[moved_as[event->class]] +=
				bytes_of(event);
			if (event->flags & EVENT_TIMED)
				interval_add(&spans->slots[slot].inclusive, event->start,
					     event->end);
		}
		slot = open_spans_parent(&spans->job->spans, slot);
	}
}

static void add_outside(struct spans *spans, const struct event *event)
{
	spans->outside_operations += !!(event->flags & EVENT_COUNTED);
	spans->outside_bytes[moved_as[event->class]] += bytes_of(event);
}

static void add_event(struct spans *spans, const struct event *event)
{
	const struct open_spans *open = &spans->job->spans;
	struct span_use *use;
	bool inherited;
	uint32_t slot = open_spans_find(open, &spans->job->processes, event->process, event->thread,
					&inherited);

	if (slot == SPAN_NONE) {
		add_outside(spans, event);
		return;
	}
	use = &spans->uses[open->slots[slot].label];
	use->inherited += inherited && event->flags & EVENT_COUNTED;
	if (event->flags & EVENT_TIMED)
		interval_add(&spans->slots[slot].own, event->start, event->end);
	add_inclusive(spans, slot, event);
	add_operation(use, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct spans *spans = state;
	bool outside = !spans->job->spans.open; /* for the whole batch */

	for (const struct event *event = events; event < events + count; event++) {
		if (event->class == IO_NONE) {
			if (event->flags & EVENT_INSTANT)
				spans->uses[event->label].instants++;
		} else if (outside) {
			add_outside(spans, event);
		} else {
			add_event(spans, event);
		}
	}
	return 0;
}

static int add_series(void *state, const struct event_series *series)
{
	struct spans *spans = state;
	unsigned int moved = moved_as[series->events->class];

	if (spans->job->spans.open)
		return add_events(state, series->events, series->count);
	spans->outside_operations += series->sums.count;
	spans->outside_bytes[moved] +=
		moved == MOVED_MAPPED ? series->sums.fetched_bytes : series->sums.bytes;
	return 0;
}

/* --- the table --- */

/* A label's spans as the columns see them. */
struct span_row {
	struct table_text name, category;
	uint64_t count, max_ns;
	const struct histogram *durations; /* NULL: none */
	struct span_use use;
	struct chain_line waiting;
};

static const struct table_column columns[] = {
	COLUMN(span_row, name, "name", NONE, KEY, "name of the spans"),
	COLUMN(span_row, category, "category", NONE, KEY, "category of the spans"),
	COLUMN(span_row, count, "count", COUNT, SUM, "number of spans", 0, STRETCH(COUNT)),
#define NUMBER(name, title, unit, kind, meaning, member, ...)                                      \
	{                                                                                          \
		name, title, UNIT_##unit, KIND_##kind, meaning,                                    \
			TABLE_UINT(struct span_row, use.member), __VA_ARGS__                       \
	}
	NUMBER("unfinished", "unfinished", COUNT, SUM,
	       "spans that ended only with their process or the trace", unfinished, 0),
	NUMBER("instants", NULL, COUNT, SUM, "instant events of that name", instants, 0),
	NUMBER("time_ns", "time", NS, THREAD, "sum of the durations of the spans", time_ns, 0,
	       STRETCH(THREAD_TIME)),
	NUMBER("union_ns", NULL, NS, COVERED, "time with at least one of the spans open", union_ns,
	       0),
	NUMBER("io_time_ns", "I/O", NS, THREAD,
	       "I/O time of operations whose innermost span is one of these: per span the union, "
	       "clipped to it, then summed over spans",
	       own.io_ns, JOB_EVENTS),
	NUMBER("io_thread_time_ns", NULL, NS, THREAD,
	       "time of operations whose innermost span is one of these, summed over threads",
	       thread_ns, JOB_EVENTS),
	NUMBER("operations", NULL, COUNT, SUM, "operations whose innermost span is one of these",
	       operations, JOB_EVENTS),
	NUMBER("read_bytes", "read", BYTES, SUM,
	       "bytes read by calls whose innermost span is one of these", own.bytes[MOVED_READ],
	       JOB_MOVED | JOB_EVENTS),
	NUMBER("write_bytes", "written", BYTES, SUM,
	       "bytes written by calls whose innermost span is one of these",
	       own.bytes[MOVED_WRITE], JOB_MOVED | JOB_EVENTS),
	NUMBER("mmap_fetched_bytes", "mmap from storage", BYTES, SUM,
	       "bytes read from storage into the page cache by page faults whose innermost span is "
	       "one of these",
	       own.bytes[MOVED_MAPPED], JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS),
	NUMBER("faults", "faults", COUNT, SUM,
	       "page faults on files, with one of these as the innermost span", faults,
	       JOB_FAULT | JOB_EVENTS),
	NUMBER("major", "major", COUNT, SUM, "page faults among them that read from storage", major,
	       JOB_FAULT | JOB_EVENTS),
	NUMBER("inherited", "by workers", COUNT, SUM,
	       "operations of child processes without open spans of their own, started by a "
	       "process with the span open",
	       inherited, JOB_EVENTS),
	NUMBER("inclusive.io_time_ns", "I/O, inclusive", NS, THREAD,
	       "I/O time, nested spans included: per span the union, clipped to it, then summed "
	       "over spans",
	       inclusive.io_ns, JOB_EVENTS),
	NUMBER("inclusive.read_bytes", "read, inclusive", BYTES, SUM,
	       "bytes read by calls, nested spans included", inclusive.bytes[MOVED_READ],
	       JOB_MOVED | JOB_EVENTS),
	NUMBER("inclusive.write_bytes", NULL, BYTES, SUM,
	       "bytes written by calls, nested spans included", inclusive.bytes[MOVED_WRITE],
	       JOB_MOVED | JOB_EVENTS),
	NUMBER("inclusive.mmap_fetched_bytes", "mmap from storage, inclusive", BYTES, SUM,
	       "bytes read from storage into the page cache by page faults, nested spans included",
	       inclusive.bytes[MOVED_MAPPED], JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS),
	NUMBER("methods.syscall.read_bytes", NULL, BYTES, SUM, "bytes read by method syscall",
	       methods[METHOD_SYSCALL][SIDE_READ], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.syscall.write_bytes", NULL, BYTES, SUM, "bytes written by method syscall",
	       methods[METHOD_SYSCALL][SIDE_WRITE], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.direct.read_bytes", NULL, BYTES, SUM, "bytes read by method direct",
	       methods[METHOD_DIRECT][SIDE_READ], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.direct.write_bytes", NULL, BYTES, SUM, "bytes written by method direct",
	       methods[METHOD_DIRECT][SIDE_WRITE], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.io_uring.read_bytes", NULL, BYTES, SUM, "bytes read by method io_uring",
	       methods[METHOD_URING][SIDE_READ], JOB_ASYNC | JOB_EVENTS),
	NUMBER("methods.io_uring.write_bytes", NULL, BYTES, SUM, "bytes written by method io_uring",
	       methods[METHOD_URING][SIDE_WRITE], JOB_ASYNC | JOB_EVENTS),
	NUMBER("methods.libaio.read_bytes", NULL, BYTES, SUM, "bytes read by method libaio",
	       methods[METHOD_LIBAIO][SIDE_READ], JOB_ASYNC | JOB_EVENTS),
	NUMBER("methods.libaio.write_bytes", NULL, BYTES, SUM, "bytes written by method libaio",
	       methods[METHOD_LIBAIO][SIDE_WRITE], JOB_ASYNC | JOB_EVENTS),
	NUMBER("methods.splice.read_bytes", NULL, BYTES, SUM, "bytes read by method splice",
	       methods[METHOD_SPLICE][SIDE_READ], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.splice.write_bytes", NULL, BYTES, SUM, "bytes written by method splice",
	       methods[METHOD_SPLICE][SIDE_WRITE], JOB_MOVED | JOB_EVENTS),
	NUMBER("methods.kernel.read_bytes", NULL, BYTES, SUM, "bytes read by method kernel",
	       methods[METHOD_KERNEL][SIDE_READ], JOB_VFS | JOB_EVENTS),
	NUMBER("methods.kernel.write_bytes", NULL, BYTES, SUM, "bytes written by method kernel",
	       methods[METHOD_KERNEL][SIDE_WRITE], JOB_VFS | JOB_EVENTS),
	NUMBER("methods.mmap.fetched_bytes", NULL, BYTES, SUM,
	       "bytes read from storage by method mmap", methods[METHOD_MMAP][SIDE_READ],
	       JOB_FAULT | JOB_PAGECACHE | JOB_EVENTS),
#undef NUMBER
	{ "p50_ns", "p50", UNIT_NS, KIND_PERCENTILE, "median duration of a span",
	  TABLE_P50(struct span_row, durations), 0 },
	{ "p99_ns", "p99", UNIT_NS, KIND_PERCENTILE, "99th percentile of the duration",
	  TABLE_P99(struct span_row, durations), 0 },
	COLUMN(span_row, max_ns, "max", NS, MAX, "longest duration of a span"),
};

static void add_row(struct table *table, const struct results *results, uint32_t number)
{
	const struct spans *spans = results_state(results, &analysis_spans);
	size_t count;
	const struct chain_time *waiting = chain_of_labels(results, &count);
	const struct label *label = &spans->job->labels.labels[number];
	const struct histogram *durations = spans->uses[number].durations;
	struct span_row view = {
		.name = { label->name.bytes, label->name.length },
		.category = { label->category.bytes, label->category.length },
		.count = durations ? durations->count : 0,
		.use = spans->uses[number],
		.durations = durations,
		.max_ns = durations ? histogram_percentile(durations, 100) : TABLE_NO_UINT,
	};

	if (number < count)
		view.waiting = chain_line(&waiting[number], chain_queue_unknown(results));
	table_add(table, &view);
}

/* A row of the table, with its sort key. */
struct spans_row {
	uint64_t time_ns;
	uint32_t label;
};

COMPARE_BY(compare_lines, struct spans_row,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->label, b->label))

static void set_note(struct table *table, const struct spans *spans)
{
	const struct job *job = spans->job;
	char count[UNITS_TEXT], read[UNITS_TEXT], written[UNITS_TEXT], mapped[UNITS_TEXT];
	struct strbuf note = { .used = 0 };

	if (spans->outside_operations && !job->aggregated)
		strbuf_clause(
			&note,
			"outside spans: %s %s, %s read, %s written, %s from storage by faults",
			units_count(count, spans->outside_operations),
			spans->outside_operations == 1 ? "operation" : "operations",
			units_bytes(read, spans->outside_bytes[MOVED_READ]),
			units_bytes(written, spans->outside_bytes[MOVED_WRITE]),
			units_bytes(mapped, spans->outside_bytes[MOVED_MAPPED]));
	if (job->spans.unmatched_ends)
		strbuf_clause(&note, "%s span ends without a matching start",
			      units_count(count, job->spans.unmatched_ends));
	if (job->spans.refused)
		strbuf_clause(&note, "%s spans are missing: too many were open at once",
			      units_count(count, job->spans.refused));
	if (job->labels.count > LABELS_MAX)
		strbuf_clause(&note, "names beyond the first %d are grouped in " LABELS_OTHERS,
			      LABELS_MAX);
	if (job->lost)
		strbuf_clause(&note, "excludes lost events");
	if (note.used)
		table_set_note(table, note.bytes);
}

/* Must run after the waits of operations are known. */
static void conclude(const struct results *results, struct table *table)
{
	const struct spans *spans = results_state(results, &analysis_spans);
	size_t count = spans->job->labels.count;
	struct spans_row *lines;

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = spans->job->layers;
	chain_add_group(table, offsetof(struct span_row, waiting));
	if (table_absent_if(table, !count && !(spans->job->layers & JOB_SPAN),
			    "application spans were not recorded"))
		return;
	if (!count)
		return;
	lines = arena_alloc(spans->arena, count * sizeof(*lines));
	if (!lines)
		return;
	for (size_t i = 0; i < count; i++)
		lines[i] = (struct spans_row) { spans->uses[i].time_ns, i };
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		add_row(table, results, lines[i].label);
	set_note(table, spans);
}

uint64_t spans_of_label(const struct results *results, uint32_t label, uint64_t *time_ns)
{
	const struct spans *spans = results_state(results, &analysis_spans);
	const struct span_use *use = &spans->uses[label];

	*time_ns = use->time_ns;
	return use->durations ? use->durations->count : 0;
}

const struct analysis analysis_spans = {
	.name = "spans",
	.meaning = "application spans by name, with their I/O; null without layer span",
	.title = "Spans",
	.shown = "name,category,count,time_ns,io_time_ns,read_bytes,mmap_fetched_bytes,"
		 "write_bytes,faults,p50_ns,p99_ns,max_ns,unfinished",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct spans),
	.begin = begin,
	.aggregated_ok = true, /* but without their I/O */
	.consumer.events = add_events,
	.consumer.series = add_series,
	.consumer.span_begun = span_begun,
	.consumer.span_ended = span_ended,
	.conclude = conclude,
	.merging = { .sorted = "-time_ns", .many = "span names", .label = "name" },
};
