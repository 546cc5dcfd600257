// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Records that arrive while a reader holds the ledger: taking them does not block, and all are
 * applied afterwards, in order.
 */
#include "unit_test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_ledger.h"
#include "monitor/intake/intake_state.h"
#include "monitor/ledger/rates.h"

#define PARENT 4194400u /* above any live PID */
#define LIMIT_S 600	/* deadlocking on one's own lock would hang */

static void forks(struct intake *intake, uint32_t child, uint64_t time_ns)
{
	const struct event_fork event = {
		.header = { .time_ns = time_ns,
			    .kind = RECORD_FORK,
			    .size = sizeof(event),
			    .pid = PARENT,
			    .tid = PARENT },
		.child_pid = child,
		.child_tid = child,
	};

	intake_take(intake, 0, &event, sizeof(event));
}

static void ends(struct intake *intake, uint32_t pid, uint64_t time_ns)
{
	const struct event_exit event = {
		.header = { .time_ns = time_ns,
			    .kind = RECORD_EXIT,
			    .size = sizeof(event),
			    .pid = pid,
			    .tid = pid },
		.process_ends = 1,
	};

	intake_take(intake, 0, &event, sizeof(event));
}

/* Three faults of PARENT + 1. */
static struct profile_slot slot_of(struct profile_who who)
{
	return (struct profile_slot) {
		.key = { .pid = PARENT + 1, .op = OP_FAULT },
		.first_ns = who.started_ns + 10,
		.last_ns = who.started_ns + 20,
		.sums = { .count = 3, .time_ns = 1 },
		.who = who,
	};
}

static void take_slot(struct intake *intake, struct profile_slot *slot, uint64_t count)
{
	slot->sums.count = count;
	intake_take_slot(intake, slot);
}

static void book_all(struct intake *intake, uint64_t time_ns)
{
	while (!intake_book(intake, time_ns, time_ns))
		usleep(1000);
}

static struct intake *open_intake(struct ledger *ledger)
{
	struct intake *intake;

	assert_int_equal(intake_open(&intake, ledger, 2, 4096), 0);
	begin(ledger, PARENT, "/a", "x", 100);
	alarm(LIMIT_S);
	return intake;
}

static void close_all(struct intake *intake, struct ledger *ledger)
{
	alarm(0);
	intake_close(intake);
	ledger_close(ledger);
}

TEST(test_while_it_is_read)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);

	ledger_lock(ledger);
	forks(intake, PARENT + 1, 110);
	forks(intake, PARENT + 2, 120);
	ends(intake, PARENT + 1, 130);
	forks(intake, PARENT + 1, 140); /* the PID is reused */
	intake_settle(intake, 150);
	assert_false(intake_book(intake, 150, 150));
	assert_int_equal(ledger_node(ledger)->processes_begun, 1);
	assert_int_equal(intake_ended(intake), 1);
	ledger_unlock(ledger);

	ends(intake, PARENT + 2, 160); /* kept records are applied first */
	intake_settle(intake, 165);
	assert_int_equal(ledger_node(ledger)->processes_begun, 4);
	assert_int_equal(ledger_node(ledger)->processes_ended, 2);
	assert_non_null(ledger_process(ledger, PARENT + 1));
	assert_null(ledger_process(ledger, PARENT + 2));
	assert_true(intake_book(intake, 170, 170));
	assert_int_equal(intake_ended(intake), 0);
	close_all(intake, ledger);
}

/* Another thread looks up a cgroup: records after the one that needs it wait as well. */
TEST(test_while_a_cgroup_is_looked_up)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	const struct event_exec event = {
		.header = { .time_ns = 120,
			    .kind = RECORD_EXEC,
			    .size = sizeof(event),
			    .pid = PARENT + 1,
			    .tid = PARENT + 1 },
		.cgroup_id = 0x7fffffffffffull, /* no such cgroup */
		.cgroup_set = 1,
		.comm = "new",
	};

	forks(intake, PARENT + 1, 110);
	intake_take(intake, 0, &event, sizeof(event));
	forks(intake, PARENT + 2, 130);
	ends(intake, PARENT + 1, 140);
	book_all(intake, 135);
	assert_int_equal(ledger_node(ledger)->processes_begun, 3);
	assert_int_equal(ledger_node(ledger)->processes_ended, 1);
	assert_int_equal(job_called(ledger, LEDGER_UNKNOWN)->ended_processes, 1);
	close_all(intake, ledger);
}

/* A rate is what happened between two readings, whenever they are booked. */
TEST(test_late_bookings)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	struct rates *rates = rates_open();
	const uint64_t late_ns[] = { 0, 300000000, 0 };
	uint64_t read_ns;

	assert_non_null(rates);
	for (int i = 0; i < 3; i++) {
		const uint64_t until_ns = (i + 1) * 1000000000ull;

		assert_true(intake_book(intake, until_ns, until_ns + late_ns[i]));
		assert_int_equal(ledger_readings(ledger, &read_ns), i + 1);
		assert_int_equal(read_ns, until_ns);
		rates_note(rates, ledger, 0);
		assert_int_equal(rates_interval_ns(rates), i ? 1000000000 : 0);
	}
	rates_close(rates);
	close_all(intake, ledger);
}

/* Several times the capacity of the intake's memory. */
TEST(test_many)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	const uint32_t each = 20000;

	for (uint32_t round = 0; round < 3; round++) {
		ledger_lock(ledger);
		for (uint32_t i = 1; i <= each; i++)
			forks(intake, PARENT + i, 200 + round * 1000);
		for (uint32_t i = 1; i <= each; i++)
			ends(intake, PARENT + i, 300 + round * 1000);
		assert_false(intake_book(intake, 400 + round * 1000, 400));
		ledger_unlock(ledger);
		assert_true(intake_book(intake, 400 + round * 1000, 400));
		assert_int_equal(ledger_node(ledger)->processes_begun, 1 + (round + 1) * each);
		assert_int_equal(ledger_node(ledger)->processes_ended, (round + 1) * each);
	}
	assert_int_equal(ledger_node(ledger)->processes_unreported, 0);
	close_all(intake, ledger);
}

/* --- processes without records --- */

/* A process's records are lost: a slot's owner field identifies it, for its other slots too. If two
 * processes had the PID, each slot belongs to one of them.
 */
TEST(test_known_by_slots)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	struct profile_slot slot = slot_of((struct profile_who) {
		.started_ns = 110, .comm = "sixteen bytes...", .uid = 4242 });
	const struct ledger_job *job;

	intake_take_slot(intake, &slot);
	slot.who = (struct profile_who) { 0 }; /* another process took it */
	slot.key.file = 7;
	take_slot(intake, &slot, 4);
	slot.key.pid = PARENT + 2; /* unknown process */
	take_slot(intake, &slot, 5);

	begin(ledger, PARENT + 3, "/b", "y", 110);
	ledger_exit(ledger, PARENT + 3, 120);
	begin(ledger, PARENT + 3, "/c", "y", 125);
	slot.key.pid = PARENT + 3;
	slot.first_ns = 115;
	slot.who = (struct profile_who) { .started_ns = 110, .comm = "y" };
	take_slot(intake, &slot, 6);

	book_all(intake, 200);
	for (job = ledger_jobs(ledger); job && job->uid != 4242;)
		job = job->next;
	assert_non_null(job);
	assert_string_equal(job->commands[0].name, "sixteen bytes...");
	assert_int_equal(sums_total(&job->commands[0].sums).count, 3 + 4);
	assert_int_equal(sums_total(&job->sums).count, 3 + 4);
	assert_int_equal(sums_total(&job_called(ledger, "/b")->sums).count, 6);
	assert_null(sums_find(&job_called(ledger, "/c")->sums, LEDGER_READ, METHOD_MMAP));
	/* Slots of a process without a cgroup are also booked on (unknown). */
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 3 + 4 + 5);
	assert_int_equal(sums_total(&ledger_node(ledger)->sums).count, 3 + 4 + 5 + 6);
	close_all(intake, ledger);
}

/* No records exist of two processes that had a PID: each slot names its owner, except one that
 * another process took.
 */
TEST(test_known_by_slots_of_two)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	struct profile_slot slot =
		slot_of((struct profile_who) { .started_ns = 110, .comm = "first", .uid = 4242 });

	intake_take_slot(intake, &slot);
	slot.who = (struct profile_who) { .started_ns = 110 + 2 * LEDGER_START_WITHIN_NS,
					  .comm = "second",
					  .uid = 4243 };
	slot.last_ns = slot.who.started_ns + 20;
	take_slot(intake, &slot, 4);
	slot.who = (struct profile_who) { 0 };
	take_slot(intake, &slot, 5);
	book_all(intake, 200);
	for (const struct ledger_job *job = ledger_jobs(ledger); job; job = job->next)
		if (job->uid == 4242 || job->uid == 4243)
			assert_int_equal(sums_total(&job->sums).count, job->uid == 4242 ? 3 : 4);
	/* Slots of a process without a cgroup are also booked on (unknown). */
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 3 + 4 + 5);
	assert_int_equal(sums_total(&ledger_node(ledger)->sums).count, 3 + 4 + 5);
	close_all(intake, ledger);
}

/* Records were lost: one process has only its fork, another all but its exit. */
TEST(test_known_by_slots_after_loss)
{
	struct ledger *ledger = open_with(roomy);
	struct intake *intake = open_intake(ledger);
	struct profile_slot slot =
		slot_of((struct profile_who) { .started_ns = 210, .comm = "another", .uid = 4242 });
	const struct ledger_job *job;

	forks(intake, PARENT + 1, 210);
	begin(ledger, PARENT + 2, "/b", "y", 211);
	intake_take_slot(intake, &slot);
	slot.key.pid = PARENT + 2;
	take_slot(intake, &slot, 4);
	intake_recheck(intake, 200);
	book_all(intake, 300);
	job = job_called(ledger, "/a"); /* since its cgroup is not known better */
	assert_int_equal(sums_total(&job->sums).count, 3);
	job = job_called(ledger, "/b");
	assert_int_equal(sums_total(&job->sums).count, 4);
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 0);
	close_all(intake, ledger);
}

/*
 * A process that forked or execed, was moved, and had exited by the next reading: its slots
 * identify its cgroup. Not if there are several hierarchies or nothing was moved.
 */
TEST(test_moved_and_gone)
{
	static const struct {
		uint64_t moves;
		bool one_hierarchy;
		uint64_t moved; /* operations booked on the other cgroup then */
	} cases[] = { { 1, true, 3 + 5 }, { 1, false, 0 }, { 0, true, 0 } };
	char root[] = "/tmp/faultline-test-XXXXXX", path[64];
	struct stat status;

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/b", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(stat(path, &status), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ledger *ledger = open_with(roomy);
		struct intake *intake = open_intake(ledger);
		struct profile_slot slot = slot_of((struct profile_who) {
			.started_ns = 110, .cgroup_id = status.st_ino, .comm = "named" });
		uint64_t there;

		cgroups_close(intake->cgroups);
		assert_int_equal(cgroups_open(&intake->cgroups, root), 0);
		intake->one_hierarchy = cases[i].one_hierarchy;
		forks(intake, PARENT + 1, 110);
		ends(intake, PARENT + 1, 140);
		begin(ledger, PARENT + 2, "/a", "y", 110);
		ends(intake, PARENT + 2, 140);
		intake_take_slot(intake, &slot);
		slot.key.pid = PARENT + 2;
		take_slot(intake, &slot, 5);
		intake_set_moves(intake, cases[i].moves);
		book_all(intake, 135);
		there = job_called(ledger, "/b") ? sums_total(&job_called(ledger, "/b")->sums).count
						 : 0;
		assert_int_equal(there, cases[i].moved);
		assert_int_equal(sums_total(&job_called(ledger, "/a")->sums).count, 8 - there);
		/* Named after the program, not after one of its threads. */
		if (there)
			assert_string_equal(job_called(ledger, "/b")->commands[0].name, "x");
		assert_true(intake_book(intake, 1000000, 1000000)); /* all jobs go */
		assert_null(job_called(ledger, "/b"));
		assert_int_equal(ledger_node(ledger)->processes_ended, 2);
		close_all(intake, ledger);
	}
	rmdir(path);
	rmdir(root);
}

/* --- long runs --- */

#define PIDS 30000u
#define CGROUPS 500u
#define ROUND 40000u /* processes, each with its own file */

static void names_file(struct intake *intake, uint32_t id)
{
	char room[sizeof(struct event_file) + 64] = { 0 };
	struct event_file *event = (struct event_file *)room;

	event->header = (struct event_header) { .kind = RECORD_FILE, .size = sizeof(room) };
	event->id = id;
	event->ino = id;
	event->dev = 1;
	intake_take(intake, 0, room, sizeof(room));
}

static void reads(struct intake *intake, uint32_t pid, uint32_t file, uint64_t time_ns)
{
	const struct profile_slot slot = {
		.key = { .pid = pid, .file = file, .op = OP_FAULT },
		.first_ns = time_ns,
		.last_ns = time_ns,
		.sums = { .count = 1, .time_ns = 1 },
	};

	intake_take_slot(intake, &slot);
}

/*
 * Processes and files that come and go, in cgroups that stay. Returns the memory in use afterwards.
 */
static size_t live_through(struct ledger *ledger, struct intake *intake, uint64_t *time_ns)
{
	static uint32_t number;
	struct mallinfo2 used;

	for (uint32_t i = 0; i < ROUND; i++) {
		uint32_t pid = PARENT + 1 + ++number % PIDS;
		char cgroup[64];

		snprintf(cgroup, sizeof(cgroup), "/job/%u", number % CGROUPS);
		forks(intake, pid, ++*time_ns);
		begin(ledger, pid, cgroup, "x", ++*time_ns);
		names_file(intake, number);
		reads(intake, pid, number, *time_ns);
		ends(intake, pid, ++*time_ns);
		if (i % 100 == 0)
			assert_true(intake_book(intake, *time_ns, *time_ns));
	}
	++*time_ns;
	assert_true(intake_book(intake, *time_ns, *time_ns));
	used = mallinfo2();
	return used.uordblks + used.hblkhd;
}

/* Once every table is full, memory stops growing. */
TEST(test_stays_as_large)
{
	struct ledger_options options = roomy;
	struct ledger *ledger;
	struct intake *intake;
	uint64_t time_ns = 200;
	size_t before, after;

	options.retire_ns = UINT64_MAX / 2;
	ledger = open_with(options);
	intake = open_intake(ledger);
	for (int i = 0; i < 3; i++)
		live_through(ledger, intake, &time_ns);
	before = live_through(ledger, intake, &time_ns);
	for (int i = 0; i < 3; i++)
		live_through(ledger, intake, &time_ns);
	after = live_through(ledger, intake, &time_ns);
	assert_true(after <= before + before / 20); /* where malloc keeps counts; elsewhere both are
						     * 0 */
	assert_int_equal(ledger_node(ledger)->processes_begun, 1 + 8 * ROUND);
	assert_int_equal(sums_total(&ledger_node(ledger)->sums).count, 8 * ROUND);
	assert_int_equal(ledger_node(ledger)->processes_unreported, 0);
	close_all(intake, ledger);
}
