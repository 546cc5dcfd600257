/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The time of threads in each state, from rows of the layer thread. */
#pragma once

#include "analysis/table/table.h"
#include "trace/format/thread_states.h"

struct job;
struct results;

/* Sums over threads, in ns. */
struct thread_times {
	uint64_t time_ns; /* of their lives; the states add up to it */
	uint64_t states[THREAD_STATE_COUNT];
	uint64_t io_wait_ns;	     /* off CPU inside I/O operations */
	uint64_t io_ns;		     /* of I/O operations that have ended */
	uint64_t user_ns, system_ns; /* as the kernel samples them */
};

#define THREAD_NONE 0 /* in place of a tid: threads of a process without a row of their own */

struct thread {
	uint32_t process, tid;
	uint64_t start_ns, end_ns; /* on the job's clock */
	struct thread_times times;
};

/* Returns the threads, by process and start; valid in conclude(). */
const struct thread *threads_all(const struct results *results, size_t *count);

/* Returns what a thread is to its program, a static text. */
const char *thread_kind(const struct job *job, uint32_t process, uint32_t tid);
/* ... and what the first thread of a process is, by the module of Python's multiprocessing that
 * runs in it, if any. */
const char *process_kind(const struct job *job, uint32_t number);
#define THREAD_KIND_MEANING                                                                        \
	"main: the first thread of a program; worker: the first thread of a process that it "      \
	"forked without exec, or started by Python's multiprocessing; helper: any other thread, "  \
	"and the first one of multiprocessing's own servers (forkserver, resource_tracker); "      \
	"other: threads without a row of their own, of which there are too many"

/* Returns whether two processes, or those that forked them, run the same: a program with the same
 * options and first argument, such as the same Python script. */
bool process_runs_same(const struct job *job, uint32_t number, uint32_t other);

/* Returns the part of a thread's time on a CPU that was inside I/O operations, in ns. */
uint64_t thread_times_io_cpu(const struct thread_times *times);
/* Returns the part of the time of all threads' operations that was on a CPU; 0 if unknown. */
double threads_cpu_of_io(const struct results *results);
/* Returns the part of operations' time that was on a CPU or waiting for one, leaving out time
 * blocked for storage. Operations get the same part of the CPU waits as of the CPU time. */
double threads_busy_of_io(const struct results *results);
/* Returns the time of all threads on a CPU in the kernel, outside operations, in ns: entering,
 * leaving and recording them, and page faults without I/O. 0 if unknown. */
uint64_t threads_kernel_ns(const struct results *results);
void thread_times_add(struct thread_times *sum, const struct thread_times *times);
/* Returns the time that all threads were on a CPU or waited for one, in ns; 0 if unknown. */
uint64_t threads_computing_ns(const struct results *results);
/* Returns the part of work that finds a free CPU if another thread does it. None does if threads
 * spent half of the time in which they could run waiting for a CPU: two that share one do. 1 if
 * unknown. */
double threads_free_cpus(const struct results *results);
/* Returns the time that a process's first thread was blocked for storage, in ns; UINT64_MAX if
 * unknown. */
uint64_t threads_main_storage_ns(const struct results *results, uint32_t process);
/* The columns that identify a thread, for tables whose rows begin with them. */
struct thread_key {
	uint64_t pid, tid;
	int64_t rank;
	const char *kind, *host;
	struct table_text comm;
};
struct thread_key thread_key_of(const struct job *job, uint32_t process, uint32_t tid);
void thread_key_add_columns(struct table *table);
/* Adds the columns of such times; `base` is the offset of a struct thread_times in the row. */
void thread_times_add_columns(struct table *table, size_t base);
/* Marks a table as absent, and returns true, if the times of threads are not known. */
bool threads_absent(struct table *table, const struct job *job);

/* The columns, as struct analysis lists what is shown. */
#define THREAD_STATES_SHOWN                                                                        \
	"states.cpu,states.runnable,states.storage,states.lock,states.pipe,states.child,"          \
	"states.sleep,states.memory,states.device,states.stopped,states.other"
