/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps records until all earlier ones have arrived, since each CPU delivers its own. */
#include "monitor/intake/span_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/job/open_spans.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"

#define WAITING_MAX 65536
#define OPEN_COUNT_MAX 65536

struct span_turn {
	uint64_t time_ns, order, id;
	uint32_t pid, tid, kind;
	struct ledger_span_name name; /* of a begin */
};

struct span_times {
	struct open_spans open;		/* processes are identified by pid */
	struct ledger_span_name *names; /* by slot of an open span */
	size_t name_room;
	struct span_turn *waiting;
	size_t waiting_count, waiting_room;
	uint64_t order, refused_begins, lost_ends;
};

int span_times_open(struct span_times **out)
{
	struct span_times *times = calloc(1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	open_spans_init(&times->open);
	*out = times;
	return 0;
}

void span_times_close(struct span_times *times)
{
	if (!times)
		return;
	open_spans_free(&times->open);
	free(times->names);
	free(times->waiting);
	free(times);
}

uint64_t span_times_lost(const struct span_times *times)
{
	return times->refused_begins + times->lost_ends;
}

uint64_t span_times_lost_ends(const struct span_times *times)
{
	return times->lost_ends;
}

/* --- records --- */

/* Copies as much as fits. */
static void copy(char *to, size_t room, const char *from, size_t bytes)
{
	if (bytes >= room)
		bytes = room - 1;
	memcpy(to, from, bytes);
	to[bytes] = 0;
}

static void name_it(struct ledger_span_name *name, const struct event_span *event)
{
	copy(name->name, sizeof(name->name), event->text, event->name_bytes);
	copy(name->category, sizeof(name->category), event->text + event->name_bytes,
	     event->category_bytes);
}

void span_times_take(struct span_times *times, const struct event_header *record)
{
	const struct event_span *begin = (const struct event_span *)record;
	const struct event_span_end *end = (const struct event_span_end *)record;
	const struct event_exit *exit = (const struct event_exit *)record;
	struct span_turn *waiting;

	if (record->kind != RECORD_SPAN_BEGIN && record->kind != RECORD_SPAN_END &&
	    (record->kind != RECORD_EXIT || !exit->process_ends))
		return;
	/* Process ends are frequent, and matter only if spans are open. */
	if (record->kind == RECORD_EXIT && !times->waiting_count && !times->open.open)
		return;
	if (times->waiting_count == WAITING_MAX ||
	    !GROW(times->waiting, times->waiting_room, times->waiting_count + 1)) {
		++*(record->kind == RECORD_SPAN_BEGIN ? &times->refused_begins : &times->lost_ends);
		return;
	}
	waiting = &times->waiting[times->waiting_count++];
	memset(waiting, 0, sizeof(*waiting));
	waiting->time_ns = record->time_ns;
	waiting->order = times->order++;
	waiting->kind = record->kind;
	waiting->pid = record->pid;
	waiting->tid = record->tid;
	if (record->kind == RECORD_SPAN_BEGIN) {
		waiting->id = begin->id;
		name_it(&waiting->name, begin);
	} else if (record->kind == RECORD_SPAN_END) {
		waiting->id = end->id;
	}
}

COMPARE_BY(compare, struct span_turn,
	   COMPARE(a->time_ns, b->time_ns) ?: COMPARE(a->order, b->order))

/* --- bookings --- */

/* Books the time since it was last booked. */
static void book(struct span_times *times, struct ledger *ledger, uint32_t slot, uint64_t until_ns,
		 bool ended)
{
	struct span *span = &times->open.slots[slot];
	uint64_t time_ns = number_sub(until_ns, span->begin_ns);

	ledger_add_span(ledger, span->process, until_ns, &times->names[slot], ended, time_ns);
	if (until_ns > span->begin_ns)
		span->begin_ns = until_ns;
}

static void end(struct span_times *times, struct ledger *ledger, uint32_t slot, uint64_t time_ns)
{
	book(times, ledger, slot, time_ns, true);
	open_spans_close(&times->open, slot);
}

static void begin(struct span_times *times, const struct span_turn *waiting)
{
	const struct span span = {
		.id = waiting->id,
		.begin_ns = waiting->time_ns,
		.process = waiting->pid,
		.thread = waiting->tid,
	};
	uint32_t slot;

	if (times->open.open >= OPEN_COUNT_MAX ||
	    open_spans_begin(&times->open, &span, NULL, &slot)) {
		times->refused_begins++;
		return;
	}
	if (slot == SPAN_NONE)
		return;
	if (!GROW(times->names, times->name_room, times->open.room)) {
		open_spans_close(&times->open, slot);
		times->refused_begins++;
		return;
	}
	times->names[slot] = waiting->name;
}

static void settle(struct span_times *times, struct ledger *ledger, const struct span_turn *waiting)
{
	uint32_t slot;

	switch (waiting->kind) {
	case RECORD_SPAN_BEGIN:
		begin(times, waiting);
		break;
	case RECORD_SPAN_END:
		slot = open_spans_of_id(&times->open, waiting->pid, waiting->id);
		if (slot != SPAN_NONE) /* otherwise it began earlier, or in a parent */
			end(times, ledger, slot, waiting->time_ns);
		break;
	case RECORD_EXIT:
		while ((slot = open_spans_of_process(&times->open, waiting->pid)) != SPAN_NONE)
			end(times, ledger, slot, waiting->time_ns);
		break;
	}
}

static void settle_waiting(struct span_times *times, struct ledger *ledger, uint64_t until_ns)
{
	size_t settled = 0;

	if (!times->waiting_count)
		return;
	qsort(times->waiting, times->waiting_count, sizeof(*times->waiting), compare);
	while (settled < times->waiting_count && times->waiting[settled].time_ns < until_ns)
		settle(times, ledger, &times->waiting[settled++]);
	times->waiting_count -= settled;
	memmove(times->waiting, times->waiting + settled,
		times->waiting_count * sizeof(*times->waiting));
}

void span_times_settle(struct span_times *times, struct ledger *ledger, uint64_t until_ns,
		       bool open)
{
	settle_waiting(times, ledger, until_ns);
	for (size_t slot = 0; open && slot < times->open.used; slot++)
		if (times->open.slots[slot].serial)
			book(times, ledger, slot, until_ns, false);
}

void span_times_forget(struct span_times *times)
{
	for (size_t slot = 0; slot < times->open.used; slot++)
		if (times->open.slots[slot].serial)
			open_spans_close(&times->open, slot);
}
