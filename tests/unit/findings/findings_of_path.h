/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces of runs that wait for something other than I/O. Each triggers one finding or, if `sound`,
 * does not.
 */
#pragma once

#include "finding_cases.h"

#define BEGAN 11 /* of process 10, in ns */

/* A thread that is `state` for `share` per cent of the run, and computes or sleeps otherwise. */
static void add_states(struct made_trace *made, uint64_t pid, uint64_t tid, enum thread_state state,
		       uint64_t share, enum thread_state rest)
{
	struct made_thread_time row = { .time = BEGAN, .dur = END - BEGAN, .pid = pid, .tid = tid };

	row.states[state] = END / 100 * share;
	row.states[rest] = row.dur - row.states[state];
	made_thread_time(made, &row);
}

/* A wait of 60 % of the run, in a call. */
static void add_long_wait(struct made_trace *made, const char *state, const char *call,
			  uint64_t waker_pid, uint64_t waker_tid)
{
	WAIT(made, .time = 100 * MS, .dur = 600 * MS, .pid = 10, .state = state, .call = call,
	     .waker_pid = waker_pid, .waker_tid = waker_tid);
}

/* Or in compute spans. */
FINDING_CASE("cpu-bound", cpu_bound)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	if (sound)
		SPAN(made, .begin = 20, .end = END - 20, .pid = 10, .tid = 10, .id = 1,
		     .name = "step", .category = "compute");
}

/* Faults of a process whose memory is small: it is replaced. Sound: it keeps all of it. */
FINDING_CASE("fresh-memory", fresh_memory_kept)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made->operations[M_ANONYMOUS] = (struct trace_operation_total) {
		.count = 500000,
		.thread_time_ns = 500 * MS,
	};
	EXIT(made, .time = END - 1, .pid = 10, .peak_rss = sound ? 500000 * 4096ull : 4096);
}

/* Huge pages: few faults, but the memory is given back. Sound: it is not. */
FINDING_CASE("fresh-memory", fresh_memory_huge)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made->operations[M_ANONYMOUS] = (struct trace_operation_total) {
		.count = 5000,
		.thread_time_ns = 500 * MS,
	};
	for (uint64_t i = 0; i < 100 && !sound; i++)
		CALL(made, .time = 100 + i * MS, .dur = US, .pid = 10, .op = M_MUNMAP, .offset = -1,
		     .asked = 100 * MIB);
	EXIT(made, .time = END - 1, .pid = 10, .peak_rss = 200 * MIB);
}

/* A few faults are a start's. */
FINDING_CASE("fresh-memory", fresh_memory)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made->operations[M_ANONYMOUS] = (struct trace_operation_total) {
		.count = sound ? 5000 : 500000,
		.thread_time_ns = sound ? 5 * MS : 500 * MS,
	};
}

/* It computes in multiprocessing, or in a function of its own. */
FINDING_CASE("pickled-data", pickled_data)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made_frame(made, 12, 1, "/job/train.py", 9, "main");
	made_frame(made, 12, 2,
		   sound ? "/job/reduction.py" : "/usr/lib/python3.11/multiprocessing/reduction.py",
		   51, "dumps");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	for (uint64_t i = 0; i < 50; i++)
		SAMPLE(made, .time = (10 + i * 19) * MS, .pid = 10, .state = "cpu", .stack = 2,
		       .weight = 20 * MS);
}

/* A pool hands out tasks, which a few messages show to be of processes; sound: it does them. */
FINDING_CASE("pickled-data", pickled_tasks)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made_frame(made, 12, 1, "/usr/lib/python3.11/multiprocessing/connection.py", 378, "_recv");
	made_frame(made, 12, 2, "/usr/lib/python3.11/multiprocessing/pool.py", 579,
		   sound ? "mapstar" : "Pool._handle_results");
	made_frame(made, 12, 3, "/usr/lib/python3.11/threading.py", 264, "Condition.__enter__");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 0, 2);
	made_stack(made, 12, 3, 2, 3);
	for (uint64_t i = 0; i < 90; i++)
		SAMPLE(made, .time = (10 + i * 10) * MS, .pid = 10, .state = "cpu",
		       .stack = i < 2	? 1
				: i % 2 ? 2
					: 3,
		       .weight = 10 * MS);
}

/* A spawned worker loads its dataset; sound: it runs what that imports. */
FINDING_CASE("pickled-data", pickled_start)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made_frame(made, 12, 1, "/usr/lib/python3.11/multiprocessing/spawn.py", 130, "_main");
	made_frame(made, 12, 2, sound ? "/job/data.py" : "/usr/lib/python3.11/threading.py", 3,
		   "Lock.acquire");
	made_stack(made, 12, 1, 0, 1);
	made_stack(made, 12, 2, 1, 2);
	for (uint64_t i = 0; i < 50; i++)
		SAMPLE(made, .time = (10 + i * 19) * MS, .pid = 10, .state = "cpu", .stack = 2,
		       .weight = 20 * MS);
}

/* The main thread writes a spawned worker's dataset; sound: it copies itself. */
FINDING_CASE("pickled-data", pickled_launch)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	made_frame(made, 12, 1,
		   sound ? "/usr/lib/python3.11/multiprocessing/popen_fork.py"
			 : "/usr/lib/python3.11/multiprocessing/popen_spawn_posix.py",
		   62, "Popen._launch");
	made_stack(made, 12, 1, 0, 1);
	for (uint64_t i = 0; i < 50; i++)
		SAMPLE(made, .time = (10 + i * 19) * MS, .pid = 10, .state = "cpu", .stack = 1,
		       .weight = 20 * MS);
}

/* A worker computes while the main thread waits for it, or for an unknown process. */
FINDING_CASE("worker-bound", worker_bound)
{
	made_fork(made, 20, 10, 11);
	add_states(made, 10, 10, THREAD_PIPE, 60, THREAD_SLEEP);
	add_states(made, 11, 11, THREAD_CPU, 90, THREAD_SLEEP);
	add_long_wait(made, "pipe", "read", sound ? 99 : 11, 0);
}

/* A thread that saves in the main one's place would, too. */
FINDING_CASE("save-waits", save_without_cpus)
{
	add_states(made, 10, 10, THREAD_CPU, 45, sound ? THREAD_RUNNABLE : THREAD_SLEEP);
	add_file(made, 1, 64 * MIB, "/data/checkpoint");
	CALL(made, .time = 100, .dur = 300 * MS, .pid = 10, .op = M_WRITE, .file = 1,
	     .asked = 64 * MIB, .result = 64 * MIB);
}

/* Nothing follows the only save that could hide it. */
FINDING_CASE("save-waits", save_at_the_end)
{
	add_states(made, 10, 10, THREAD_CPU, 99, THREAD_SLEEP);
	add_file(made, 1, 64 * MIB, "/data/model");
	for (uint64_t i = 0; i < 4; i++)
		CALL(made, .time = (sound ? 649 : 100) * MS + i * 90 * MS, .dur = 80 * MS,
		     .pid = 10, .op = M_WRITE, .file = 1, .offset = i * 16 * MIB, .asked = 16 * MIB,
		     .result = 16 * MIB);
}

/* Another thread of the process does. */
FINDING_CASE("helper-bound", helper_bound)
{
	add_states(made, 10, 10, THREAD_LOCK, 60, THREAD_SLEEP);
	add_states(made, 10, 12, THREAD_CPU, 90, THREAD_SLEEP);
	add_long_wait(made, "lock", "futex", 10, sound ? 99 : 12);
}

/* Several threads do, each less than the main one. */
FINDING_CASE("helper-bound", helpers_bound)
{
	add_states(made, 10, 10, THREAD_LOCK, 60, THREAD_CPU);
	for (uint64_t i = 0; i < 3; i++) {
		add_states(made, 10, 12 + i, THREAD_CPU, 90, THREAD_SLEEP);
		WAIT(made, .time = (100 + i * 200) * MS, .dur = 200 * MS, .pid = 10,
		     .state = "lock", .call = "futex", .waker_pid = 10,
		     .waker_tid = sound ? 99 : 12 + i);
	}
}

/* One does in part of the time; sound: in little of it. */
FINDING_CASE("helper-bound", helper_bound_in_part)
{
	const uint64_t share = sound ? 8 : 25;

	add_states(made, 10, 10, THREAD_LOCK, share, THREAD_CPU);
	add_states(made, 10, 12, THREAD_CPU, 90, THREAD_SLEEP);
	WAIT(made, .time = 100 * MS, .dur = share * 10 * MS, .pid = 10, .state = "lock",
	     .call = "futex", .waker_pid = 10, .waker_tid = 12);
}

FINDING_CASE("cpu-starved", cpu_starved)
{
	add_states(made, 10, 10, sound ? THREAD_STORAGE : THREAD_RUNNABLE, 30, THREAD_CPU);
}

/* Reads that take long since the thread waits for a CPU in them are no reason to change reads;
 * sound: blocked for storage. */
static void add_slow_reads(struct made_trace *made, enum thread_state state)
{
	struct made_thread_time row = {
		.time = 11,
		.dur = END - 11,
		.pid = 10,
		.io = 400 * MS,
		.io_wait = 350 * MS,
	};

	row.states[state] = 350 * MS;
	row.states[THREAD_CPU] = row.dur - 350 * MS;
	made_thread_time(made, &row);
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 20, .op = M_PREAD, .bytes = MIB, .step = MIB, .dur = 20 * MS);
}

FINDING_CASE("cpu-starved", cpu_starved_in_reads)
{
	add_slow_reads(made, sound ? THREAD_STORAGE : THREAD_RUNNABLE);
}

FINDING_CASE("read-bound", read_bound_but_starved)
{
	add_slow_reads(made, sound ? THREAD_RUNNABLE : THREAD_STORAGE);
}

FINDING_CASE("sleeps", sleeps)
{
	add_states(made, 10, 10, THREAD_SLEEP, sound ? 3 : 60, THREAD_CPU);
	if (!sound)
		add_long_wait(made, "sleep", "clock_nanosleep", 0, 0);
}

/* Ended by a thread outside the run, or by one of the run. */
FINDING_CASE("peer-waits", peer_waits)
{
	made_fork(made, 20, 10, 11);
	add_states(made, 10, 10, THREAD_PIPE, 60, THREAD_CPU);
	add_states(made, 11, 11, sound ? THREAD_CPU : THREAD_LOCK, 99, THREAD_OTHER);
	add_long_wait(made, "pipe", "recvfrom", sound ? 11 : 99, 0);
}

/* Too briefly each time for rows, while a program computes; sound: it computes itself. */
FINDING_CASE("peer-waits", peer_waits_briefly)
{
	made_fork(made, 20, 10, 11);
	EXEC(made, .time = 21, .pid = 11, .ppid = 10, .comm = "gzip", .command = "gzip",
	     .rank = -1);
	add_states(made, 10, 10, sound ? THREAD_CPU : THREAD_PIPE, 60, THREAD_CPU);
	add_states(made, 11, 11, THREAD_CPU, 60, THREAD_OTHER);
}

FINDING_CASE("lock-waits", lock_waits)
{
	add_states(made, 10, 10, THREAD_LOCK, 60, THREAD_CPU);
	add_states(made, 10, 12, THREAD_CPU, sound ? 90 : 1, THREAD_SLEEP);
	add_long_wait(made, "lock", "futex", 10, sound ? 12 : 99);
}

/* Too briefly each time for rows, for threads that read with the lock; sound: they wait for CPUs.
 */
FINDING_CASE("lock-waits", lock_waits_briefly)
{
	add_states(made, 10, 10, THREAD_LOCK, 60, THREAD_CPU);
	add_states(made, 10, 12, sound ? THREAD_RUNNABLE : THREAD_STORAGE, 70, THREAD_CPU);
}

/* A thread that waits for a CPU has work to do, too. */
FINDING_CASE("lock-waits", lock_waits_runnable)
{
	add_states(made, 10, 10, THREAD_LOCK, 60, THREAD_CPU);
	add_states(made, 10, 12, sound ? THREAD_RUNNABLE : THREAD_OTHER, 90, THREAD_SLEEP);
	add_long_wait(made, "lock", "futex", 10, 99);
}

FINDING_CASE("memory-waits", memory_waits)
{
	add_states(made, 10, 10, sound ? THREAD_CPU : THREAD_MEMORY, 40, THREAD_CPU);
}

FINDING_CASE("device-waits", device_waits)
{
	add_states(made, 10, 10, sound ? THREAD_CPU : THREAD_DEVICE, 40, THREAD_CPU);
}

FINDING_CASE("stopped", stopped)
{
	add_states(made, 10, 10, sound ? THREAD_CPU : THREAD_STOPPED, 40, THREAD_CPU);
}

/* One rank computes while the others wait for it, or all do as much. */
FINDING_CASE("rank-behind", rank_behind)
{
	for (uint64_t rank = 0; rank < 3; rank++) {
		EXEC(made, .time = BEGAN, .pid = 30 + rank, .comm = "r", .command = "r",
		     .rank = rank);
		add_states(made, 30 + rank, 30 + rank, THREAD_CPU, rank == 1 && !sound ? 80 : 30,
			   THREAD_PIPE);
	}
}

/* As before; sound: no CPU is free for a part of its work. */
FINDING_CASE("rank-behind", rank_behind_next_to_others)
{
	rank_behind(made, false);
	for (uint64_t pid = 40; pid < 42; pid++)
		add_states(made, pid, pid, sound ? THREAD_RUNNABLE : THREAD_OTHER, 99,
			   THREAD_SLEEP);
}

/* One computes after the other has ended; sound: both end together. */
FINDING_CASE("rank-behind", rank_ends)
{
	for (uint64_t rank = 0; rank < 2; rank++) {
		const uint64_t dur = rank || sound ? END - BEGAN - MS : 300 * MS;

		EXEC(made, .time = BEGAN, .pid = 30 + rank, .comm = "r", .command = "r",
		     .rank = rank);
		THREAD_TIME(made, .time = BEGAN, .dur = dur, .pid = 30 + rank,
			    .states = { [THREAD_CPU] = dur });
		EXIT(made, .time = BEGAN + dur, .pid = 30 + rank);
	}
}

/* One polls for another, which computes; sound: which sleeps as well. */
FINDING_CASE("rank-behind", rank_polls)
{
	for (uint64_t rank = 0; rank < 2; rank++) {
		EXEC(made, .time = BEGAN, .pid = 30 + rank, .comm = "r", .command = "r",
		     .rank = rank);
		add_states(made, 30 + rank, 30 + rank, rank || sound ? THREAD_SLEEP : THREAD_CPU,
			   60, THREAD_CPU);
	}
}

/* One sleeps; sound: each waits for the other. */
FINDING_CASE("rank-behind", rank_sleeps)
{
	for (uint64_t rank = 0; rank < 2; rank++) {
		EXEC(made, .time = BEGAN, .pid = 30 + rank, .comm = "r", .command = "r",
		     .rank = rank);
		add_states(made, 30 + rank, 30 + rank,
			   rank == 1 && !sound ? THREAD_SLEEP : THREAD_PIPE, 60, THREAD_CPU);
	}
}
