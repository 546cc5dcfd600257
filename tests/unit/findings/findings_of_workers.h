/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces of runs that fork workers again and again, or, if `sound`, similar ones that need to. */
#pragma once

#include "finding_cases.h"

/* A worker per epoch takes its time until the first result, or they go on from the beginning. */
static void renew_workers(struct made_trace *made, bool sound)
{
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		THREAD_TIME(made, .time = begins, .dur = 140 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = 140 * MS });
		for (uint64_t wait = 0; wait < 2; wait++)
			WAIT(made, .time = begins + 1 + wait * 70 * MS,
			     .dur = wait && !sound ? MS : 60 * MS, .pid = 10, .tid = 10,
			     .state = "pipe", .call = "poll", .waker_pid = pid, .waker_tid = pid);
		EXIT(made, .time = begins + 140 * MS, .pid = pid);
	}
	THREAD_TIME(made, .time = 10, .dur = END - 10, .pid = 10, .tid = 10,
		    .states = { [THREAD_PIPE] = 400 * MS, [THREAD_CPU] = END - 10 - 400 * MS });
}

FINDING_CASE("workers-renewed", workers_renewed)
{
	renew_workers(made, sound);
}

/* Each does one task: that is work. */
FINDING_CASE("workers-renewed", renewed_for_each_task)
{
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		THREAD_TIME(made, .time = begins, .dur = 140 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = 140 * MS });
		WAIT(made, .time = begins + 1, .dur = 100 * MS, .pid = 10, .tid = 10,
		     .state = "pipe", .call = "poll", .waker_pid = pid, .waker_tid = pid);
		if (!sound)
			WAIT(made, .time = begins + 110 * MS, .dur = MS, .pid = 10, .tid = 10,
			     .state = "pipe", .call = "poll", .waker_pid = pid, .waker_tid = pid);
		EXIT(made, .time = begins + 140 * MS, .pid = pid);
	}
	THREAD_TIME(made, .time = 10, .dur = END - 10, .pid = 10, .tid = 10,
		    .states = { [THREAD_PIPE] = 500 * MS, [THREAD_CPU] = END - 10 - 500 * MS });
}

/* Each does one task, by stack 2, after which it ends. */
static void renew_for_tasks(struct made_trace *made)
{
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		THREAD_TIME(made, .time = begins, .dur = 140 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = 140 * MS });
		WAIT(made, .time = begins + 1, .dur = 130 * MS, .pid = 10, .tid = 10,
		     .state = "child", .call = "wait4", .waker_pid = pid, .waker_tid = pid);
		for (uint64_t j = 0; j < 7; j++)
			SAMPLE(made, .time = begins + j * 20 * MS, .pid = pid, .tid = pid,
			       .state = "cpu", .stack = 2, .weight = 20 * MS);
		EXIT(made, .time = begins + 140 * MS, .pid = pid);
	}
	THREAD_TIME(made, .time = 10, .dur = END - 10, .pid = 10, .tid = 10,
		    .states = { [THREAD_CHILD] = 650 * MS, [THREAD_CPU] = END - 10 - 650 * MS });
}

/* Each imports modules before its task; sound: the task takes as long. */
FINDING_CASE("workers-renewed", renewed_that_import)
{
	made_frame(made, 12, 1, "/job/train.py", 9, "work");
	made_frame(made, 12, 2, sound ? "/job/decode.py" : "<frozen importlib._bootstrap>", 241,
		   "f");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	renew_for_tasks(made);
}

/* Each prepares its interpreter; sound: works in the same module. */
FINDING_CASE("workers-renewed", renewed_after_fork)
{
	made_frame(made, 12, 1, "/usr/lib/python3.11/multiprocessing/process.py", 108,
		   sound ? "BaseProcess.run" : "BaseProcess._bootstrap");
	made_frame(made, 12, 2, "/usr/lib/python3.11/threading.py", 1638, "_after_fork");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	renew_for_tasks(made);
}

/* The same in a library; sound: its function replaces BaseProcess.run. */
FINDING_CASE("workers-renewed", renewed_in_own_run)
{
	made_frame(made, 12, 1, "/usr/lib/python3.11/multiprocessing/process.py", 314,
		   "BaseProcess._bootstrap");
	made_frame(made, 12, 2, "/usr/lib/python3/dist-packages/job/loader.py", 9,
		   sound ? "Loader.run" : "Loader._close");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	renew_for_tasks(made);
}

/* Each takes long to end once it has done its tasks; sound: the last task does. */
FINDING_CASE("workers-renewed", renewed_and_joined)
{
	made_frame(made, 12, 1, "/job/train.py", 9, "work");
	made_stack(made, 12, 1, 0, 1);
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		THREAD_TIME(made, .time = begins, .dur = 140 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = 140 * MS });
		for (uint64_t wait = 0; wait < 3; wait++)
			WAIT(made, .time = begins + 1 + wait * 20 * MS,
			     .dur = wait == 2 ? 99 * MS : 10 * MS, .pid = 10, .tid = 10,
			     .state = "pipe", .call = "poll", .waker_pid = pid, .waker_tid = pid);
		for (uint64_t j = 0; j < 7; j++)
			SAMPLE(made, .time = begins + MS + j * 20 * MS, .pid = pid, .tid = pid,
			       .state = "cpu", .stack = sound || j < 2 ? 1 : 0, .weight = 20 * MS);
		EXIT(made, .time = begins + 140 * MS, .pid = pid);
	}
	THREAD_TIME(made, .time = 10, .dur = END - 10, .pid = 10, .tid = 10,
		    .states = { [THREAD_PIPE] = 600 * MS, [THREAD_CPU] = END - 10 - 600 * MS });
}

/* The forks themselves take long; sound: something else does. */
FINDING_CASE("workers-renewed", renewed_by_long_forks)
{
	const char *source =
		sound ? "/job/train.py" : "/usr/lib/python3.11/multiprocessing/popen_fork.py";

	made_frame(made, 12, 1, "/job/train.py", 9, "main");
	made_frame(made, 12, 2, source, 66, "_launch");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	for (uint64_t i = 0; i < 5; i++) {
		const uint64_t pid = 20 + i, begins = 100 + i * 150 * MS;

		made_fork(made, begins, 10, pid);
		THREAD_TIME(made, .time = begins, .dur = 40 * MS, .pid = pid, .tid = pid,
			    .states = { [THREAD_CPU] = 40 * MS });
		EXIT(made, .time = begins + 40 * MS, .pid = pid);
	}
	for (uint64_t i = 0; i < 40; i++)
		SAMPLE(made, .time = (10 + i * 20) * MS, .pid = 10, .state = "cpu", .stack = 2,
		       .weight = 20 * MS);
	THREAD_TIME(made, .time = 10, .dur = END - 10, .pid = 10, .tid = 10,
		    .states = { [THREAD_CPU] = END - 10 });
}

/* A shell forks, before it executes another program. */
FINDING_CASE("workers-renewed", renewed_by_shell)
{
	renew_workers(made, false);
	if (sound)
		EXEC(made, .time = 800 * MS, .pid = 10, .comm = "b", .command = "b", .rank = -1);
}
