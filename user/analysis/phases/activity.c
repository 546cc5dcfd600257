/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Measures activity time and its overlap with compute. */
#include "analysis/phases/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define GENERATIONS_MAX 64

/* --- one union and its overlap with compute --- */

/* When the activity ends, as far as is known now. */
static uint64_t until(const struct activity *activity)
{
	return activity->open ? UINT64_MAX : activity->end_ns;
}

static uint64_t compute_until(const struct activity_group *group)
{
	return until(&group->of[ACTIVITY_COMPUTE]);
}

/* Time of the activity, and its overlap with compute, between its `now_ns` and `time_ns`. */
static struct activity_sum ahead(const struct activity *activity, uint64_t compute,
				 uint64_t time_ns)
{
	uint64_t reached = number_min(until(activity), time_ns);

	return (struct activity_sum) { number_sub(reached, activity->now_ns),
				       number_sub(number_min(reached, compute), activity->now_ns) };
}

static void advance(struct activity *activity, uint64_t compute, uint64_t time_ns)
{
	struct activity_sum more = ahead(activity, compute, time_ns);

	activity->time_ns += more.time_ns;
	activity->hidden_ns += more.hidden_ns;
	if (time_ns > activity->now_ns)
		activity->now_ns = time_ns;
}

static const enum activity_of waits[ACTIVITY_WAITS] = {
	[ACTIVITY_WAITS_DATA] = ACTIVITY_DATA,
	[ACTIVITY_WAITS_CHECKPOINT] = ACTIVITY_CHECKPOINT,
};

enum activity_wait_of activity_wait_of(enum activity_of activity)
{
	int wait = 0;

	while (wait < ACTIVITY_WAITS && waits[wait] != activity)
		wait++;
	return wait;
}

/*
 * Adds the I/O during each open wait. From the last update on, I/O and compute are one stretch
 * each, so what counts runs from the end of compute to the end of I/O. Must run before I/O or
 * compute starts again, and before the wait begins or ends.
 */
static void advance_waits(struct activity_group *group, uint64_t time_ns)
{
	uint64_t io = number_min(until(&group->of[ACTIVITY_IO]), time_ns);
	uint64_t compute = compute_until(group);

	for (int i = 0; i < ACTIVITY_WAITS; i++) {
		struct activity_wait *wait = &group->waits[i];

		if (group->of[waits[i]].open)
			wait->io_ns += number_sub(io, number_max(compute, wait->now_ns));
		if (time_ns > wait->now_ns)
			wait->now_ns = time_ns;
	}
}

/* Must run before compute begins or ends: all activities need the previous state of compute. */
static void advance_all(struct activity_group *group, uint64_t time_ns)
{
	uint64_t compute = compute_until(group);

	advance_waits(group, time_ns);
	for (int i = 0; i < ACTIVITIES; i++)
		advance(&group->of[i], compute, time_ns);
}

static void add_interval(struct activity_group *group, enum activity_of which, uint64_t start_ns,
			 uint64_t end_ns)
{
	struct activity *activity = &group->of[which];

	/* Gapless activity is measured when it ends, when compute changes or when it is queried. */
	if (start_ns > activity->end_ns && !activity->open) {
		if (which == ACTIVITY_IO)
			advance_waits(group, start_ns);
		advance(activity, compute_until(group), start_ns);
	}
	if (!activity->start_ns)
		activity->start_ns = start_ns;
	if (end_ns > activity->end_ns)
		activity->end_ns = end_ns;
}

/* Must run before an activity's first span begins or its last one ends. */
static void advance_activity(struct activity_group *group, enum activity_of which, uint64_t time_ns)
{
	if (which == ACTIVITY_COMPUTE) {
		advance_all(group, time_ns);
		return;
	}
	if (activity_wait_of(which) != ACTIVITY_WAITS)
		advance_waits(group, time_ns);
	advance(&group->of[which], compute_until(group), time_ns);
}

static void begin_span(struct activity_group *group, enum activity_of which, uint64_t time_ns)
{
	struct activity *activity = &group->of[which];

	if (!activity->open)
		advance_activity(group, which, time_ns);
	if (!activity->start_ns)
		activity->start_ns = time_ns;
	activity->open++;
	activity->count++;
}

static void end_span(struct activity_group *group, enum activity_of which, uint64_t time_ns)
{
	struct activity *activity = &group->of[which];

	if (activity->open == 1)
		advance_activity(group, which, time_ns);
	activity->open--;
	if (time_ns > activity->end_ns)
		activity->end_ns = time_ns;
}

/* --- groups --- */

static int add_group(struct activities *all, int64_t rank)
{
	if (!ARENA_GROW(all->arena, all->groups, all->group_room, all->group_count + 1))
		return -ENOMEM;
	all->groups[all->group_count++] = (struct activity_group) { .rank = rank };
	return 0;
}

static int group_of_rank(struct activities *all, int64_t rank, uint32_t *group)
{
	const uint64_t key = rank, *known = map_find(&all->ranks, &key);
	uint64_t *added;
	bool is_new;

	*group = ACTIVITY_JOB;
	if (known) {
		*group = *known;
		return 0;
	}
	if (rank < 0 || all->group_count > ACTIVITY_RANKS_MAX)
		return 0;
	added = map_add(&all->ranks, &key, &is_new);
	if (!added || add_group(all, rank))
		return -ENOMEM;
	*added = *group = all->group_count - 1;
	return 0;
}

/* The job's process table grows during the walk. */
static int follow_processes(struct activities *all)
{
	const struct process_table *table = &all->job->processes;
	size_t before = all->process_room, speak_room = before, worker_room = before;
	int status = 0;

	if (table->count <= before)
		return 0;
	if (!ARENA_GROW(all->arena, all->speaks, speak_room, table->count) ||
	    !ARENA_GROW(all->arena, all->workers, worker_room, table->count) ||
	    !ARENA_GROW(all->arena, all->group_of, all->process_room, table->count))
		return -ENOMEM;
	/* Processes added later have no rank: ranks come only with forks and execs. */
	for (size_t i = before; i < all->process_room && !status; i++) {
		all->group_of[i] = ACTIVITY_JOB;
		if (i < table->count)
			status = group_of_rank(all, table->processes[i].rank, &all->group_of[i]);
	}
	return status;
}

/* Returns the group of a rank found in the traces; a GPU file without a rank belongs to the only
 * rank. */
static uint32_t gpu_group(const struct activities *all, int64_t rank)
{
	const uint64_t key = rank, *known = map_find(&all->ranks, &key);

	if (known)
		return *known;
	return rank < 0 && all->group_count == 2 ? 1 : ACTIVITY_JOB;
}

void activities_init(struct activities *all, const struct job *job, struct arena *arena,
		     const struct gpu *gpu)
{
	*all = (struct activities) { .job = job, .arena = arena, .gpu = gpu, .wanted = gpu };
	map_init_in(&all->ranks, arena, 1, 1);
	for (size_t i = 0; i < job->trace_count && !all->wanted; i++) {
		const struct trace_reader *reader = job->traces[i].reader;
		size_t blocks = trace_reader_block_count(reader);

		for (size_t j = 0; j < blocks && !all->wanted; j++)
			all->wanted = trace_reader_block_info(reader, j)->kind == TRACE_SPAN_BEGIN;
	}
	all->kinds_of_labels = arena_alloc(arena, 2 * (LABELS_MAX + CATEGORY_COUNT) *
							  sizeof(*all->kinds_of_labels));
	if (add_group(all, -1) || (all->wanted && follow_processes(all)) || !gpu)
		return;
	all->gpu_group = gpu_group(all, gpu->rank);
	all->groups[ACTIVITY_JOB].of[ACTIVITY_COMPUTE].count = gpu->kernels;
	all->groups[all->gpu_group].of[ACTIVITY_COMPUTE].count = gpu->kernels;
}

void activities_begin_again(void *state, const struct job *job, struct arena *arena)
{
	activities_init(state, job, arena, job->activities->gpu);
}

uint32_t activities_group(const struct activities *all, uint32_t process)
{
	return process < all->process_room ? all->group_of[process] : ACTIVITY_JOB;
}

/* --- during the walk --- */

static void take_intervals(struct activities *all, uint64_t time_ns)
{
	const uint32_t groups[] = { ACTIVITY_JOB, all->gpu_group };

	for (; all->gpu_next < all->gpu->count; all->gpu_next++) {
		const struct gpu_interval *interval = &all->gpu->intervals[all->gpu_next];

		if (interval->start_ns > time_ns)
			break;
		for (int i = 0; i < (all->gpu_group ? 2 : 1); i++) {
			struct activity_group *group = &all->groups[groups[i]];

			advance_all(group, interval->start_ns);
			add_interval(group, ACTIVITY_COMPUTE, interval->start_ns, interval->end_ns);
		}
	}
}

/* Adds the GPU intervals that started up to `time_ns`. */
static inline void take_gpu(struct activities *all, uint64_t time_ns)
{
	if (all->gpu)
		take_intervals(all, time_ns);
}

enum activity_of activity_of_event(const struct event *event)
{
	if (event->flags & EVENT_FAULT)
		return ACTIVITY_FAULT;
	if (!event->bytes)
		return ACTIVITY_OTHER;
	return event->bytes > ACTIVITY_SMALL_BYTES ? ACTIVITY_LARGE : ACTIVITY_SMALL;
}

static void add_event(struct activity_group *group, const struct event *event)
{
	const enum activity_of which[] = { ACTIVITY_IO, ACTIVITY_CLASS + event->class,
					   activity_of_event(event) };
	bool mapped = event->class == IO_MMAP_READ || event->class == IO_MMAP_WRITE;

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		struct activity *activity = &group->of[which[i]];

		if (event->flags & EVENT_TIMED)
			add_interval(group, which[i], event->start, event->end);
		activity->count += event->flags & EVENT_COUNTED ? 1 : 0;
		activity->bytes += mapped ? event->fetched_bytes : event->bytes;
		activity->fetched_bytes += event->fetched_bytes;
	}
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct activities *all = state;
	int status = all->wanted ? follow_processes(all) : 0;

	if (!all->wanted || status)
		return status;
	for (const struct event *event = events; event < events + count; event++) {
		uint32_t group = all->group_of[event->process];

		if (event->class == IO_NONE)
			continue;
		take_gpu(all, event->start);
		add_event(&all->groups[ACTIVITY_JOB], event);
		if (group != ACTIVITY_JOB)
			add_event(&all->groups[group], event);
	}
	return 0;
}

/* Whether one of the process's ancestors has begun a span. */
static bool is_worker(const struct activities *all, uint32_t process)
{
	const struct process *processes = all->job->processes.processes;

	for (int i = 0; i < GENERATIONS_MAX && processes[process].parent != PROCESS_NONE; i++) {
		process = processes[process].parent;
		if (all->speaks[process])
			return true;
	}
	return false;
}

#define BIT(activity) (1u << (activity))

/* By category: in any process, plus in non-workers, plus in workers. */
static const struct {
	uint32_t anywhere, outside, worker;
} kinds_of[CATEGORY_COUNT] = {
	[CATEGORY_COMPUTE] = { BIT(ACTIVITY_COMPUTE), 0, 0 },
	[CATEGORY_IO] = { BIT(ACTIVITY_APP_IO), 0, 0 },
	[CATEGORY_DATA] = { BIT(ACTIVITY_APP_IO), BIT(ACTIVITY_DATA), BIT(ACTIVITY_WORKER) },
	[CATEGORY_DATALOADER] = { BIT(ACTIVITY_APP_IO), BIT(ACTIVITY_DATA), BIT(ACTIVITY_WORKER) },
	[CATEGORY_PREPROCESS] = { BIT(ACTIVITY_PREPROCESS), 0, BIT(ACTIVITY_WORKER) },
	[CATEGORY_CHECKPOINT] = { BIT(ACTIVITY_APP_IO) | BIT(ACTIVITY_CHECKPOINT), 0, 0 },
};

/* For data spans, by substring of the name. */
static const struct {
	const char *part;
	enum activity_of activity;
} kinds_of_names[] = {
	{ "preprocess", ACTIVITY_PREPROCESS },
	{ "collate", ACTIVITY_PREPROCESS },
	{ "transform", ACTIVITY_PREPROCESS },
	{ "item", ACTIVITY_ITEM },
};

/* Returns the activities of spans with this label; a mask. */
static uint32_t find_kinds(const struct label *label, bool worker)
{
	enum category meaning = label->meaning;
	uint32_t kinds = kinds_of[meaning].anywhere;
	size_t length;

	/* A loop over data: the loop body is not a wait for data. */
	if ((meaning == CATEGORY_DATA || meaning == CATEGORY_DATALOADER) &&
	    label_is_loop_body(label, &length))
		return 0;
	kinds |= worker ? kinds_of[meaning].worker : kinds_of[meaning].outside;
	if (meaning != CATEGORY_DATA && meaning != CATEGORY_DATALOADER)
		return kinds;
	for (size_t i = 0; i < sizeof(kinds_of_names) / sizeof(kinds_of_names[0]); i++)
		if (label_has(label, kinds_of_names[i].part))
			kinds |= BIT(kinds_of_names[i].activity);
	return kinds;
}

#define KINDS_KNOWN BIT(31)
/* Of open spans: named "item"; one nested span has already replaced it. */
#define ITEM_NAMED BIT(30)
#define ITEM_PARTED BIT(29)
#define KINDS_ALL (BIT(ACTIVITIES) - 1)
_Static_assert(ACTIVITIES < 29, "three bits are free");

/* Caches find_kinds per label. */
static uint32_t kinds_of_label(struct activities *all, uint32_t label, bool worker)
{
	uint32_t *known = &all->kinds_of_labels[2 * label + worker];

	if (!*known)
		*known = find_kinds(&all->job->labels.labels[label], worker) | KINDS_KNOWN;
	return *known & ~KINDS_KNOWN;
}

static int follow_spans(struct activities *all)
{
	return ARENA_GROW(all->arena, all->kinds, all->span_room, all->job->spans.room) ? 0
											: -ENOMEM;
}

/*
 * An item may be marked twice, by the program and by a hook around it, and one span may enclose
 * many items: the innermost count. The first nested span is not counted, because it replaces its
 * parent, which was counted when it began.
 */
static uint32_t find_items(struct activities *all, uint32_t slot, uint32_t kinds)
{
	const struct open_spans *spans = &all->job->spans;
	uint32_t around = slot;

	for (int i = 0; i < GENERATIONS_MAX; i++) {
		around = open_spans_parent(spans, around);
		if (around == SPAN_NONE ||
		    spans->slots[around].process != spans->slots[slot].process)
			break;
		if (!(all->kinds[around] & ITEM_NAMED))
			continue;
		if (!(all->kinds[around] & ITEM_PARTED))
			kinds &= ~BIT(ACTIVITY_ITEM);
		all->kinds[around] |= ITEM_PARTED;
		break;
	}
	return kinds | ITEM_NAMED;
}

uint32_t activities_of_span(struct activities *all, uint32_t slot)
{
	const struct span *span = &all->job->spans.slots[slot];
	uint32_t kinds = kinds_of_label(all, span->label, is_worker(all, span->process));

	all->speaks[span->process] = true;
	if (kinds & BIT(ACTIVITY_ITEM))
		kinds = find_items(all, slot, kinds);
	all->kinds[slot] = kinds;
	return kinds & KINDS_ALL;
}

void activities_restart(struct activities *all)
{
	if (all->process_room)
		memset(all->speaks, 0, all->process_room * sizeof(*all->speaks));
}

static void begin_work(struct activity_worker *worker, uint64_t time_ns)
{
	if (worker->open++)
		return;
	worker->begun_ns = time_ns;
	worker->count++;
}

static void end_work(struct activity_worker *worker, uint64_t time_ns)
{
	if (!--worker->open)
		worker->time_ns += number_sub(time_ns, worker->begun_ns);
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct activities *all = state;
	const struct span *span = &all->job->spans.slots[slot];
	uint32_t group, kinds;
	int status = follow_processes(all);

	if (!status)
		status = follow_spans(all);
	if (status)
		return status;
	take_gpu(all, span->begin_ns);
	kinds = activities_of_span(all, slot);
	group = all->group_of[span->process];
	if (kinds & BIT(ACTIVITY_WORKER))
		begin_work(&all->workers[span->process], span->begin_ns);
	for (; kinds; kinds &= kinds - 1) {
		unsigned int i = __builtin_ctz(kinds);

		begin_span(&all->groups[ACTIVITY_JOB], i, span->begin_ns);
		if (group != ACTIVITY_JOB)
			begin_span(&all->groups[group], i, span->begin_ns);
	}
	return 0;
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct activities *all = state;
	const struct span *span = &all->job->spans.slots[slot];
	uint32_t group = all->group_of[span->process];

	take_gpu(all, span->end_ns);
	if (all->kinds[slot] & BIT(ACTIVITY_WORKER))
		end_work(&all->workers[span->process], span->end_ns);
	for (uint32_t kinds = all->kinds[slot] & KINDS_ALL; kinds; kinds &= kinds - 1) {
		unsigned int i = __builtin_ctz(kinds);

		end_span(&all->groups[ACTIVITY_JOB], i, span->end_ns);
		if (group != ACTIVITY_JOB)
			end_span(&all->groups[group], i, span->end_ns);
	}
	return 0;
}

const struct walk_calls activities_calls = {
	.events = take_events,
	.span_begun = span_begun,
	.span_ended = span_ended,
};

void activities_finish(struct activities *all)
{
	take_gpu(all, UINT64_MAX);
	for (size_t i = 0; i < all->group_count; i++)
		advance_all(&all->groups[i], UINT64_MAX);
}

struct activity_sum activities_at(struct activities *all, uint32_t number, uint64_t time_ns,
				  enum activity_of which)
{
	const struct activity_group *group = &all->groups[number];
	const struct activity *activity = &group->of[which];
	struct activity_sum sum;

	take_gpu(all, time_ns);
	sum = ahead(activity, compute_until(group), time_ns);
	sum.time_ns += activity->time_ns;
	sum.hidden_ns += activity->hidden_ns;
	return sum;
}
