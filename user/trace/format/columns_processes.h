/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processes, threads, and the spans that they mark: columns and fields (see columns.h). */
#pragma once

/* clang-format off */
#define TRACE_FIELDS_FORK(COLUMN, HIDDEN)                                                          \
	COLUMN(FORK_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(FORK_PID, 1, "pid", UINT, NONE, HEAD(pid), "parent process")                        \
	COLUMN(FORK_TID, 2, "tid", UINT, NONE, HEAD(tid), "calling thread")                        \
	COLUMN(FORK_CHILD_PID, 3, "child_pid", UINT, NONE, FIELD(__u32, child_pid),                \
	       "new process; equal to pid for a thread")                                           \
	COLUMN(FORK_CHILD_TID, 4, "child_tid", UINT, NONE, FIELD(__u32, child_tid), "new thread")

#define TRACE_FIELDS_EXEC(COLUMN, HIDDEN)                                                          \
	COLUMN(EXEC_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(EXEC_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(EXEC_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(EXEC_STARTED, 10, "started_ns", UINT, NS, FIELD(__u64, started_ns),                 \
	       "start of the process on the trace's clock; before the recording if it was "        \
	       "already running")                                                                  \
	HIDDEN(__u64, cgroup_id)                                                                   \
	COLUMN(EXEC_CGROUP, 7, "cgroup", STRING, NONE, BY_HAND, "cgroup")                          \
	HIDDEN(__u64, cgroup_set) /* same for tasks in the same cgroups; address, only compared */ \
	COLUMN(EXEC_PPID, 3, "ppid", UINT, NONE, FIELD(__u32, ppid), "parent process")             \
	COLUMN(EXEC_UID, 4, "uid", UINT, NONE, FIELD(__u32, uid), "user")                          \
	COLUMN(EXEC_COMM, 5, "comm", STRING, NONE, TEXT(EVENT_COMM_BYTES, comm), "program name")   \
	HIDDEN(__u32, command_bytes) /* arguments, each with its NUL */                            \
	COLUMN(EXEC_FLAGS, 9, "flags", UINT, NONE, FIELD(__u32, flags), "TRACE_EXEC_* of flags.h") \
	HIDDEN(struct event_ranks, ranks)                                                          \
	COLUMN(EXEC_RANK, 8, "rank", INT, NONE, BY_HAND, "rank from the environment; -1: none")    \
	HIDDEN(__u32, pad)                                                                         \
	HIDDEN(char, command[])                                                                    \
	COLUMN(EXEC_COMMAND, 6, "command", STRING, NONE, BY_HAND,                                  \
	       "command line, arguments separated by NUL")

#define TRACE_FIELDS_EXIT(COLUMN, HIDDEN)                                                          \
	COLUMN(EXIT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(EXIT_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(EXIT_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(EXIT_MAJOR, 6, "major", UINT, COUNT, FIELD(__u64, major_faults),                    \
	       "major faults of this thread, as counted by the kernel; 0 if it continues under "   \
	       "the process's id after exec")                                                      \
	COLUMN(EXIT_MINOR, 7, "minor", UINT, COUNT, FIELD(__u64, minor_faults),                    \
	       "minor faults, likewise")                                                           \
	COLUMN(EXIT_OOM_LIMIT, 10, "oom_limit", UINT, BYTES, FIELD(__u64, oom_limit_bytes),        \
	       "memory limit of the cgroup that was out of memory then, for the thread through "  \
	       "which it was chosen; 0: unknown, or the machine was")                             \
	COLUMN(EXIT_PEAK_RSS, 11, "peak_rss", UINT, BYTES, FIELD(__u64, peak_rss_bytes),           \
	       "most memory of the process that was resident at once, as getrusage counts it "     \
	       "(ru_maxrss), if it ended; 0: unknown")                                             \
	COLUMN(EXIT_COMM, 5, "comm", STRING, NONE, TEXT(EVENT_COMM_BYTES, comm),                   \
	       "name of the thread")                                                               \
	COLUMN(EXIT_PROCESS, 3, "process", UINT, NONE, FIELD(__u32, process_ends),                 \
	       "1 if this was the last thread of the process")                                     \
	COLUMN(EXIT_CODE, 4, "code", UINT, NONE, FIELD(__u32, code),                               \
	       "wait status of the process, valid if it ended")                                    \
	COLUMN(EXIT_OOM, 8, "oom", UINT, NONE, FIELD(__u32, oom),                                  \
	       "1 if the OOM killer chose the process")                        \
	HIDDEN(__u32, stack)                                                                       \
	COLUMN(EXIT_STACK, 9, "stack", UINT, NONE, BY_HAND,                                        \
	       "id of the thread's stack when a signal, or its call of exit_group with a status "  \
	       "other than 0, ended the process; 0: unknown, or another thread ended it")

/* The times of a thread in the states of thread_states.h, in their order. */
#define TRACE_FIELDS_THREAD_TIME(COLUMN, HIDDEN)                                                   \
	COLUMN(THREAD_TIME_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start of the interval")       \
	COLUMN(THREAD_TIME_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                        \
	COLUMN(THREAD_TIME_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                         \
	COLUMN(THREAD_TIME_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                     \
	       "length of the interval; the times in the states add up to it")                     \
	COLUMN(THREAD_TIME_CPU, 4, "cpu", UINT, NS, FIELD(__u64, cpu_ns), "on a CPU")              \
	COLUMN(THREAD_TIME_RUNNABLE, 5, "runnable", UINT, NS, FIELD(__u64, runnable_ns),           \
	       "ready to run, but waiting for a CPU")                                              \
	COLUMN(THREAD_TIME_STORAGE, 6, "storage", UINT, NS, FIELD(__u64, storage_ns),              \
	       "blocked for storage")                                                              \
	COLUMN(THREAD_TIME_MEMORY, 7, "memory", UINT, NS, FIELD(__u64, memory_ns),                 \
	       "blocked for memory")                                                               \
	COLUMN(THREAD_TIME_LOCK, 8, "lock", UINT, NS, FIELD(__u64, lock_ns), "blocked on a lock")  \
	COLUMN(THREAD_TIME_PIPE, 9, "pipe", UINT, NS, FIELD(__u64, pipe_ns),                       \
	       "blocked on a pipe or socket, or in poll")                                          \
	COLUMN(THREAD_TIME_CHILD, 10, "child", UINT, NS, FIELD(__u64, child_ns),                   \
	       "blocked until a child ends")                                                       \
	COLUMN(THREAD_TIME_SLEEP, 11, "sleep", UINT, NS, FIELD(__u64, sleep_ns), "asleep")         \
	COLUMN(THREAD_TIME_DEVICE, 12, "device", UINT, NS, FIELD(__u64, device_ns),                \
	       "blocked in a device's driver")                                                     \
	COLUMN(THREAD_TIME_STOPPED, 13, "stopped", UINT, NS, FIELD(__u64, stopped_ns), "stopped")  \
	COLUMN(THREAD_TIME_OTHER, 14, "other", UINT, NS, FIELD(__u64, other_ns),                   \
	       "blocked elsewhere, or interrupted on a CPU")                                       \
	COLUMN(THREAD_TIME_IO_WAIT, 15, "io_wait", UINT, NS, FIELD(__u64, io_wait_ns),             \
	       "part of the interval off CPU inside recorded I/O operations, in any state")        \
	COLUMN(THREAD_TIME_USER, 16, "user", UINT, NS, FIELD(__u64, user_ns),                      \
	       "user time as the kernel counts it for getrusage, mostly in ticks")                 \
	COLUMN(THREAD_TIME_SYSTEM, 17, "system", UINT, NS, FIELD(__u64, system_ns),                \
	       "system time, likewise")                                                            \
	COLUMN(THREAD_TIME_IO, 18, "io", UINT, NS, FIELD(__u64, io_ns),                            \
	       "time of the I/O operations that ended in the interval: off CPU, and on it")

/* The reason why a thread was blocked. */
#define TRACE_FIELDS_WAIT(COLUMN, HIDDEN)                                                          \
	COLUMN(WAIT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start")                              \
	COLUMN(WAIT_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(WAIT_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(WAIT_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                            \
	       "time from leaving the CPU until it was woken; then it waits for a CPU")            \
	COLUMN(WAIT_OBJECT, 6, "object", UINT, NONE, FIELD(__u64, object),                         \
	       "what it waited for: address of the futex, id of the SysV semaphores, inode "       \
	       "number of the pipe, socket, queue or locked file, device number, PID of the "      \
	       "child; 0 if unknown, or any child")                                                \
	COLUMN(WAIT_WAKER_PID, 7, "waker_pid", UINT, NONE, FIELD(__u32, waker_pid),                \
	       "process that ended the wait; 0 if unknown, or none did")                           \
	COLUMN(WAIT_WAKER_TID, 8, "waker_tid", UINT, NONE, FIELD(__u32, waker_tid), "its thread")  \
	COLUMN(WAIT_OWNER_PID, 10, "owner_pid", UINT, NONE, FIELD(__u32, owner_pid),               \
	       "process that had the lock when the wait began; 0 if unknown, as of all but "       \
	       "priority-inheriting futexes")                                                      \
	COLUMN(WAIT_OWNER_TID, 11, "owner_tid", UINT, NONE, FIELD(__u32, owner_tid),               \
	       "its thread")                                                                       \
	HIDDEN(__u16, state)                                                                       \
	COLUMN(WAIT_STATE, 4, "state", STRING, NONE, BY_HAND, "state, as thread_time names them")  \
	HIDDEN(__u16, call)                                                                        \
	COLUMN(WAIT_CALL, 5, "call", STRING, NONE, BY_HAND,                                        \
	       "name of the system call that it waited in; empty if none, or not one that waits")  \
	COLUMN(WAIT_FLAGS, 9, "flags", UINT, NONE, FIELD(__u32, flags), "TRACE_WAIT_* of flags.h")

#define TRACE_FIELDS_SPAN_BEGIN(COLUMN, HIDDEN)                                                    \
	COLUMN(SPAN_BEGIN_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                         \
	COLUMN(SPAN_BEGIN_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                         \
	COLUMN(SPAN_BEGIN_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                          \
	COLUMN(SPAN_BEGIN_ID, 3, "id", UINT, NONE, FIELD(__u64, id),                               \
	       "id given by the program, unique in the process")                                   \
	HIDDEN(__u16, name_bytes) /* sizes without NULs */                                         \
	HIDDEN(__u16, category_bytes)                                                              \
	HIDDEN(__u16, args_bytes)                                                                  \
	COLUMN(SPAN_BEGIN_FLAGS, 7, "flags", UINT, NONE, FIELD(__u16, flags),                      \
	       "TRACE_SPAN_* of flags.h")                                                          \
	HIDDEN(char, text[]) /* name, category, arguments */                                       \
	COLUMN(SPAN_BEGIN_NAME, 4, "name", STRING, NONE, BY_HAND, "name")                          \
	COLUMN(SPAN_BEGIN_CATEGORY, 5, "category", STRING, NONE, BY_HAND, "category")              \
	COLUMN(SPAN_BEGIN_ARGS, 6, "args", STRING, NONE, BY_HAND,                                  \
	       "arguments: a msgpack map from the program, or nothing")

#define TRACE_FIELDS_SPAN_END(COLUMN, HIDDEN)                                                      \
	COLUMN(SPAN_END_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                           \
	COLUMN(SPAN_END_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                           \
	COLUMN(SPAN_END_TID, 2, "tid", UINT, NONE, HEAD(tid),                                      \
	       "thread, possibly not the one that began it")                                       \
	COLUMN(SPAN_END_ID, 3, "id", UINT, NONE, FIELD(__u64, id),                                 \
	       "id of the span; may match no span")

/* Its record is that of SPAN_BEGIN, with id 0. */
#define TRACE_FIELDS_INSTANT(COLUMN, HIDDEN)                                                       \
	COLUMN(INSTANT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                            \
	COLUMN(INSTANT_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                            \
	COLUMN(INSTANT_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                             \
	COLUMN(INSTANT_NAME, 3, "name", STRING, NONE, BY_HAND, "name")                             \
	COLUMN(INSTANT_CATEGORY, 4, "category", STRING, NONE, BY_HAND, "category")                 \
	COLUMN(INSTANT_ARGS, 5, "args", STRING, NONE, BY_HAND, "arguments, as in span_begin")      \
	COLUMN(INSTANT_FLAGS, 6, "flags", UINT, NONE, FIELD(__u16, flags),                         \
	       "TRACE_SPAN_* of flags.h")
/* clang-format on */
