/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random jobs: several hosts whose clocks differ, ranks, files shared by several traces,
 * overlapping and consecutive runs, loss; and summaries of their traces.
 */
#pragma once

#include "analysis/report/summary.h"
#include "ask_report.h"
#include "tests/random.h"

#define TRACES_MAX 6
#define HOSTS 3
#define FILES 5
#define MS 1000000ull

static uint64_t random_state = 0x9e3779b97f4a7c15;

MADE uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 8) % limit;
}

/* --- jobs --- */

struct random_job {
	struct made_trace made[TRACES_MAX];
	struct trace_reader *traces[TRACES_MAX];
	const char *names[TRACES_MAX];
	size_t count;
};

static void add_operation(struct made_trace *made, uint64_t pid, uint64_t from, uint64_t length)
{
	static const unsigned int calls[] = { M_READ,  M_PREAD, M_WRITE, M_OPENAT,
					      M_FSTAT, M_CLOSE, M_FSYNC };
	uint64_t time = from + random_below(length), dur = 1 + random_below(3 * MS);
	uint64_t file = 1 + random_below(FILES), tid = pid + random_below(2);
	uint64_t bytes = random_below(file == 1 ? 4 << 20 : 100000),
		 fetched = random_below(3) ? 0 : bytes & ~4095ull;
	unsigned int op = calls[random_below(sizeof(calls) / sizeof(calls[0]))];
	bool moves = op == M_READ || op == M_PREAD || op == M_WRITE;

	switch (random_below(8)) {
	case 0:
		FAULT(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .file = file,
		      .offset = random_below(64) * 4096, .fetched = fetched,
		      .flags = fetched ? TRACE_FAULT_MAJOR : 0);
		break;
	case 1:
		CALL(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = M_OPENAT,
		     .path = random_below(2) ? "/no/such/file" : "/no/site-packages/file",
		     .result = -2);
		break;
	case 2:
		FILL(made, .time = time, .pid = pid, .file = file, .bytes = fetched);
		break;
	default:
		CALL(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = op, .file = file,
		     .offset = moves ? (int64_t)random_below(1 << 20) : -1,
		     .asked = moves ? bytes : 0, .result = moves ? (int64_t)bytes : 0,
		     .flags = random_below(9) ? 0 : TRACE_OP_DIRECT,
		     .fetched = op == M_READ ? fetched : 0);
	}
}

static void add_request(struct made_trace *made, uint64_t number, uint64_t pid, uint64_t time)
{
	uint64_t queue = random_below(MS), dur = queue + 1 + random_below(2 * MS);
	uint64_t dev = 8ull << 20, file = 1 + random_below(FILES), bytes = 4096 * random_below(64);
	unsigned int op = random_below(2) ? M_REQUEST_READ : M_REQUEST_WRITE;

	REQUEST(made, .time = time, .dur = dur, .queue = queue, .pid = pid, .op = op, .file = file,
		.id = number, .dev = dev, .bytes = bytes);
	BIO(made, .time = time, .dur = dur, .queue = queue, .pid = pid, .op = op, .file = file,
	    .request = number, .dev = dev, .bytes = bytes, .offset = random_below(64) * 4096);
}

/* Lines of an application and of a library that it calls. */
#define SITES 3

static void add_stacks(struct made_trace *made, uint64_t from)
{
	for (uint64_t site = 1; site <= SITES; site++) {
		made_frame(made, from, 2 * site, "/job/train.py", site, "main");
		made_frame(made, from, 2 * site + 1, "/x/site-packages/io.py", site, "load");
		made_stack(made, from, 2 * site, 0, 2 * site);
		made_stack(made, from, 2 * site + 1, 2 * site, 2 * site + 1);
	}
}

/* Each stands for a whole number of operations, so that their sums are exact. */
static void add_sample(struct made_trace *made, uint64_t pid, uint64_t time)
{
	static const char *const states[] = { NULL, "lock", "cpu" };
	const bool is_long = random_below(2);

	SAMPLE(made, .time = time, .dur = is_long ? MS + random_below(MS) : MS >> random_below(6),
	       .weight = is_long ? 0 : MS, .pid = pid, .tid = pid + random_below(2), .op = M_READ,
	       .file = 1 + random_below(FILES), .fetched = 4096 * random_below(9),
	       .stack = random_below(2 * SITES + 2), .state = states[random_below(3)]);
}

/* Consecutive steps of a process, with loading and computing inside. */
static void add_spans(struct made_trace *made, uint64_t pid, uint64_t from, uint64_t length,
		      bool computes)
{
	uint64_t time = from, id = 2;

	SPAN(made, .begin = from, .end = from + length - 1, .pid = pid, .id = 1, .name = "epoch",
	     .category = "epoch");
	for (int step = 0; step < 4 && time + 12 * MS < from + length; step++) {
		uint64_t load = random_below(5 * MS), work = random_below(5 * MS);

		SPAN(made, .begin = time, .end = time + load + work + MS, .pid = pid, .id = id,
		     .name = "step", .category = "step");
		SPAN(made, .begin = time + 1, .end = time + 1 + load, .pid = pid, .id = id + 1,
		     .name = "load", .category = "data");
		SPAN(made, .begin = time + load + 2, .end = time + load + work + 2, .pid = pid,
		     .id = id + 2, .name = "work", .category = "compute");
		id += 3;
		time += load + work + MS + random_below(MS);
	}
}

/* One trace's program on a host, starting at a monotonic time. */
static void add_run(struct made_trace *made, size_t number, size_t host, uint64_t from,
		    uint64_t length, bool ranked, bool computes)
{
	char path[32], command[32];
	uint64_t first = 100 + 10 * number;

	for (uint64_t i = 1; i <= FILES; i++) {
		snprintf(path, sizeof(path), "/data/%zu/f%llu", host, (unsigned long long)i);
		FILE_ROW(made, .time = from, .id = i, .dev = 8 << 20, .ino = 40 + i,
			 .size = i == 1 ? 16 << 20 : 1 << 20, .path = path);
	}
	for (uint64_t pid = first; pid < first + 2; pid++) {
		snprintf(command, sizeof(command), "python3 %llu", (unsigned long long)pid);
		EXEC(made, .time = from, .pid = pid, .ppid = 1, .comm = "python3",
		     .command = command, .rank = ranked ? (int64_t)(2 * number + pid - first) : -1);
		add_spans(made, pid, from, length, computes);
		EXIT(made, .time = from + length, .pid = pid, .comm = "python3");
	}
	for (uint64_t i = 0; i < 300; i++)
		CALL(made, .time = from + i * (length / 300), .dur = 1 + random_below(20000),
		     .pid = first, .tid = first, .op = M_OPENAT, .path = "/no/module",
		     .result = -2);
	for (size_t i = 0; i < 60; i++)
		add_operation(made, first + random_below(2), from, length);
	add_stacks(made, from);
	for (size_t i = 0; i < 30; i++)
		add_sample(made, first + random_below(2), from + random_below(length));
	for (size_t i = 1; i < 10; i++)
		add_request(made, i, first + random_below(2), from + random_below(length));
	DEVICE(made, .time = from + length, .dev = 8 << 20, .name = "sda", .reads = 20,
	       .read_bytes = 1 << 20, .writes = random_below(9));
}

static void lose_some(struct made_trace *made)
{
	made->kinds[TRACE_SYSCALL].events += 7;
	made->kinds[TRACE_SYSCALL].lost += 7;
	made->operations[M_READ].count += 7;
	made->operations[M_READ].bytes += 700;
	made->operations[M_READ].thread_time_ns += 70000;
}

/* Runs are consecutive if `apart`, otherwise they overlap. */
MADE void make_job(struct random_job *job, bool apart)
{
	static const char *const names[TRACES_MAX] = { "a", "b", "c", "d", "e", "f" };
	static const char *const hosts[HOSTS] = { "node1", "node2", "node3" };
	bool ranked = random_below(4), one_host = !random_below(3), computes = random_below(4);
	uint64_t at = 1000 * MS;

	job->count = 2 + random_below(TRACES_MAX - 1);
	for (size_t i = 0; i < job->count; i++) {
		size_t host = one_host ? 0 : random_below(HOSTS);
		uint64_t length = (40 + random_below(60)) * MS, boot = host * 7777 * MS;
		uint64_t from = at + (apart ? 0 : random_below(20 * MS));

		/* The wall clock is adjusted slightly while a host runs. A summary of several hosts
		 * only has the first one's clock.
		 */
		BEGIN(&job->made[i], .host = hosts[host], .boot_id = hosts[host], .spans = true,
		      .async = true, .block = true, .stacks = true, .monotonic_ns = from + boot,
		      .realtime_ns = 1700000000000000000ull + from + host * 17 +
				     (one_host ? random_below(100) : 0));
		add_run(&job->made[i], i, host, from + boot, length, ranked, computes);
		if (!random_below(5))
			lose_some(&job->made[i]);
		job->traces[i] = made_finish(&job->made[i], from + boot, from + boot + length);
		job->names[i] = names[i];
		if (apart)
			at += length + 10 * MS; /* some operations outlast the run */
	}
}

MADE void free_job(struct random_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		made_close(&job->made[i]);
}

/* --- summaries --- */

MADE struct report *report_on(struct trace_reader *const *readers, const char *const *names,
			      size_t count)
{
	struct trace_error error = { "" };
	struct report *report;

	if (report_make(&report, readers, names, count, NULL, &error))
		fail_msg("%s", error.text);
	return report;
}

MADE struct trace_reader *opened(int fd)
{
	struct trace_error error = { "" };
	struct trace_reader *reader;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_reader_open(&reader, path, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* Frees the report. */
MADE struct trace_reader *summarized(struct report *report, size_t rows, int *fd)
{
	*fd = memfd_create("summary", MFD_CLOEXEC);
	assert_int_equal(summary_write(*fd, report, rows), 0);
	report_free(report);
	return opened(*fd);
}

/* A random split of a job: some traces stay traces, the rest become summaries of one or several
 * traces, and some of these are summarized again.
 */
struct parted {
	struct trace_reader *readers[TRACES_MAX], *opened[2 * TRACES_MAX];
	const char *names[TRACES_MAX];
	size_t count, opened_count;
	int fds[2 * TRACES_MAX];
};

/* Frees the report. */
MADE struct trace_reader *summarize_report(struct parted *parted, struct report *report,
					   size_t rows)
{
	struct trace_reader *made = summarized(report, rows, &parted->fds[parted->opened_count]);

	parted->opened[parted->opened_count++] = made;
	return made;
}

MADE struct trace_reader *summarize(struct parted *parted, struct trace_reader *const *readers,
				    const char *const *names, size_t count, size_t rows)
{
	return summarize_report(parted, report_on(readers, names, count), rows);
}

MADE void part(struct parted *parted, const struct random_job *job, bool apart)
{
	size_t at = 0;

	*parted = (struct parted) { .count = 0 };
	while (at < job->count) {
		size_t count = 1 + random_below(job->count - at);
		struct trace_reader *one = job->traces[at];

		/* Traces of one summary must be contiguous. */
		if (random_below(3) || (apart && at))
			one = summarize(parted, job->traces + at, job->names + at, count,
					SUMMARY_ROWS_MAX);
		else
			count = 1;
		if (!random_below(3))
			one = summarize(parted, &one, job->names + at, 1, SUMMARY_ROWS_MAX);
		parted->names[parted->count] = job->names[at];
		parted->readers[parted->count++] = one;
		at += count;
	}
}

MADE void free_parted(struct parted *parted)
{
	for (size_t i = 0; i < parted->opened_count; i++) {
		trace_reader_close(parted->opened[i]);
		close(parted->fds[i]);
	}
}
