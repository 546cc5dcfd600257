// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The ledger: attribution of operations when PIDs are reused, behaviour at its limits, and the
 * lifetime of jobs.
 */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "made_ledger.h"

static void add_on(struct ledger *ledger, uint32_t pid, uint32_t file, uint64_t first_ns,
		   uint64_t last_ns, uint64_t count)
{
	uint32_t latencies[LEDGER_LATENCIES] = { 0 };
	const struct ledger_added added = {
		.pid = pid,
		.file = file,
		.first_ns = first_ns,
		.last_ns = last_ns,
		.op = LEDGER_READ,
		.method = METHOD_SYSCALL,
		.counts = { .count = count, .bytes = 10 * count, .time_ns = 100 * count },
		.latencies = latencies,
	};

	latencies[3] = count;
	ledger_add(ledger, &added);
}

static void add(struct ledger *ledger, uint32_t pid, uint64_t first_ns, uint64_t last_ns,
		uint64_t count)
{
	add_on(ledger, pid, 0, first_ns, last_ns, count);
}

static uint64_t count_of(const struct ledger_sums *sums)
{
	const struct ledger_cell *cell = sums_find(sums, LEDGER_READ, METHOD_SYSCALL);

	return cell ? cell->counts.count : 0;
}

static uint64_t job_count(const struct ledger *ledger, const char *cgroup)
{
	const struct ledger_job *job = job_called(ledger, cgroup);

	return job ? count_of(&job->sums) : 0;
}

static uint64_t command_count(const struct ledger *ledger, const char *cgroup, const char *name)
{
	const struct ledger_job *job = job_called(ledger, cgroup);

	for (unsigned int i = 0; job && i <= LEDGER_COMMANDS_MAX; i++)
		if (job->commands[i].used && !strcmp(job->commands[i].name, name))
			return count_of(&job->commands[i].sums);
	return 0;
}

TEST(test_books_on_job_process_and_node)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_job *job;
	const struct ledger_cell *cell;

	begin(ledger, 7, "/a", "train", 100);
	add(ledger, 7, 110, 120, 5);
	add(ledger, 7, 120, 130, 2);
	job = job_called(ledger, "/a");
	assert_non_null(job);
	assert_string_equal(job->user, "root");
	assert_int_equal(job->process_count, 1);
	cell = sums_find(&job->sums, LEDGER_READ, METHOD_SYSCALL);
	assert_int_equal(cell->counts.count, 7);
	assert_int_equal(cell->counts.bytes, 70);
	assert_int_equal(cell->counts.time_ns, 700);
	assert_int_equal(cell->latencies[3], 7);
	assert_null(sums_find(&job->sums, LEDGER_WRITE, METHOD_SYSCALL));
	assert_int_equal(command_count(ledger, "/a", "train"), 7);
	assert_int_equal(count_of(&job->processes->sums), 7);
	assert_string_equal(job->processes->command, "program with arguments");
	assert_int_equal(count_of(&ledger_node(ledger)->sums), 7);
	ledger_close(ledger);
}

/* Operations of a process that just exited may arrive after its PID was reused. */
TEST(test_pid_comes_again)
{
	struct ledger *ledger = open_with(roomy);

	begin(ledger, 7, "/a", "x", 100);
	ledger_exit(ledger, 7, 200);
	begin(ledger, 7, "/b", "x", 300);
	add(ledger, 7, 150, 180, 1);	/* the first process */
	add(ledger, 7, 310, 320, 10);	/* the second process */
	add(ledger, 7, 150, 320, 100);	/* spans both: cannot be split */
	add(ledger, 7, 210, 290, 1000); /* belongs to neither */
	assert_int_equal(job_count(ledger, "/a"), 1);
	assert_int_equal(job_count(ledger, "/b"), 10);
	assert_int_equal(job_count(ledger, LEDGER_UNKNOWN), 1100);
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 1100);
	assert_int_equal(count_of(&ledger_node(ledger)->sums), 1111);
	/* The first process may go once all its operations have arrived. */
	ledger_settle(ledger, 250);
	add(ledger, 7, 150, 320, 1);
	assert_int_equal(job_count(ledger, "/b"), 11);
	ledger_close(ledger);
}

/* A known start time identifies the process, even if both began within one tick of /proc. */
TEST(test_pid_reused_with_its_start)
{
	struct ledger *ledger = open_with(roomy);
	struct ledger_added added = { .pid = 7,
				      .first_ns = 150,
				      .last_ns = 320,
				      .op = LEDGER_READ,
				      .counts = { .count = 1 } };

	begin(ledger, 7, "/a", "x", 100);
	ledger_exit(ledger, 7, 200);
	begin(ledger, 7, "/b", "x", 300);
	added.start_ns = 100;
	ledger_add(ledger, &added);
	added.start_ns = 290; /* its fork record arrived slightly later */
	added.counts.count = 10;
	ledger_add(ledger, &added);
	added.start_ns = 300 + 2 * LEDGER_START_WITHIN_NS; /* an unknown third process */
	added.counts.count = 100;
	ledger_add(ledger, &added);
	assert_int_equal(job_count(ledger, "/a"), 1);
	assert_int_equal(job_count(ledger, "/b"), 10);
	assert_int_equal(job_count(ledger, LEDGER_UNKNOWN), 100);
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 100);
	ledger_close(ledger);
}

/* Two processes of one job used the same PID in turn: the job is certain, the process is not. */
TEST(test_pid_reused_in_the_job)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_job *job;

	begin(ledger, 7, "/a", "x", 100);
	ledger_exit(ledger, 7, 200);
	begin(ledger, 7, "/a", "x", 300);
	add(ledger, 7, 150, 320, 1);
	job = job_called(ledger, "/a");
	assert_int_equal(count_of(&job->sums), 1);
	assert_int_equal(count_of(&job->processes->sums), 0);
	assert_null(job_called(ledger, LEDGER_UNKNOWN));
	ledger_close(ledger);
}

/* The exit record was lost; a new process with the same PID implies it. */
TEST(test_end_was_lost)
{
	struct ledger *ledger = open_with(roomy);
	const uint64_t later = 300 + 2 * LEDGER_START_WITHIN_NS;

	begin(ledger, 7, "/a", "x", 100);
	begin(ledger, 8, "/b", "x", 100);
	ledger_fork(ledger, 8, 7, 300);
	add(ledger, 7, 310, 320, 1);
	add(ledger, 7, 250, 310, 10);
	assert_int_equal(job_count(ledger, "/a"), 0);
	assert_int_equal(job_count(ledger, "/b"), 1);
	assert_int_equal(job_count(ledger, LEDGER_UNKNOWN), 10);
	begin(ledger, 7, "/c", "x", later); /* an exec of a process that began later */
	add(ledger, 7, later + 10, later + 20, 100);
	assert_int_equal(job_count(ledger, "/b"), 1);
	assert_int_equal(job_count(ledger, "/c"), 100);
	ledger_close(ledger);
}

TEST(test_child_is_what_its_parent_is)
{
	struct ledger *ledger = open_with(roomy);

	begin(ledger, 7, "/a", "sh", 100);
	ledger_fork(ledger, 7, 8, 200);
	add(ledger, 8, 210, 220, 1);
	assert_int_equal(command_count(ledger, "/a", "sh"), 1);
	assert_int_equal(job_called(ledger, "/a")->process_count, 2);
	ledger_fork(ledger, 99, 9, 200); /* the parent is unknown */
	add(ledger, 9, 210, 220, 1);
	assert_int_equal(job_count(ledger, LEDGER_UNKNOWN), 1);
	ledger_close(ledger);
}

/* Operations before an exec belong to the old program, in the old cgroup. */
TEST(test_exec_changes_program_and_job)
{
	struct ledger *ledger = open_with(roomy);

	begin(ledger, 7, "/a", "sh", 100);
	ledger_fork(ledger, 7, 8, 200);
	{
		const struct ledger_who who = {
			.pid = 8, .start_ns = 199, .cgroup = "/b", .program = "train", .rank = 3
		};
		ledger_exec(ledger, &who, 300);
	}
	add(ledger, 8, 210, 220, 1);
	add(ledger, 8, 310, 320, 10);
	assert_int_equal(command_count(ledger, "/a", "sh"), 1);
	assert_int_equal(command_count(ledger, "/b", "train"), 10);
	assert_int_equal(job_called(ledger, "/b")->processes->rank, 3);
	assert_int_equal(job_called(ledger, "/a")->process_count, 1);
	ledger_close(ledger);
}

static void name_file(struct ledger *ledger, uint32_t id, const char *path)
{
	const struct ledger_file_name name = {
		.id = id,
		.ino = 1000 + id,
		.dev = 8,
		.filesystem = "ext4",
		.path = path,
		.path_bytes = strlen(path),
	};

	ledger_name_file(ledger, &name);
}

/* The files with the most I/O time are kept individually, the rest together; nothing is lost. */
TEST(test_files_of_a_job)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_file_system *other =
		&ledger_node(ledger)->file_systems[LEDGER_FILE_SYSTEMS_MAX - 1];
	const struct ledger_job *job;
	uint64_t sum = 0, worst = 0;
	char path[64];

	begin(ledger, 7, "/a", "x", 100);
	for (uint32_t id = 1; id <= 1000; id++) {
		snprintf(path, sizeof(path), "/data/%u", id);
		name_file(ledger, id, path);
		add_on(ledger, 7, id, 110, 120, id == 17 ? 5000 : 1);
	}
	add_on(ledger, 7, 4711, 110, 120, 1); /* never named */
	job = job_called(ledger, "/a");
	assert_int_equal(job->file_count, LEDGER_FILES_MAX);
	for (unsigned int i = 0; i < job->file_count; i++) {
		sum += count_of(&job->files[i].sums);
		if (!strcmp(job->files[i].path, "/data/17"))
			worst = count_of(&job->files[i].sums);
	}
	assert_int_equal(worst, 5000);
	assert_int_equal(sum + count_of(&job->other_files), 999 + 5000 + 1);
	assert_int_equal(job->other_file_count, 1000 - LEDGER_FILES_MAX);
	assert_int_equal(ledger_node(ledger)->file_system_count, 1);
	assert_string_equal(ledger_node(ledger)->file_systems[0].type, "ext4");
	assert_int_equal(count_of(&ledger_node(ledger)->file_systems[0].sums), 5999);
	assert_string_equal(other->type, LEDGER_OTHER); /* nothing is left out */
	assert_int_equal(count_of(&other->sums), 1);
	ledger_close(ledger);
}

/* Unbounded numbers of files: memory is bounded, and files in constant use keep their names. */
TEST(test_file_names_are_bounded)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_job *job;

	begin(ledger, 7, "/a", "x", 100);
	name_file(ledger, 1, "/data/hot");
	add_on(ledger, 7, 1, 110, 120, 1);
	for (uint32_t id = 2; id < 200000; id++) {
		name_file(ledger, id, "/data/cold");
		if (id % 1000 == 0)
			add_on(ledger, 7, 1, 110, 120, 1);
	}
	job = job_called(ledger, "/a");
	assert_string_equal(job->files[0].path, "/data/hot");
	assert_int_equal(count_of(&job->files[0].sums), 200);
	add_on(ledger, 7, 2, 110, 120, 1); /* long forgotten */
	assert_int_equal(count_of(&job->other_files), 1);
	ledger_close(ledger);
}

TEST(test_programs_of_a_job_are_bounded)
{
	struct ledger *ledger = open_with(roomy);
	char name[32];

	for (uint32_t pid = 1; pid <= LEDGER_COMMANDS_MAX + 4; pid++) {
		snprintf(name, sizeof(name), "program%u", pid);
		begin(ledger, pid, "/a", name, 100);
		add(ledger, pid, 110, 120, 1);
	}
	assert_int_equal(command_count(ledger, "/a", "program1"), 1);
	assert_int_equal(command_count(ledger, "/a", LEDGER_OTHER), 4);
	assert_int_equal(job_count(ledger, "/a"), LEDGER_COMMANDS_MAX + 4);
	/* An ended process makes room after its grace period. */
	ledger_exit(ledger, 1, 200);
	ledger_settle(ledger, 300);
	begin(ledger, 100, "/a", "late", 400);
	add(ledger, 100, 410, 420, 1);
	assert_int_equal(command_count(ledger, "/a", "late"), 0);
	ledger_settle(ledger, 2000);
	assert_int_equal(command_count(ledger, "/a", "program1"), 0);
	begin(ledger, 101, "/a", "later", 2100);
	add(ledger, 101, 2110, 2120, 1);
	assert_int_equal(command_count(ledger, "/a", "later"), 1);
	ledger_close(ledger);
}

/* No two rows of a job share a name: they would be exported as the same series. */
TEST(test_program_called_as_all_others)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_command *commands;

	begin(ledger, 7, "/a", LEDGER_OTHER, 100);
	add(ledger, 7, 110, 120, 3);
	commands = job_called(ledger, "/a")->commands;
	assert_int_equal(count_of(&commands[LEDGER_COMMANDS_MAX].sums), 3);
	assert_false(commands[0].used);
	ledger_exit(ledger, 7, 200);
	assert_int_equal(ledger_settle(ledger, 2000), 1);
	assert_int_equal(ledger_node(ledger)->series_used, 0);
	ledger_close(ledger);
}

/* A job is removed some time after its last process ends, and its memory is freed. */
TEST(test_jobs_go)
{
	struct ledger *ledger = open_with(roomy);

	begin(ledger, 7, "/a", "x", 100);
	begin(ledger, 8, "/b", "x", 100);
	add(ledger, 7, 110, 120, 1);
	assert_int_equal(ledger_node(ledger)->series_used, 17);
	ledger_exit(ledger, 7, 200);
	assert_int_equal(ledger_settle(ledger, 300), 0);
	assert_non_null(job_called(ledger, "/a"));
	assert_int_equal(ledger_settle(ledger, 1200), 0);
	assert_int_equal(ledger_settle(ledger, 1201), 1);
	assert_null(job_called(ledger, "/a"));
	assert_non_null(job_called(ledger, "/b"));
	assert_int_equal(ledger_node(ledger)->series_used, 0);
	assert_int_equal(ledger_node(ledger)->jobs_ended, 1);
	assert_int_equal(count_of(&ledger_node(ledger)->sums), 1);
	begin(ledger, 9, "/c", "x", 1300); /* the list still has its end */
	assert_non_null(job_called(ledger, "/c"));
	ledger_close(ledger);
}

/* A map read that outlasts the retention of jobs: the jobs it still refers to are kept. */
TEST(test_jobs_stay_until_all_is_booked)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_who moved = {
		.pid = 7, .start_ns = 100, .cgroup = "/b", .program = "x", .rank = -1
	};

	begin(ledger, 7, "/a", "sh", 100);
	ledger_exec(ledger, &moved, 5000);
	begin(ledger, 8, "/c", "short", 100);
	begin(ledger, 9, "/c", "long", 100);
	ledger_exit(ledger, 8, 5000);
	assert_int_equal(ledger_settle(ledger, 2000), 0);
	add(ledger, 7, 2100, 2200, 1);
	add(ledger, 8, 2100, 2200, 1);
	assert_int_equal(command_count(ledger, "/a", "sh"), 1);
	assert_int_equal(command_count(ledger, "/c", "short"), 1);
	assert_int_equal(ledger_settle(ledger, 10000), 1);
	assert_null(job_called(ledger, "/a"));
	assert_int_equal(command_count(ledger, "/c", "short"), 0);
	ledger_close(ledger);
}

/* Sleeps without an owner are not operations. */
/* Oldest first, for the process that has the PID now; paths and their number are bounded. */
TEST(test_in_flight)
{
	static struct ledger_in_flight many[LEDGER_IN_FLIGHT_MAX + 1];
	char path[LEDGER_PATH_BYTES + 9];
	struct ledger *ledger = open_with(roomy);
	const struct ledger_process *process;
	const struct ledger_in_flight *found;
	struct ledger_in_flight operations[] = {
		{ .pid = 8, .tid = 8, .process_start_ns = 100, .since_ns = 200, .op = "read" },
		{ .pid = 7, .tid = 9, .process_start_ns = 100, .since_ns = 300, .op = "fault" },
		{ .pid = 7,
		  .tid = 7,
		  .process_start_ns = 100,
		  .since_ns = 150,
		  .op = "openat",
		  .path = path },
	};
	size_t count;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	begin(ledger, 7, "/a", "train", 100);
	process = job_called(ledger, "/a")->processes;
	ledger_in_flight(ledger, process, &count);
	assert_int_equal(count, 0);
	ledger_set_in_flight(ledger, operations, 3);
	found = ledger_in_flight(ledger, process, &count);
	assert_int_equal(count, 2);
	assert_string_equal(found[0].op, "openat");
	assert_int_equal(strlen(found[0].path), LEDGER_PATH_BYTES - 1);
	assert_string_equal(found[1].op, "fault");
	assert_null(found[1].path);
	/* Another process that uses the same PID. */
	operations[1].process_start_ns = operations[2].process_start_ns = 1000000000;
	ledger_set_in_flight(ledger, operations, 3);
	ledger_in_flight(ledger, process, &count);
	assert_int_equal(count, 0);
	for (size_t i = 0; i <= LEDGER_IN_FLIGHT_MAX; i++)
		many[i] = (struct ledger_in_flight) { .pid = 7, .process_start_ns = 100 };
	ledger_set_in_flight(ledger, many, LEDGER_IN_FLIGHT_MAX + 1);
	ledger_in_flight(ledger, process, &count);
	assert_int_equal(count, LEDGER_IN_FLIGHT_MAX);
	ledger_set_in_flight(ledger, NULL, 0);
	ledger_in_flight(ledger, process, &count);
	assert_int_equal(count, 0);
	ledger_close(ledger);
}

TEST(test_throttled_by_nobody)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_added slept = {
		.pid = 7,
		.first_ns = 110,
		.last_ns = 120,
		.counts = { .count = 5, .time_ns = 50 },
	};

	ledger_add_throttled(ledger, &slept);
	assert_int_equal(job_called(ledger, LEDGER_UNKNOWN)->throttled.count, 5);
	assert_int_equal(ledger_node(ledger)->throttled.time_ns, 50);
	assert_int_equal(ledger_node(ledger)->uncertain_operations, 0);
	ledger_close(ledger);
}

/*
 * Series beyond the limit are folded and stay folded; folded and separate series add up to the
 * total.
 */
TEST(test_series_are_bounded)
{
	struct ledger_options options = roomy;
	struct ledger *ledger;
	const struct ledger_node *node;
	uint64_t own = 0, own_latencies = 0;
	char cgroup[32];

	options.max_series = 100;
	ledger = open_with(options);
	node = ledger_node(ledger);
	for (uint32_t pid = 1; pid <= 50; pid++) {
		snprintf(cgroup, sizeof(cgroup), "/job%u", pid);
		begin(ledger, pid, cgroup, "x", 100);
		add(ledger, pid, 110, 120, 1);
		add(ledger, pid, 120, 130, 2);
	}
	for (const struct ledger_job *job = ledger_jobs(ledger); job; job = job->next) {
		assert_int_equal(count_of(&job->sums), 3);
		if (!job->commands[0].sums.cells[0].folded)
			own += count_of(&job->commands[0].sums);
		if (!job->sums.cells[0].folded)
			own_latencies += job->sums.cells[0].latencies[3];
	}
	assert_true(node->series_used <= 100);
	assert_int_equal(node->series_used + node->series_folded, 50 * 17);
	assert_int_equal(own_latencies, 4 * 3); /* 44 of 50 */
	assert_true(own > 0);
	assert_int_equal(own + count_of(&node->folded_counts), 150);
	assert_int_equal(own_latencies + node->folded_latencies.cells[0].latencies[3], 150);
	ledger_close(ledger);
}

TEST(test_jobs_are_bounded)
{
	struct ledger *ledger = open_with(roomy);
	const uint32_t most = LEDGER_JOBS_MAX;
	char cgroup[32];

	for (uint32_t pid = 1; pid <= most + 10; pid++) {
		snprintf(cgroup, sizeof(cgroup), "/job%u", pid);
		begin(ledger, pid, cgroup, "x", 100);
		add(ledger, pid, 110, 120, 1);
	}
	assert_int_equal(job_count(ledger, LEDGER_OTHER), 10);
	assert_int_equal(ledger_node(ledger)->jobs_folded, 10);
	ledger_close(ledger);
}

/* Ten times as many short-lived processes as PIDs: nothing remains of them. */
TEST(test_short_processes)
{
	struct ledger *ledger = open_with(roomy);
	uint64_t now = 1000;

	begin(ledger, 1, "/a", "sh", now);
	for (unsigned int i = 0; i < 300000; i++, now += 10) {
		uint32_t pid = 2 + i % 30000;

		ledger_fork(ledger, 1, pid, now);
		add(ledger, pid, now + 1, now + 2, 1);
		ledger_exit(ledger, pid, now + 3);
		if (i % 100 == 99)
			ledger_settle(ledger, now + 5);
	}
	assert_int_equal(job_count(ledger, "/a"), 300000);
	assert_int_equal(job_called(ledger, "/a")->process_count, 1);
	assert_null(job_called(ledger, "/a")->processes->next);
	assert_int_equal(job_called(ledger, "/a")->ended_processes, 300000);
	assert_null(job_called(ledger, LEDGER_UNKNOWN));
	ledger_close(ledger);
}

TEST(test_moves)
{
	struct ledger *ledger = open_with(roomy);

	begin(ledger, 7, "/a", "x", 100);
	ledger_process(ledger, 7)->cgroup_set = 42;
	ledger_move(ledger, ledger_process(ledger, 7), "/b");
	assert_int_equal(ledger_process(ledger, 7)->cgroup_set, 0);
	add(ledger, 7, 110, 120, 1);
	assert_int_equal(job_count(ledger, "/b"), 1);
	assert_int_equal(job_called(ledger, "/a")->process_count, 0);
	assert_null(job_called(ledger, "/a")->processes);
	ledger_close(ledger);
}

/* --- devices --- */

static void set_device(struct ledger *ledger, const char *name, uint32_t dev, uint32_t instance,
		       uint64_t reads)
{
	struct ledger_device device = { .dev = dev };

	strcpy(device.name, name);
	device.of[LEDGER_DEVICE_READ].count = reads;
	ledger_set_device(ledger, &device, instance);
}

static uint64_t reads_of(const struct ledger *ledger, const char *name)
{
	const struct ledger_node *node = ledger_node(ledger);
	uint64_t reads = 0;

	for (unsigned int i = 0; i < node->device_count; i++)
		if (!strcmp(node->devices[i].name, name))
			reads += node->devices[i].of[LEDGER_DEVICE_READ].count;
	return reads;
}

TEST(test_devices)
{
	struct ledger *ledger = open_with(roomy);

	set_device(ledger, "first", 5, 1, 10);
	set_device(ledger, "other", 6, 2, 1);
	set_device(ledger, "first", 5, 1, 12);
	set_device(ledger, "second", 5, 3, 4); /* the number of the first */
	set_device(ledger, "first", 5, 1, 13); /* late: it is gone */
	assert_int_equal(reads_of(ledger, "first"), 12);
	assert_int_equal(reads_of(ledger, "second"), 4);
	set_device(ledger, "first", 7, 4, 3); /* again, and counts from zero */
	set_device(ledger, "second", 5, 3, 5);
	assert_int_equal(reads_of(ledger, "first"), 15);
	assert_int_equal(reads_of(ledger, "second"), 5);
	assert_int_equal(reads_of(ledger, "other"), 1);
	assert_int_equal(ledger_node(ledger)->device_count, 3);
	ledger_close(ledger);
}

/* When there is no room, a device that is gone makes room. */
TEST(test_devices_without_end)
{
	struct ledger *ledger = open_with(roomy);
	char name[32];

	for (uint32_t i = 0; i < 2 * LEDGER_DEVICES_MAX; i++) {
		snprintf(name, sizeof(name), "mount %u", i);
		set_device(ledger, name, 5, i, i + 1);
		assert_int_equal(reads_of(ledger, name), i + 1);
	}
	assert_int_equal(ledger_node(ledger)->device_count, LEDGER_DEVICES_MAX);
	ledger_close(ledger);
}
