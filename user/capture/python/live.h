/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the stacks of threads that are blocked when a recording ends, or a flight recorder writes a
 * trace: what bpf/stack/walk.h does for threads that run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A blocked thread, as the kernel side saw it. */
struct live_thread {
	uint32_t pid, tid;
	uint32_t tid_inside;	 /* in its own PID namespace */
	uint32_t runs;		 /* how often it was on a CPU */
	uint64_t thread_pointer; /* 0: unknown */
	uint32_t stack;		 /* id that the record of its stack gets; nonzero */
	uint32_t flags;		 /* result: TRACE_SAMPLE_* */
};

/* As kernel records: event_frame and event_stack. */
typedef void (*live_record_fn)(void *context, const void *record, size_t size);

#define LIVE_THREADS_MAX 16384

struct python_live;

/*
 * Starts a process that waits until it is needed: it keeps the privilege to read the memory of
 * other processes, which the tracer gives up. `files` and `processes` are the maps of
 * interpreters.h. Call before creating threads, with all privileges. Returns NULL on error: then
 * these stacks are not known.
 */
struct python_live *python_live_start(int files, int processes);

/*
 * Reads the stacks, in at most `within_ms`: a process that hangs may hold locks that reading its
 * memory has to wait for; then calls read nothing until it goes on. A stack is passed on only if
 * its thread has not run since. One thread at a time.
 * `generation` is that of the records: see frames.h. At most LIVE_THREADS_MAX threads; `live` may
 * be NULL. Returns 0; -ETIMEDOUT if stacks are missing for lack of time; -EPIPE if the process that
 * reads them has ended; -EAGAIN if that is known from an earlier call.
 */
int python_live_read(struct python_live *live, int within_ms, uint32_t generation,
		     struct live_thread *threads, uint32_t count, live_record_fn take,
		     void *context);

void python_live_close(struct python_live *live); /* NULL is fine */
