/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Makes the traces for tests of `faultline export`: nested and crossing spans, hostile names, two
 * hosts, random traces, all layers, stacks.
 *
 * usage: export_traces DIR
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ask_report.h"
#include "tests/random.h"

#define MS 1000000ull
#define START (1000 * MS)

static const char *directory;

struct bytes {
	const void *data;
	size_t length;
};

#define TEXT(text) ((struct bytes) { text, sizeof(text) - 1 })

static uint64_t string_of(struct made_trace *made, struct bytes bytes)
{
	return bytes.length ? trace_writer_string(made->writer, bytes.data, bytes.length) : 0;
}

static void begin_span(struct made_trace *made, uint64_t time, uint64_t pid, uint64_t tid,
		       uint64_t id, struct bytes name, struct bytes category, struct bytes args)
{
	const uint64_t values[SPAN_BEGIN_COLUMNS] = {
		time,
		pid,
		tid,
		id,
		string_of(made, name),
		string_of(made, category),
		string_of(made, args),
		name.length > 255 ? TRACE_SPAN_CUT : 0,
	};

	made_row(made, TRACE_SPAN_BEGIN, 0, values);
}

static void end_span(struct made_trace *made, uint64_t time, uint64_t pid, uint64_t tid,
		     uint64_t id)
{
	const uint64_t values[SPAN_END_COLUMNS] = { time, pid, tid, id };

	made_row(made, TRACE_SPAN_END, 0, values);
}

static void mark(struct made_trace *made, uint64_t time, uint64_t pid, struct bytes name,
		 struct bytes args)
{
	const uint64_t values[INSTANT_COLUMNS] = {
		time, pid, pid, string_of(made, name), 0, string_of(made, args), 0,
	};

	made_row(made, TRACE_INSTANT, 0, values);
}

static void save(struct made_trace *made, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(made->bytes, 1, made->length, file), made->length);
	assert_int_equal(fclose(file), 0);
	made_close(made);
}

#define PLAIN(name) TEXT(name), TEXT("data"), TEXT("")

/* Rank 3: spans in spans, calls in spans, faults in calls; crossing spans; spans that never end. */
static void make_nest(void)
{
	static const char *const command[] = { "python3", "train.py", NULL };
	struct made_trace made;

	BEGIN(&made, .monotonic_ns = START, .realtime_ns = 5000 * MS, .command = command);
	FILE_ROW(&made, .time = START, .id = 1, .dev = 1, .ino = 1, .path = "/data/a.bin");
	EXEC(&made, .time = START, .pid = 100, .ppid = 1, .comm = "python3",
	     .command = "python3\0train.py", .command_length = 16, .rank = 3);
	begin_span(&made, START + 10 * MS, 100, 100, 1, TEXT("epoch"), TEXT(""), TEXT(""));
	begin_span(&made, START + 20 * MS, 100, 100, 2, TEXT("step"), TEXT("compute"),
		   TEXT("\x81\xa4step\x07"));
	CALL(&made, .time = START + 21 * MS, .dur = 6 * MS, .pid = 100, .op = M_READ, .file = 1,
	     .asked = 8192, .result = 8192, .fetched = 4096, .fault_fetched = 512);
	FAULT(&made, .time = START + 22 * MS, .dur = 3 * MS, .pid = 100, .file = 1, .offset = 4096,
	      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_IN_CALL, .fetched = 512);
	CALL(&made, .time = START + 28 * MS, .dur = 123, .pid = 100, .op = M_OPENAT, .result = -2,
	     .path = "/nowhere", .offset = -1);
	end_span(&made, START + 30 * MS, 100, 100, 2);
	/* Begins with the outer span and ends with it. */
	begin_span(&made, START + 32 * MS, 100, 100, 3, PLAIN("outer"));
	begin_span(&made, START + 32 * MS, 100, 100, 4, PLAIN("inner"));
	CALL(&made, .time = START + 32 * MS, .dur = 1 * MS, .pid = 100, .op = M_WRITE, .file = 1,
	     .asked = 10, .result = 10);
	end_span(&made, START + 34 * MS, 100, 100, 4);
	end_span(&made, START + 34 * MS, 100, 100, 3);
	/* "crossed" ends while "crossing", which began later, goes on. */
	begin_span(&made, START + 40 * MS, 100, 100, 5, PLAIN("crossed"));
	begin_span(&made, START + 42 * MS, 100, 100, 6, PLAIN("crossing"));
	end_span(&made, START + 44 * MS, 100, 100, 5);
	begin_span(&made, START + 45 * MS, 100, 100, 7, PLAIN("after"));
	end_span(&made, START + 46 * MS, 100, 100, 7);
	end_span(&made, START + 48 * MS, 100, 100, 6);
	/* Ended by another thread; ended twice; never begun; begun twice. */
	begin_span(&made, START + 50 * MS, 100, 100, 8, PLAIN("handed over"));
	begin_span(&made, START + 51 * MS, 100, 100, 9, PLAIN("within"));
	end_span(&made, START + 52 * MS, 100, 101, 8);
	end_span(&made, START + 53 * MS, 100, 100, 9);
	end_span(&made, START + 54 * MS, 100, 100, 9);
	end_span(&made, START + 54 * MS, 100, 100, 4711);
	begin_span(&made, START + 55 * MS, 100, 100, 10, PLAIN("twice"));
	begin_span(&made, START + 56 * MS, 100, 100, 10, PLAIN("twice"));
	end_span(&made, START + 57 * MS, 100, 100, 10);
	/* Begins during a call and outlasts it: the trace lacks some events. */
	CALL(&made, .time = START + 60 * MS, .dur = 5 * MS, .pid = 100, .tid = 102, .op = M_FSYNC,
	     .file = 1, .offset = -1);
	begin_span(&made, START + 61 * MS, 100, 102, 11, PLAIN("out of a call"));
	end_span(&made, START + 69 * MS, 100, 102, 11);
	mark(&made, START + 70 * MS, 100, TEXT("moment"), TEXT("\x81\xa1k\xa1v"));
	FILL(&made, .time = START + 71 * MS, .pid = 100, .file = 1, .bytes = 4096);
	made_fork(&made, START + 72 * MS, 100, 200);
	begin_span(&made, START + 73 * MS, 200, 200, 1, PLAIN("of the child"));
	CALL(&made, .time = START + 74 * MS, .dur = 16 * MS, .pid = 200, .op = M_SENDFILE,
	     .file = 1, .file2 = 1, .asked = 1000, .result = 1000);
	EXIT(&made, .time = START + 95 * MS, .pid = 200, .code = 9, .comm = "python3");
	EXIT(&made, .time = START + 96 * MS, .pid = 100, .tid = 102, .thread_only = 1,
	     .comm = "helper");
	EXIT(&made, .time = START + 99 * MS, .pid = 100, .comm = "python3");
	made_finish(&made, START, START + 100 * MS);
	save(&made, "nest.flt");
}

/* Another host, a second later by wall clock, with the same PIDs, one of them used twice. */
static void make_other(void)
{
	struct made_trace made;

	BEGIN(&made, .host = "node2", .boot_id = "boot2", .monotonic_ns = 7 * MS,
	      .realtime_ns = 6000 * MS);
	FILE_ROW(&made, .time = 7 * MS, .id = 1, .dev = 1, .ino = 1, .path = "/data/b.bin");
	EXEC(&made, .time = 7 * MS, .pid = 100, .ppid = 1, .comm = "cat", .command = "cat",
	     .rank = 4);
	CALL(&made, .time = 8 * MS, .dur = 1 * MS, .pid = 100, .op = M_READ, .file = 1, .asked = 77,
	     .result = 77);
	EXIT(&made, .time = 9 * MS, .pid = 100, .comm = "cat");
	EXEC(&made, .time = 10 * MS, .pid = 100, .ppid = 1, .comm = "dog", .command = "dog",
	     .rank = -1);
	CALL(&made, .time = 11 * MS, .dur = 1 * MS, .pid = 100, .op = M_READ, .file = 1,
	     .asked = 78, .result = 78);
	made_finish(&made, 7 * MS, 20 * MS);
	save(&made, "other.flt");
}

/* Requests to one device number: of two disks, one after the other. */
static void make_disks(const char *host, uint64_t bytes, const char *name)
{
	struct made_trace made;

	BEGIN(&made, .host = host, .boot_id = host, .block = true);
	for (uint64_t i = 1; i <= 2; i++)
		REQUEST(&made, .time = i * MS, .dur = MS, .op = M_REQUEST_READ, .id = i,
			.dev = 7 << 20, .part = 7 << 20, .bytes = i * bytes, .instance = i);
	made_finish(&made, 0, 5 * MS);
	save(&made, name);
}

/* Invalid text and invalid arguments. */
static void make_hostile(void)
{
	static const struct bytes args[] = {
		TEXT("\x81"),				  /* truncated */
		TEXT("\x93\x01\x02\x03"),		  /* not a map */
		TEXT("\xdf\xff\xff\xff\xff"),		  /* too many entries */
		TEXT("\x81\xa1x\xc1"),			  /* not msgpack */
		TEXT("\x80\x80"),			  /* trailing data */
		TEXT("\x83\x01\xc0\xff\xc2\x91\x05\xc3"), /* keys that are numbers and lists */
		TEXT("\x82\xa1n\xcb\x7f\xf8\0\0\0\0\0\0\xa1i\xca\x7f\x80\0\0"), /* NaN, inf */
		TEXT("\x82\xaaunfinished\xa2me\xa3\xff\"\\\xc4\x02\xff\0"),
		TEXT("\x82\xa1s\xd3\xff\xff\xff\xff\0\0\0\0\xa1u\xcf\xff\xff\xff\xff\xff\xff\xff"
		     "\xff"),
		TEXT("\x81\xa1"
		     "e\xd4\x05\x06"),
	};
	static char deep[400], longest[10000];
	struct made_trace made;
	uint64_t id = 1;

	memset(longest, 'x', sizeof(longest));
	/* Nested arrays, two hundred deep. */
	memcpy(deep, "\x81\xa1k", 3);
	memset(deep + 3, 0x91, 200);
	deep[203] = 1;
	BEGIN(&made, .monotonic_ns = START, .host = "no\xffhost\"\n", .kernel = "\\\x01");
	FILE_ROW(&made, .time = START, .id = 1, .path = "/\xff\"\\\n\x1b[2J\xe2\x80\xae");
	EXEC(&made, .time = START, .pid = 7, .comm = "a\"\xc3", .command = "\xff\0\"\0\n\0",
	     .command_length = 6, .rank = INT64_MAX);
	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++, id++) {
		begin_span(&made, START + id * MS, 7, 7, id, TEXT("\xff\"\n"), TEXT("\xc0"),
			   args[i]);
		mark(&made, START + id * MS + 5, 7, TEXT("m\0\x7f"), args[i]);
		end_span(&made, START + id * MS + MS / 2, 7, 7, id);
	}
	begin_span(&made, START + 30 * MS, 7, 7, 50, (struct bytes) { longest, 10000 }, TEXT(""),
		   (struct bytes) { deep, 204 });
	CALL(&made, .time = START + 31 * MS, .dur = 5, .pid = 7, .op = M_READ, .file = 1,
	     .offset = INT64_MAX, .asked = UINT64_MAX, .result = INT64_MIN, .flags = UINT64_MAX,
	     .fetched = UINT64_MAX, .major = UINT64_MAX);
	FAULT(&made, .time = START + 32 * MS, .dur = 5, .pid = 1ull << 40, .tid = UINT64_MAX,
	      .file = 99, .offset = UINT64_MAX, .flags = UINT64_MAX, .fetched = UINT64_MAX);
	WAIT(&made, .time = START + 33 * MS, .dur = UINT64_MAX, .pid = 7, .tid = 9,
	     .state = "un\xffknown\n", .call = "\"\x1b[2J", .object = UINT64_MAX,
	     .waker_pid = UINT64_MAX, .flags = UINT64_MAX);
	WAIT(&made, .time = START + 33 * MS, .dur = 0, .pid = UINT64_MAX, .tid = UINT64_MAX);
	THREAD_TIME(&made, .time = START + 34 * MS, .dur = UINT64_MAX, .pid = 7,
		    .io_wait = UINT64_MAX, .user = UINT64_MAX,
		    .states = { UINT64_MAX, UINT64_MAX, [THREAD_OTHER] = UINT64_MAX });
	made_finish(&made, START, START + 100 * MS);
	save(&made, "hostile.flt");
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_bits(void)
{
	return next_random(&random_state);
}

/* Everything at random, unlike any program: IDs ended anywhere or never, calls that cross each
 * other and spans, equal times. In blocks of several CPU buffers.
 */
static void make_random(void)
{
	struct made_trace made;

	BEGIN(&made, .monotonic_ns = START, .lanes = 2);
	FILE_ROW(&made, .time = START, .id = 1, .path = "/data/random");
	for (uint64_t pid = 1; pid <= 3; pid++)
		EXEC(&made, .time = START, .pid = pid, .comm = "chaos", .command = "chaos",
		     .rank = pid);
	for (uint64_t i = 0; i < 6000; i++) {
		uint64_t time = START + i / 2 * 3000, kind = random_bits() % 8;
		uint64_t pid = 1 + random_bits() % 3, tid = pid + 10 * (random_bits() % 3);
		uint64_t id = 1 + random_bits() % 40, dur = random_bits() % 30000;

		if (kind < 2)
			begin_span(&made, time, pid, tid, id, PLAIN("chaos"));
		else if (kind < 5)
			end_span(&made, time, pid, tid, id);
		else if (kind < 7)
			CALL(&made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = M_PREAD,
			     .file = 1, .offset = i, .asked = i, .result = i % 5000,
			     .fetched = i % 7, .lane = i % 2);
		else
			FAULT(&made, .time = time, .dur = dur / 10, .pid = pid, .tid = tid,
			      .file = 1, .offset = i, .fetched = i % 3, .lane = i % 2);
		if (i % 16 == 0)
			WAIT(&made, .time = time, .dur = i * 7919 % 40000, .pid = pid, .tid = tid,
			     .state = i % 3 ? "lock" : "pipe", .waker_pid = i % 2);
	}
	EXIT(&made, .time = START + 9005 * 1000, .pid = 1, .comm = "chaos");
	made_finish(&made, START, START + 11 * MS);
	save(&made, "random.flt");
}

/* A truncated trace. */
static void make_cut(void)
{
	struct made_trace made;

	BEGIN(&made, .monotonic_ns = START);
	EXEC(&made, .time = START, .pid = 5, .comm = "sh", .command = "sh", .rank = -1);
	begin_span(&made, START + 1 * MS, 5, 5, 1, PLAIN("open"));
	mark(&made, START + 3 * MS, 5, TEXT("last"), TEXT(""));
	made_abandon(&made);
	save(&made, "cut.flt");
}

#define WRITE_OF_WHOLE                                                                             \
	.time = START + 209 * MS, .dur = 2 * MS, .queue = MS / 2, .op = M_REQUEST_WRITE,           \
	.file = 2, .dev = 8 << 20, .part = 8 << 20 | 1, .sector = 2048

/* A step: a fetch, a write and a wait for a lock. */
static void add_step(struct made_trace *made, uint64_t from, uint64_t step)
{
	begin_span(made, from, 100, 100, 20 + step, TEXT("step"), TEXT("compute"),
		   step == 2 ? TEXT("\x82\xa4step\x07\xa4"
				    "name\xa2\xff\"")
			     : TEXT(""));
	begin_span(made, from + MS, 100, 100, 30, TEXT("fetch"), TEXT("data"), TEXT(""));
	CALL(made, .time = from + 2 * MS, .dur = MS, .pid = 100, .op = M_PREAD, .file = 1,
	     .offset = 4096 * step, .asked = 4096, .result = 4096, .fetched = 4096);
	FAULT(made, .time = from + 4 * MS, .dur = MS / 2, .pid = 100, .file = 1, .offset = 8192,
	      .flags = step ? 0 : TRACE_FAULT_MAJOR, .fetched = step ? 0 : 16384);
	end_span(made, from + 6 * MS, 100, 100, 30);
	CALL(made, .time = from + 7 * MS, .dur = MS / 4, .pid = 100, .op = M_WRITE, .file = 2,
	     .offset = 100 * step, .asked = 100, .result = 100, .created = step ? 0 : 4096);
	/* A lock that another thread holds, which waits in a call itself. */
	WAIT(made, .time = from + 9 * MS, .dur = (step + 2) * MS, .pid = 100, .state = "lock",
	     .call = "futex", .object = 0x7fff00001000, .waker_pid = 100, .waker_tid = 101,
	     .owner_pid = 100, .owner_tid = 102);
	CALL(made, .time = from + 8 * MS, .dur = 6 * MS, .pid = 100, .tid = 101, .op = M_READ,
	     .offset = -1, .asked = 1, .result = 1);
	WAIT(made, .time = from + 9 * MS, .dur = 4 * MS, .pid = 100, .tid = 101, .state = "pipe",
	     .call = "read", .object = 4711, .waker_pid = 1);
	end_span(made, from + 15 * MS, 100, 100, 20 + step);
}

/* Transfers, failures, requests, and operations of other layers. */
static void add_operations(struct made_trace *made)
{
	CALL(made, .time = START + 201 * MS, .dur = MS, .pid = 100, .op = M_SENDFILE, .file = 1,
	     .file2 = 2, .asked = 1000, .result = 1000, .fetched = 4096, .created = 4096);
	CALL(made, .time = START + 203 * MS, .dur = MS, .pid = 100, .op = M_SENDFILE, .file2 = 2,
	     .asked = 10, .result = 10, .offset = -1);
	CALL(made, .time = START + 205 * MS, .dur = MS, .pid = 100, .op = M_READ, .file = 1,
	     .asked = UINT64_MAX, .result = -5);
	CALL(made, .time = START + 206 * MS, .dur = 10, .pid = 100, .op = M_OPENAT, .result = -2,
	     .path = "/no\xffwhere", .offset = -1);
	CALL(made, .time = START + 207 * MS, .dur = 600, .pid = 100, .op = M_READAHEAD, .file = 1,
	     .asked = 8192, .fetched = 8192);
	CALL(made, .time = START + 208 * MS, .dur = 2 * MS, .pid = 100, .op = M_URING_READ,
	     .file = 1, .offset = 0, .asked = 512, .result = 512);
	CALL(made, .time = START + 209 * MS, .dur = MS, .pid = 100, .op = M_FSYNC, .file = 2,
	     .offset = -1);
	FAULT(made, .time = START + 211 * MS, .dur = 500, .pid = 100, .file = 2, .offset = 4096,
	      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED, .dirtied = 4096);
	VFS(made, .time = START + 210 * MS + MS / 2, .dur = 900, .op = M_VFS_READ, .file = 1,
	    .asked = 4096, .result = 4096, .flags = TRACE_VFS_THREAD);
	THROTTLE(made, .time = START + 212 * MS, .pause = MS, .pid = 100, .file = 2);
	REQUEST(made, WRITE_OF_WHOLE, .pid = 100, .id = 1, .bytes = 8192);
	REQUEST(made, WRITE_OF_WHOLE, .id = 2, .bytes = 4096, .status = 10);
	BIO(made, .time = START + 209 * MS + MS / 2, .dur = MS, .pid = 100, .file = 2, .request = 2,
	    .bytes = 8192, .dev = 8 << 20);
	made_cache(made, START + 213 * MS, 1, 12288);
	mark(made, START + 214 * MS, 100, TEXT("saved"), TEXT("\x81\xa1k\xa1v"));
}

/* All layers: two epochs of steps whose numbers are given, counted or inherited from the enclosing
 * span; reads, writes, faults, transfers, failures, storage. One file name is markup.
 */
static void make_whole(void)
{
	static const char *const command[] = { "python3", "train.py", NULL };
	struct made_trace made;

	BEGIN(&made, .monotonic_ns = START, .realtime_ns = 5000 * MS, .command = command,
	      .spans = true, .block = true, .async = true, .vfs = true, .threads = true);
	FILE_ROW(&made, .time = START, .id = 1, .dev = 8 << 20 | 1, .ino = 11, .size = 1 << 20,
		 .path = "/data/<script>alert(1)</script>,\"a\".bin");
	FILE_ROW(&made, .time = START, .id = 2, .dev = 8 << 20 | 1, .ino = 12, .size = 1 << 20,
		 .path = "/out/caf\xc3\xa9\n.bin");
	EXEC(&made, .time = START, .pid = 100, .ppid = 1, .comm = "python3",
	     .command = "python3\0train.py", .command_length = 16, .rank = 0);
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		uint64_t at = START + epoch * 100 * MS;

		begin_span(&made, at + MS, 100, 100, 10 + epoch, TEXT("epoch"), TEXT("loop"),
			   TEXT(""));
		for (uint64_t step = 0; step < 3; step++)
			add_step(&made, at + (10 + 20 * step) * MS, step);
		end_span(&made, at + 90 * MS, 100, 100, 10 + epoch);
	}
	add_operations(&made);
	THREAD_TIME(&made, .time = START, .dur = 150 * MS, .pid = 100, .io_wait = 3 * MS,
		    .user = 80 * MS, .system = 16 * MS,
		    .states = { [THREAD_CPU] = 100 * MS,
				[THREAD_STORAGE] = 32 * MS,
				[THREAD_LOCK] = 18 * MS });
	THREAD_TIME(&made, .time = START + 150 * MS, .dur = 140 * MS, .pid = 100,
		    .states = { [THREAD_CPU] = 120 * MS, [THREAD_SLEEP] = 20 * MS });
	WAIT(&made, .time = START + 230 * MS, .dur = 20 * MS, .pid = 100, .state = "sleep",
	     .call = "clock_nanosleep", .flags = TRACE_WAIT_UNFINISHED);
	EXIT(&made, .time = START + 290 * MS, .pid = 100, .comm = "python3");
	made_finish(&made, START, START + 300 * MS);
	save(&made, "whole.flt");
}

#define DEPTH_MAX 128 /* frames that the recorder keeps of a stack */

/* A loop and its loader, a worker that is forked; an operation of each kind of sample. */
static void make_stacks(void)
{
	static const char *const command[] = { "python3", "train.py", NULL };
	struct made_trace made;

	BEGIN(&made, .monotonic_ns = START, .realtime_ns = 5000 * MS, .command = command,
	      .threads = true, .stacks = true);
	FILE_ROW(&made, .time = START, .id = 1, .dev = 1, .ino = 1, .path = "/data/a.bin");
	EXEC(&made, .time = START, .pid = 100, .ppid = 1, .comm = "python3",
	     .command = "python3\0train.py", .command_length = 16, .rank = 3);
	made_fork(&made, START + MS, 100, 200);
	made_frame(&made, START, 1, "/job/train.py", 10, "<module>");
	made_frame(&made, START, 2, "/job/train.py", 20, "Loop.step");
	made_frame(&made, START, 3, "/job/train.py", 21, "Loop.step");
	made_frame(&made, START, 4, "/job/load;er.py", 30, "Data.__getitem__\nx\x1b[2J");
	made_frame(&made, START, 5, "/usr/lib/python3.11/queue.py", 171, "Queue.get");
	made_frame(&made, START, 6, "", 0, "");
	made_stack(&made, START, 1, 0, 1);
	made_stack(&made, START, 2, 1, 2);
	made_stack(&made, START, 3, 1, 3);
	made_stack(&made, START, 4, 3, 5);
	made_stack(&made, START, 5, 1, 4);
	made_stack(&made, START, 6, 5, 4); /* calls itself */
	made_stack(&made, START, 7, 0, 6);
	for (uint64_t id = 8; id < 8 + DEPTH_MAX; id++)
		made_stack(&made, START, id, id == 8 ? 0 : id - 1, 5);
	CALL(&made, .time = START + 2 * MS, .dur = 6 * MS, .pid = 200, .op = M_PREAD, .file = 1,
	     .asked = 1 << 20, .result = 1 << 20, .fetched = 1 << 20);
	SAMPLE(&made, .time = START + 2 * MS, .dur = 6 * MS, .pid = 200, .op = M_PREAD, .file = 1,
	       .fetched = 1 << 20, .stack = 5);
	/* Five calls like these took a period. */
	CALL(&made, .time = START + 9 * MS, .dur = MS / 5, .pid = 200, .op = M_PREAD, .file = 1,
	     .asked = 4096, .result = 4096, .fetched = 4096);
	SAMPLE(&made, .time = START + 9 * MS, .dur = MS / 5, .weight = MS, .pid = 200,
	       .op = M_PREAD, .file = 1, .fetched = 4096, .stack = 5);
	CALL(&made, .time = START + 10 * MS, .dur = MS / 5, .pid = 200, .op = M_PREAD, .file = 1,
	     .asked = 4096, .result = 4096);
	FAULT(&made, .time = START + 12 * MS, .dur = 2 * MS, .pid = 200, .file = 1, .offset = 4096,
	      .flags = TRACE_FAULT_MAJOR, .fetched = 8192);
	SAMPLE(&made, .time = START + 12 * MS, .dur = 2 * MS, .pid = 200, .op = M_FAULT, .file = 1,
	       .fetched = 8192, .stack = 6);
	WAIT(&made, .time = START + 3 * MS, .dur = 8 * MS, .pid = 100, .state = "pipe",
	     .call = "read");
	SAMPLE(&made, .time = START + 3 * MS, .dur = 8 * MS, .pid = 100, .state = "pipe",
	       .stack = 4);
	/* Another wait began at the same time, but in another thread. */
	WAIT(&made, .time = START + 3 * MS, .dur = 8 * MS, .pid = 100, .tid = 101, .state = "lock",
	     .call = "futex");
	SAMPLE(&made, .time = START + 20 * MS, .dur = MS, .pid = 100, .tid = 101, .state = "lock",
	       .stack = 2);
	SAMPLE(&made, .time = START + 21 * MS, .dur = 20408163, .pid = 100, .state = "cpu",
	       .stack = 3);
	CALL(&made, .time = START + 50 * MS, .dur = 3 * MS, .pid = 100, .op = M_WRITE, .file = 1,
	     .asked = 100, .result = 100);
	SAMPLE(&made, .time = START + 50 * MS, .dur = 3 * MS, .pid = 100, .op = M_WRITE, .file = 1,
	       .stack = 3, .flags = TRACE_SAMPLE_CUT);
	CALL(&made, .time = START + 54 * MS, .dur = MS, .pid = 100, .op = M_WRITE, .file = 1,
	     .asked = 100, .result = 100);
	SAMPLE(&made, .time = START + 54 * MS, .dur = MS, .pid = 100, .op = M_WRITE, .file = 1,
	       .stack = 7);
	/* The application's frames are not recorded. */
	SAMPLE(&made, .time = START + 58 * MS, .dur = MS, .pid = 100, .state = "sleep",
	       .stack = 7 + DEPTH_MAX, .flags = TRACE_SAMPLE_CUT);
	for (uint64_t bit = 0; bit < 6; bit++)
		SAMPLE(&made, .time = START + (60 + bit) * MS, .dur = MS + bit, .pid = 100,
		       .op = M_FSYNC, .file = 1, .flags = bit ? 1ull << bit : 0);
	EXIT(&made, .time = START + 90 * MS, .pid = 200, .comm = "python3");
	EXIT(&made, .time = START + 99 * MS, .pid = 100, .comm = "python3");
	made_finish(&made, START, START + 100 * MS);
	save(&made, "stacks.flt");
}

/* Rank 4 on another host: the same lines with other ids, in another order. */
static void make_other_stacks(void)
{
	struct made_trace made;

	BEGIN(&made, .host = "node2", .boot_id = "boot2", .monotonic_ns = 7 * MS,
	      .realtime_ns = 5000 * MS, .stacks = true);
	EXEC(&made, .time = 7 * MS, .pid = 100, .ppid = 1, .comm = "python3", .command = "python3",
	     .rank = 4);
	made_frame(&made, 7 * MS, 7, "/job/train.py", 20, "Loop.step");
	made_frame(&made, 7 * MS, 8, "/job/train.py", 21, "Loop.step");
	made_frame(&made, 7 * MS, 9, "/job/train.py", 10, "<module>");
	made_stack(&made, 7 * MS, 5, 0, 9);
	made_stack(&made, 7 * MS, 6, 5, 8);
	SAMPLE(&made, .time = 8 * MS, .dur = 4 * MS, .pid = 100, .state = "cpu", .stack = 6);
	made_finish(&made, 7 * MS, 20 * MS);
	save(&made, "other_stacks.flt");
}

/* Ids that lead nowhere or in circles, and numbers of any size. */
static void make_hostile_stacks(void)
{
	static char longest[4096];
	struct made_trace made;

	memset(longest, ';', sizeof(longest) - 1);
	BEGIN(&made, .monotonic_ns = START, .stacks = true);
	EXEC(&made, .time = START, .pid = 7, .comm = "a;\n\xff", .command = "a", .rank = INT64_MAX);
	made_frame(&made, START, 1, "\xff\"\\\n\xe2\x80\xae", UINT64_MAX, "f;\x1b[2J\xc0 12");
	made_frame(&made, START, UINT64_MAX, longest, 5, longest);
	made_frame(&made, START, 0, "zero", 0, "zero");
	made_stack(&made, START, 1, 1, 1); /* its own caller */
	made_stack(&made, START, 2, 3, 1); /* a loop */
	made_stack(&made, START, 3, 2, 1);
	made_stack(&made, START, 4, 4711, 1); /* no such caller */
	made_stack(&made, START, 5, 0, 4711); /* no such frame */
	made_stack(&made, START, 0, 0, 1);    /* the id that none has */
	made_stack(&made, START, UINT64_MAX, 5, UINT64_MAX);
	for (uint64_t id = 1000; id < 1300; id++) /* deeper than any */
		made_stack(&made, START, id, id == 1000 ? 0 : id - 1, 1);
	for (uint64_t id = 0; id < 8; id++)
		SAMPLE(&made, .time = START + id, .dur = 5, .pid = 7, .op = M_READ, .stack = id);
	SAMPLE(&made, .time = START + 10, .dur = MS, .pid = 7, .op = M_READ, .stack = 1299);
	SAMPLE(&made, .time = START + 11, .dur = 1, .weight = UINT64_MAX, .pid = 1ull << 40,
	       .tid = UINT64_MAX, .op = M_READ, .file = UINT64_MAX, .fetched = UINT64_MAX,
	       .stack = UINT64_MAX, .flags = UINT64_MAX);
	SAMPLE(&made, .time = START + 12, .dur = UINT64_MAX, .weight = 1, .pid = 7, .op = M_READ,
	       .fetched = UINT64_MAX, .stack = UINT64_MAX - 1, .flags = UINT64_MAX);
	SAMPLE(&made, .time = START + 13, .weight = MS, .pid = 7, .state = "] 7\n;\xff",
	       .fetched = 1, .stack = 1);
	made_finish(&made, START, START + 100 * MS);
	save(&made, "hostile_stacks.flt");
}

/* Mode profile: aggregated operations. */
static void make_sums(void)
{
	const uint64_t sums[PROFILE_COLUMNS] = {
		[PROFILE_TIME] = 2 * MS, [PROFILE_OVER] = MS,	       [PROFILE_PID] = 10,
		[PROFILE_OP] = M_READ,	 [PROFILE_FILE] = 1,	       [PROFILE_COUNT] = 9,
		[PROFILE_BYTES] = 4096,	 [PROFILE_THREAD_TIME] = 1000,
	};
	struct made_trace made;

	BEGIN(&made, .lanes = 1, .mode = "profile");
	FILE_ROW(&made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
	EXEC(&made, .time = 1, .pid = 10, .comm = "job", .command = "job", .rank = -1);
	made_row(&made, TRACE_PROFILE, 0, sums);
	made_finish(&made, 0, 2 * MS);
	save(&made, "sums.flt");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	directory = argv[1];
	make_nest();
	make_other();
	make_disks("node1", 1024, "disks.flt");
	make_disks("node2", 8192, "disks_of_other.flt");
	make_hostile();
	make_random();
	make_cut();
	make_whole();
	make_sums();
	make_stacks();
	make_other_stacks();
	make_hostile_stacks();
	return 0;
}
