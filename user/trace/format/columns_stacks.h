/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Stacks, and samples that have one: columns and fields (see columns.h). */
#pragma once

/* clang-format off */
/* A code object of CPython, when its first frame is recorded. The user side makes a row for each
 * line of it that a stack contains. */
#define TRACE_FIELDS_FRAME(COLUMN, HIDDEN)                                                         \
	COLUMN(FRAME_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                      \
	       "time at which it was first recorded")                                              \
	COLUMN(FRAME_ID, 1, "id", UINT, NONE, BY_HAND, "frame id used by stacks")                  \
	COLUMN(FRAME_SOURCE, 2, "source", STRING, NONE, BY_HAND,                                   \
	       "source file, as the interpreter names it; of compiled code, its file")             \
	COLUMN(FRAME_LINE, 3, "line", UINT, NONE, BY_HAND, "line; 0: unknown")                     \
	COLUMN(FRAME_FUNCTION, 4, "function", STRING, NONE, BY_HAND, "qualified name")             \
	HIDDEN(__u64, code) /* the object's address, */                                            \
	HIDDEN(__u32, check) /* and a hash of its contents */                                      \
	HIDDEN(__u32, generation)                                                                  \
	HIDDEN(__u32, first_line)                                                                  \
	HIDDEN(__u32, table_bytes)                                                                 \
	HIDDEN(__u16, version) /* of the interpreter */                                            \
	HIDDEN(__u16, path_bytes)                                                                  \
	HIDDEN(__u16, function_bytes)                                                              \
	HIDDEN(__u8, path_width) /* bytes of a character; 0: ASCII */                              \
	HIDDEN(__u8, function_width)                                                               \
	HIDDEN(char, path[EVENT_FRAME_PATH_BYTES])                                                 \
	HIDDEN(char, function[EVENT_FRAME_FUNCTION_BYTES])                                         \
	HIDDEN(__u8, table[]) /* of its lines */

#define TRACE_FIELDS_STACK(COLUMN, HIDDEN)                                                         \
	COLUMN(STACK_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                      \
	       "time at which it was first recorded")                                              \
	COLUMN(STACK_ID, 1, "id", UINT, NONE, BY_HAND, "stack id used by samples and by stacks")   \
	COLUMN(STACK_CALLER, 2, "caller", UINT, NONE, BY_HAND,                                     \
	       "stack of the caller; 0: the outermost frame")                                      \
	COLUMN(STACK_FRAME, 3, "frame", UINT, NONE, BY_HAND, "frame id of the innermost frame")    \
	HIDDEN(__u32, id)                                                                          \
	HIDDEN(__u32, generation)                                                                  \
	HIDDEN(__u32, count)                                                                       \
	HIDDEN(__u32, pad)                                                                         \
	/* bits by number of frame: C has called the interpreter, which began with this frame */   \
	HIDDEN(__u64, entries[2])                                                                  \
	HIDDEN(struct python_frame, frames[]) /* the innermost first */

#define TRACE_FIELDS_SAMPLE(COLUMN, HIDDEN)                                                        \
	COLUMN(SAMPLE_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                     \
	       "start of the operation or wait; of what runs on a CPU, time of the sample")        \
	COLUMN(SAMPLE_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                             \
	COLUMN(SAMPLE_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                              \
	COLUMN(SAMPLE_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns), "its duration, or 0")    \
	COLUMN(SAMPLE_WEIGHT, 7, "weight", UINT, NS, FIELD(__u64, weight_ns),                      \
	       "time that the sample stands for: its duration if that is 1 ms or more; else 1 ms " \
	       "of the thread's shorter operations or waits")                                      \
	COLUMN(SAMPLE_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                       \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(SAMPLE_FILE, 5, "file", UINT, NONE, FIELD(__u32, file), "file id, 0 for none")      \
	COLUMN(SAMPLE_OP, 4, "op", UINT, NONE, FIELD(__u32, op),                                   \
	       "operation: number in the header's operations")                                     \
	COLUMN(SAMPLE_FETCHED, 8, "fetched_bytes", UINT, BYTES, PAGES(__u32, fetched_pages),       \
	       "bytes brought into the page cache by this operation, and by faults inside it")     \
	COLUMN(SAMPLE_STACK, 9, "stack", UINT, NONE, BY_HAND, "stack id; 0: none")                 \
	COLUMN(SAMPLE_FLAGS, 10, "flags", UINT, NONE, FIELD(__u32, flags),                         \
	       "TRACE_SAMPLE_* of flags.h")                                                        \
	HIDDEN(__u32, state)                                                                       \
	COLUMN(SAMPLE_STATE, 11, "state", STRING, NONE, BY_HAND,                                   \
	       "io: the time is that of the operation; else the thread's state, as thread_time "   \
	       "names them. A thread on a CPU may be in an operation; its time counts as both")    \
	HIDDEN(__u32, stack) /* as in the record of the stack */                                   \
	/* Only of unfinished ones, for reading the stack: */                                      \
	HIDDEN(__u32, tid_inside) /* in its own PID namespace */                                   \
	HIDDEN(__u32, runs) /* how often it was on a CPU */                                        \
	HIDDEN(__u64, thread_pointer)
/* clang-format on */
