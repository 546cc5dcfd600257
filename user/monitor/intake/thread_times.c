/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers what has been booked of each thread's current interval, because the next row, or the
 * record that ends the interval, includes it again.
 */
#include "monitor/intake/thread_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "collections/grow.h"
#include "base/number.h"

#define RECORDS_MAX 65536

/* In this order for each thread. */
enum lap_kind {
	LAP_BOOKED, /* `thread_ns` have been booked of the interval that begins at from_ns */
	LAP_RECORD, /* an interval that has ended */
	LAP_ROW,    /* an interval up to now; from_ns 0: unknown, but the thread is alive */
};

struct lap {
	uint32_t tid, pid;
	enum lap_kind kind;
	uint64_t from_ns;
	uint64_t until_ns, process_start_ns; /* 0: unknown */
	uint64_t thread_ns[THREAD_STATE_COUNT];
	bool missed; /* of LAP_BOOKED: the latest list lacked the thread */
};

struct thread_times {
	struct lap *laps; /* what has been booked, then records */
	size_t count, room, records;
	uint64_t lost;
};

int thread_times_open(struct thread_times **times)
{
	*times = calloc(1, sizeof(**times));
	return *times ? 0 : -ENOMEM;
}

void thread_times_close(struct thread_times *times)
{
	if (!times)
		return;
	free(times->laps);
	free(times);
}

uint64_t thread_times_lost(const struct thread_times *times)
{
	return times->lost;
}

void thread_times_take(struct thread_times *times, const struct event_header *record)
{
	const struct event_thread_time *event = (const struct event_thread_time *)record;
	struct lap *lap;

	if (record->kind != RECORD_THREAD_TIME)
		return;
	if (times->records == RECORDS_MAX || !GROW(times->laps, times->room, times->count + 1)) {
		times->lost++;
		return;
	}
	lap = &times->laps[times->count++];
	times->records++;
	*lap = (struct lap) { .tid = record->tid,
			      .pid = record->pid,
			      .kind = LAP_RECORD,
			      .from_ns = record->time_ns,
			      .until_ns = record->time_ns + event->duration_ns };
	memcpy(lap->thread_ns, &event->cpu_ns, sizeof(lap->thread_ns));
}

/* --- bookings --- */

/* Returns false, adding nothing, if out of memory. */
static bool add_rows(struct thread_times *times, const struct thread_list *list)
{
	if (!GROW(times->laps, times->room, times->count + list->count))
		return false;
	for (size_t i = 0; i < list->count; i++) {
		const struct event_thread_now *row = &list->rows[i];
		struct lap *lap = &times->laps[times->count++];

		*lap = (struct lap) { .tid = row->time.header.tid,
				      .pid = row->time.header.pid,
				      .kind = LAP_ROW,
				      .from_ns = row->time.header.time_ns,
				      .until_ns = row->now_ns,
				      .process_start_ns = row->process_start_ns };
		memcpy(lap->thread_ns, &row->time.cpu_ns, sizeof(lap->thread_ns));
	}
	return true;
}

static int compare_threads(const struct lap *a, const struct lap *b)
{
	return COMPARE(a->tid, b->tid) ?: COMPARE(a->pid, b->pid);
}

COMPARE_BY(compare, struct lap,
	   compare_threads(a, b) ?:
	   COMPARE(a->kind, b->kind) ?:
	   COMPARE(a->from_ns, b->from_ns))

/*
 * Books what an interval has more than was booked of it. A state may have less: what a running
 * thread does is known exactly only once it leaves the CPU. Then the next interval is booked less
 * of that state, so that sums are right in the long run and never decrease.
 */
static void book(struct ledger *ledger, struct lap *booked, const struct lap *lap)
{
	bool ends = lap->kind == LAP_RECORD;
	uint64_t more_ns[THREAD_STATE_COUNT];

	if (lap->from_ns != booked->from_ns) /* a record was lost, or the thread is another one */
		memset(booked->thread_ns, 0, sizeof(booked->thread_ns));
	booked->from_ns = ends ? lap->until_ns : lap->from_ns;
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++) {
		uint64_t had_ns = booked->thread_ns[state], has_ns = lap->thread_ns[state];

		more_ns[state] = number_sub(has_ns, had_ns);
		booked->thread_ns[state] += more_ns[state] - (ends ? has_ns : 0);
	}
	ledger_add_thread(ledger, lap->pid, lap->process_start_ns, lap->from_ns, lap->until_ns,
			  more_ns);
}

/* What has been booked of a thread's intervals; from_ns 0: nothing. */
struct booked {
	struct lap now, before; /* `before` if its record has not come */
};

/* A record may come one reading late: one that its CPU is still writing holds it back. */
static void book_record(struct ledger *ledger, struct booked *booked, const struct lap *lap)
{
	struct lap unseen = { .tid = lap->tid, .pid = lap->pid };

	if (booked->before.from_ns && lap->from_ns == booked->before.from_ns) {
		book(ledger, &booked->before, lap);
		booked->before.from_ns = 0;
		for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
			booked->now.thread_ns[state] += booked->before.thread_ns[state];
	} else if (lap->from_ns < booked->now.from_ns && lap->until_ns <= booked->now.from_ns) {
		book(ledger, &unseen, lap);
	} else {
		book(ledger, &booked->now, lap);
	}
}

static void book_row(struct ledger *ledger, struct booked *booked, const struct lap *lap)
{
	/* A record may have been sent after the row was written. */
	if (!lap->from_ns || lap->from_ns < booked->now.from_ns)
		return;
	if (booked->now.from_ns && lap->from_ns > booked->now.from_ns)
		booked->before = booked->now;
	book(ledger, &booked->now, lap);
}

/* Settles the laps of one thread, from `at` on, and keeps what has been booked. Returns the index
 * after them. */
static size_t settle_thread(struct thread_times *times, struct ledger *ledger, size_t at,
			    bool listed, size_t *kept)
{
	struct booked booked = {
		.now = { .tid = times->laps[at].tid, .pid = times->laps[at].pid },
	};
	bool lives = false, recorded = false;

	for (; at < times->count && !compare_threads(&times->laps[at], &booked.now); at++) {
		const struct lap *lap = &times->laps[at];

		if (lap->kind == LAP_BOOKED) {
			booked.before = booked.now;
			booked.now = *lap;
			lives = !listed;
		} else if (lap->kind == LAP_RECORD) {
			book_record(ledger, &booked, lap);
			recorded = true;
		} else {
			book_row(ledger, &booked, lap);
			lives = true;
		}
	}
	/* Its last record may be late. */
	if (!lives && (recorded || booked.now.missed || !booked.now.from_ns))
		return at;
	booked.now.missed = !lives;
	if (booked.before.from_ns)
		times->laps[(*kept)++] = booked.before;
	times->laps[(*kept)++] = booked.now;
	return at;
}

void thread_times_settle(struct thread_times *times, struct ledger *ledger,
			 const struct thread_list *list)
{
	bool listed = list && add_rows(times, list);
	size_t kept = 0;

	if (times->count)
		qsort(times->laps, times->count, sizeof(*times->laps), compare);
	for (size_t at = 0; at < times->count;)
		at = settle_thread(times, ledger, at, listed, &kept);
	times->count = kept;
	times->records = 0;
}
