/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The states of a thread, listed once: STATE(ID, name, title, meaning). At each moment a thread is
 * in exactly one of them. A trace has their times in this order. Append-only.
 */
#pragma once

#include <stddef.h>

#define THREAD_STATES(STATE)                                                                       \
	STATE(CPU, "cpu", "on CPU", "on a CPU, in user or kernel mode")                            \
	STATE(RUNNABLE, "runnable", "CPU wait",                                                    \
	      "ready to run, but waiting for a CPU (run-queue delay)")                             \
	STATE(STORAGE, "storage", "storage",                                                       \
	      "blocked in an I/O operation on files, in a fault on a file mapping, or for "        \
	      "completions of io_uring or libaio")                                                 \
	STATE(MEMORY, "memory", "memory",                                                          \
	      "blocked for memory: reclaim, swap-in, or throttling by a memory limit")             \
	STATE(LOCK, "lock", "lock", "blocked on a lock: futex, semaphore or file lock")            \
	STATE(PIPE, "pipe", "pipe",                                                                \
	      "blocked on a pipe, socket, eventfd or message queue, or in poll, select or epoll")  \
	STATE(CHILD, "child", "child", "blocked until a child process ends or executes a program") \
	STATE(SLEEP, "sleep", "sleep", "asleep until a time, or until a signal")                   \
	STATE(DEVICE, "device", "device", "blocked in a device's driver, such as a GPU's")         \
	STATE(STOPPED, "stopped", "stopped", "stopped by a signal, a debugger or the freezer")     \
	STATE(OTHER, "other", "other",                                                             \
	      "blocked elsewhere in the kernel; and time taken from it on a CPU by interrupts or " \
	      "the hypervisor")

#define THREAD_STATE_ENUM(id, ...) THREAD_##id,
enum thread_state { THREAD_STATES(THREAD_STATE_ENUM) THREAD_STATE_COUNT };

/* The state of a sample: an operation's time, on a CPU or blocked. */
#define SAMPLE_IO THREAD_STATE_COUNT
#define SAMPLE_IO_NAME "io"
