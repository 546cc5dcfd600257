/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Describes every kind of row once, and in columns_*.h every column: these lists produce the enums
 * and tables of schema.h, the records of bpf/records/event.h, their decoding, and the documentation
 * that `faultline print --list-columns` prints. Kinds and numbers are append-only.
 *
 *	KIND(ID, name, layer, number of the column with a duration or -1,
 *	     whether its rows say what the numbers in other rows stand for,
 *	     OWN, or SHARED if its columns are numbered with another kind's,
 *	     its flags: a list of flags.h or NO, meaning)
 *	COLUMN(ID, number, name, type, unit, source, meaning)
 *	HIDDEN(C type, field), a field of the record that is no column by itself
 *
 * A list TRACE_FIELDS_ID is in the order of the record's fields; the columns of a trace are in that
 * of the numbers. Types: TIME is ns on the trace's clock, stored as differences that start at t0;
 * UINT, INT; STRING is the id of a string, 0 for none. The source is a field of the record, with its
 * C type:
 *
 *	FIELD(type, field)
 *	PAGES(type, field)	in pages
 *	RARE, RARE_PAGES	the same, but only in records that go through a ring
 *	CALL(type, field)	an operation's number; the column's is one above, 0 for none
 *	TEXT(bytes, field)	text, with a NUL unless it fills the field
 *	HEAD(field)		of the record's header
 *	PART(member)		of a hidden field; also PART_PAGES, PART_SECTORS, PART_TEXT
 *	BY_HAND			computed in decode_kinds.c, for example from text at the end
 */
#pragma once

#include "columns_files.h"
#include "columns_processes.h"
#include "columns_stacks.h"
#include "columns_storage.h"
#include "columns_sums.h"

/* clang-format off */
#define TRACE_KINDS(KIND)                                                                          \
	KIND(SYSCALL, syscall, "syscall", SYSCALL_DUR, false, OWN, OP,                             \
	     "a system call on a file")                                                            \
	KIND(SYSCALL_PATH, syscall_path, "syscall", SYSCALL_DUR, false, SHARED, OP,                \
	     "a system call that names a path or a second file")                                   \
	KIND(FAULT, fault, "fault", FAULT_DUR, false, OWN, FAULT,                                  \
	     "a page fault on a file mapping")                                                     \
	KIND(PAGECACHE, pagecache, "pagecache", -1, false, OWN, NO,                                \
	     "an indirect or unattributed page-cache fill: the file is not the operation's own")   \
	KIND(FORK, fork, "task", -1, true, OWN, NO,                                                \
	     "a new process or thread")                                                            \
	KIND(EXEC, exec, "task", -1, true, OWN, EXEC,                                              \
	     "a process exec'd")                                                                   \
	KIND(EXIT, exit, "task", -1, true, OWN, NO,                                                \
	     "a thread exits, possibly with its process")                                          \
	KIND(FILE, file, "file", -1, true, OWN, FILE,                                              \
	     "the file behind a file id; a later row for the same id replaces it")                 \
	KIND(SPAN_BEGIN, span_begin, "span", -1, false, OWN, SPAN,                                 \
	     "the application begins a span; a span never ended ends with its process")            \
	KIND(SPAN_END, span_end, "span", -1, false, OWN, NO,                                       \
	     "the application ends a span")                                                        \
	KIND(INSTANT, instant, "span", -1, false, OWN, SPAN,                                       \
	     "the application marks a moment")                                                     \
	KIND(THROTTLE, throttle, "pagecache", THROTTLE_PAUSE, false, OWN, NO,                      \
	     "a writer is throttled because too many dirty pages await writeback")                 \
	KIND(REQUEST, request, "block", REQUEST_DUR, false, OWN, BLOCK,                            \
	     "a request to a block device that contains bios of the run")                          \
	KIND(BIO, bio, "block", BIO_DUR, false, OWN, BLOCK,                                        \
	     "a part of a request: a range of a file or of metadata, queued by one task")          \
	KIND(DEVICE, device, "block", -1, false, OWN, NO,                                          \
	     "what a block device has done so far, for any process; the last row holds the "       \
	     "totals")                                                                             \
	KIND(ASYNC, async, "async", SYSCALL_DUR, false, SHARED, OP,                                \
	     "an operation of io_uring or libaio, from submission to completion; columns as in "   \
	     "syscall_path")                                                                       \
	KIND(VFS, vfs, "vfs", VFS_DUR, false, OWN, VFS,                                            \
	     "a read, write or sync of a file inside the kernel, for a call or on its own")        \
	KIND(PROFILE, profile, "profile", -1, false, OWN, PROFILE,                                 \
	     "sums over operations of one process on one file, as recorded by mode profile")       \
	KIND(PROFILE_CLASS, profile_class, "profile", -1, false, OWN, PROFILE,                     \
	     "the number of such operations in one class of durations or sizes")                   \
	KIND(SUMMARY_TABLE, summary_table, "summary", -1, true, OWN, NO,                           \
	     "a table of a summary (faultline summarize), or a table inside a cell")               \
	KIND(SUMMARY_COLUMN, summary_column, "summary", -1, true, OWN, NO,                         \
	     "a column of such a table, numbered from 0 in order")                                 \
	KIND(SUMMARY_CELL, summary_cell, "summary", -1, false, OWN, NO,                            \
	     "the value in a row and column; a missing cell is unknown")                           \
	KIND(SUMMARY_CLASS, summary_class, "summary", -1, false, OWN, NO,                          \
	     "the number of a percentile's values in one class of histogram.h")                    \
	KIND(THREAD_TIME, thread_time, "thread", THREAD_TIME_DUR, false, OWN, NO,                  \
	     "the time of one thread in each state during an interval; the intervals of a thread " \
	     "cover its life in the recording without gaps")                                       \
	KIND(WAIT, wait, "thread", WAIT_DUR, false, OWN, WAIT,                                     \
	     "a thread was blocked for 1 ms or longer, other than for storage")                    \
	KIND(FRAME, frame, "stack", -1, true, OWN, NO,                                             \
	     "a line of a function that stacks contain")                                           \
	KIND(STACK, stack, "stack", -1, true, OWN, NO,                                             \
	     "a stack: a frame, and the stack of its callers")                                     \
	KIND(SAMPLE, sample, "stack", SAMPLE_DUR, false, OWN, SAMPLE,                              \
	     "an operation or wait of 1 ms or more, or one of many shorter ones, with the stack "  \
	     "of the thread at its end; and of the thread running on each CPU, 49 times a second") \
	KIND(REMOTE, remote, "fuse", REMOTE_DUR, false, OWN, REMOTE,                               \
	     "a request to the daemon of a FUSE file system or the server of a 9p mount, a remote " \
	     "procedure call of an NFS client, or a read or write that a CIFS, AFS or Ceph mount "  \
	     "sends to its server: for a thread of the run, or to write back a file that the run "  \
	     "has used")

/* The columns of a kind without the other fields. */
#define TRACE_COLUMNS(ID, COLUMN) TRACE_FIELDS_##ID(COLUMN, TRACE_NO_COLUMN)
#define TRACE_NO_COLUMN(...)
/* clang-format on */
