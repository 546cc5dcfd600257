// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Times of threads: each moment is booked once, from rows and from records, and no sum decreases.
 */
#include "unit_test.h"

#include <string.h>

#include "made_ledger.h"
#include "monitor/intake/thread_times.h"

#define STARTED 100

/* Times of two states; the others stay 0. */
struct times {
	uint64_t cpu_ns, lock_ns;
};

static void record(struct thread_times *times, uint32_t pid, uint32_t tid, uint64_t from_ns,
		   struct times of)
{
	const struct event_thread_time event = {
		.header = { .time_ns = from_ns,
			    .kind = RECORD_THREAD_TIME,
			    .pid = pid,
			    .tid = tid },
		.duration_ns = of.cpu_ns + of.lock_ns,
		.cpu_ns = of.cpu_ns,
		.lock_ns = of.lock_ns,
	};

	thread_times_take(times, &event.header);
}

static struct event_thread_now row(uint32_t pid, uint32_t tid, uint64_t from_ns, struct times of)
{
	return (struct event_thread_now) {
		.time = { .header = { .time_ns = from_ns, .pid = pid, .tid = tid },
			  .cpu_ns = of.cpu_ns,
			  .lock_ns = of.lock_ns },
		.process_start_ns = STARTED,
		.now_ns = from_ns + of.cpu_ns + of.lock_ns,
	};
}

/* Settles with a list of one row. */
static void settle(struct thread_times *times, struct ledger *ledger, struct event_thread_now one)
{
	const struct thread_list list = { .rows = &one, .count = 1 };

	thread_times_settle(times, ledger, &list);
}

static void assert_times(const struct ledger *ledger, const char *cgroup, struct times of)
{
	const struct ledger_job *job = job_called(ledger, cgroup);
	uint64_t all_ns = 0;

	assert_int_equal(job->thread_ns[THREAD_CPU], of.cpu_ns);
	assert_int_equal(job->thread_ns[THREAD_LOCK], of.lock_ns);
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
		all_ns += job->thread_ns[state];
	assert_int_equal(all_ns, of.cpu_ns + of.lock_ns);
}

static struct ledger *open_both(struct thread_times **times)
{
	struct ledger *ledger = open_with(roomy);

	assert_int_equal(thread_times_open(times), 0);
	begin(ledger, 7, "/a", "x", STARTED);
	begin(ledger, 8, "/b", "x", STARTED);
	return ledger;
}

static void close_both(struct thread_times *times, struct ledger *ledger)
{
	thread_times_close(times);
	ledger_close(ledger);
}

/* A thread that sends no record for long counts at each reading; then its record includes all. */
TEST(test_blocked_for_long)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 7, 100, (struct times) { 5, 10 }));
	assert_times(ledger, "/a", (struct times) { 5, 10 });
	settle(times, ledger, row(7, 7, 100, (struct times) { 5, 40 }));
	thread_times_settle(times, ledger, NULL); /* not read */
	settle(times, ledger,
	       (struct event_thread_now) {
		       .time.header = { .pid = 7, .tid = 7 } }); /* not readable */
	assert_times(ledger, "/a", (struct times) { 5, 40 });
	record(times, 7, 7, 100, (struct times) { 8, 60 });
	settle(times, ledger, row(7, 7, 168, (struct times) { 1, 0 }));
	assert_times(ledger, "/a", (struct times) { 9, 60 });
	close_both(times, ledger);
}

/* The record follows the row into the same reading, or is the thread's last. */
TEST(test_record_after_row)
{
	static const struct times none;
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	record(times, 7, 7, 100, (struct times) { 20, 30 });
	settle(times, ledger, row(7, 7, 100, (struct times) { 20, 10 }));
	assert_times(ledger, "/a", (struct times) { 20, 30 });
	settle(times, ledger, row(7, 7, 150, (struct times) { 7, 0 }));
	record(times, 7, 7, 150, (struct times) { 9, 0 });
	settle(times, ledger, row(8, 8, 100, none));
	assert_times(ledger, "/a", (struct times) { 29, 30 });
	/* The thread is gone. Another one has its number. */
	settle(times, ledger, row(7, 7, 150, (struct times) { 1, 0 }));
	assert_times(ledger, "/a", (struct times) { 30, 30 });
	close_both(times, ledger);
}

/* CPUs deliver independently: a thread's last record may arrive before the one before. */
TEST(test_records_in_any_order)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 71, 100, (struct times) { 5, 0 }));
	record(times, 8, 8, 100, (struct times) { 0, 3 });
	record(times, 7, 71, 130, (struct times) { 0, 40 });
	record(times, 7, 71, 100, (struct times) { 30, 0 });
	record(times, 7, 72, 100, (struct times) { 2, 2 });
	settle(times, ledger, row(7, 72, 104, (struct times) { 1, 0 }));
	assert_times(ledger, "/a", (struct times) { 30 + 2 + 1, 40 + 2 });
	assert_times(ledger, "/b", (struct times) { 0, 3 });
	close_both(times, ledger);
}

/* A record comes a reading late: the next row begins after it, or the thread has ended. */
TEST(test_late_records)
{
	static const struct times none;
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 7, 100, (struct times) { 0, 50 }));
	settle(times, ledger, row(7, 7, 160, (struct times) { 3, 0 }));
	record(times, 7, 7, 100, (struct times) { 5, 55 });
	settle(times, ledger, row(7, 7, 160, (struct times) { 4, 0 }));
	assert_times(ledger, "/a", (struct times) { 5 + 4, 55 });
	settle(times, ledger, row(8, 8, 100, none));
	record(times, 7, 7, 160, (struct times) { 6, 0 });
	settle(times, ledger, row(8, 8, 100, none));
	assert_times(ledger, "/a", (struct times) { 5 + 6, 55 });
	close_both(times, ledger);
}

/* If a row overstates a state, the next record books that much less of it. */
TEST(test_estimates_are_made_up_for)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 7, 100, (struct times) { 50, 0 }));
	record(times, 7, 7, 100, (struct times) { 44, 6 });
	settle(times, ledger, row(7, 7, 150, (struct times) { 2, 0 }));
	assert_times(ledger, "/a", (struct times) { 50, 6 });
	record(times, 7, 7, 150, (struct times) { 10, 0 });
	settle(times, ledger, row(7, 7, 160, (struct times) { 1, 0 }));
	assert_times(ledger, "/a", (struct times) { 44 + 10 + 1, 6 });
	close_both(times, ledger);
}

/* A lost record's times are missing, but later ones are right. */
TEST(test_lost_record)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 7, 100, (struct times) { 0, 50 }));
	settle(times, ledger, row(7, 7, 200, (struct times) { 0, 5 }));
	assert_times(ledger, "/a", (struct times) { 0, 55 });
	close_both(times, ledger);
}

/* A process that moves takes only later time along. */
TEST(test_moved)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);

	settle(times, ledger, row(7, 7, 100, (struct times) { 0, 50 }));
	ledger_move(ledger, ledger_process(ledger, 7), "/b");
	settle(times, ledger, row(7, 7, 100, (struct times) { 0, 70 }));
	assert_times(ledger, "/a", (struct times) { 0, 50 });
	assert_times(ledger, "/b", (struct times) { 0, 20 });
	assert_int_equal(ledger_process(ledger, 7)->thread_ns[THREAD_LOCK], 70);
	/* Times of an unknown process belong to no job. */
	settle(times, ledger, row(9, 9, 100, (struct times) { 4, 0 }));
	assert_times(ledger, LEDGER_UNKNOWN, (struct times) { 4, 0 });
	assert_int_equal(ledger_node(ledger)->thread_ns[THREAD_LOCK], 70);
	close_both(times, ledger);
}

/* Far more records than are kept: the rest is counted. */
TEST(test_many_records)
{
	struct thread_times *times;
	struct ledger *ledger = open_both(&times);
	const uint32_t all = 100000;

	for (uint32_t i = 0; i < all; i++)
		record(times, 7, 7, 100 + i, (struct times) { 1, 0 });
	thread_times_settle(times, ledger, NULL);
	assert_true(thread_times_lost(times) > 0);
	assert_times(ledger, "/a", (struct times) { all - thread_times_lost(times), 0 });
	record(times, 7, 7, 100 + all, (struct times) { 1, 0 });
	thread_times_settle(times, ledger, NULL);
	assert_times(ledger, "/a", (struct times) { all + 1 - thread_times_lost(times), 0 });
	close_both(times, ledger);
}
