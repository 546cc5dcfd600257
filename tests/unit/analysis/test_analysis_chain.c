// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Operations and the requests they waited for: how their time splits by stage. */
#include "unit_test.h"

#include "ask_report.h"

struct made_part {
	uint64_t time, dur, queue, tid, file, bytes, request;
};

static void add_part(struct made_trace *made, const struct made_part *part)
{
	const uint64_t values[BIO_COLUMNS] = {
		[BIO_TIME] = part->time,   [BIO_DUR] = part->dur,
		[BIO_QUEUE] = part->queue, [BIO_PID] = 100,
		[BIO_TID] = part->tid,	   [BIO_OP] = M_REQUEST_WRITE,
		[BIO_FILE] = part->file,   [BIO_OFFSET] = -1,
		[BIO_BYTES] = part->bytes, [BIO_REQUEST] = part->request,
		[BIO_DEV] = 7 << 20 | 3,
	};

	made_row(made, TRACE_BIO, 0, values);
}

#define PART(made, ...) add_part(made, &(struct made_part) { __VA_ARGS__ })

static void check_line(const struct report *report, const char *table, size_t row, uint64_t time_ns,
		       uint64_t device_ns, uint64_t queue_ns, uint64_t other_ns, uint64_t bios)
{
	CHECK(report, table, row, "time_ns", time_ns);
	CHECK(report, table, row, "device_ns", device_ns);
	CHECK(report, table, row, "queue_ns", queue_ns);
	CHECK(report, table, row, "other_ns", other_ns);
	CHECK(report, table, row, "bios", bios);
}

TEST(test_own_requests)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
	FILE_ROW(&made, .id = 2, .ino = 2, .path = "/other");
	/* Two overlapping requests, and one read ahead at the end ... */
	CALL(&made, .time = 1000, .dur = 1000, .pid = 100, .op = M_PREAD, .file = 1, .result = 9);
	PART(&made, .time = 1100, .dur = 400, .queue = 100, .tid = 100, .file = 1, .bytes = 10,
	     .request = 1);
	PART(&made, .time = 1150, .dur = 650, .queue = 250, .tid = 100, .file = 1, .bytes = 20,
	     .request = 2);
	PART(&made, .time = 1900, .dur = 600, .queue = 50, .tid = 100, .file = 1, .bytes = 30,
	     .request = 3);
	/* ... for which the next one waits. */
	CALL(&made, .time = 2100, .dur = 600, .pid = 100, .op = M_PREAD, .file = 1, .result = 9);
	/* Another thread's request, at the same time. */
	PART(&made, .time = 1200, .dur = 3000, .queue = 1, .tid = 101, .file = 1, .bytes = 40,
	     .request = 4);
	CALL(&made, .time = 3000, .dur = 100, .pid = 100, .op = M_FSTAT, .file = 2);
	/* In a fault within a call on another file. */
	CALL(&made, .time = 4000, .dur = 500, .pid = 100, .op = M_WRITE, .file = 2, .result = 9);
	FAULT(&made, .time = 4100, .dur = 200, .pid = 100, .file = 1);
	PART(&made, .time = 4150, .dur = 400, .queue = 100, .tid = 100, .file = 1, .bytes = 50,
	     .request = 5);
	/* A removed or missing file has a name but no ID. */
	CALL(&made, .time = 5000, .dur = 50, .pid = 100, .op = M_UNLINK, .path = "/gone");
	report = report_of(&made, 10000);

	check_line(report, "slowest", 0, 1000, 650, 150, 200, 3);
	check_line(report, "slowest", 1, 600, 400, 0, 200, 1);
	check_line(report, "slowest", 2, 500, 250, 100, 150, 1);
	check_line(report, "slowest", 3, 200, 50, 100, 50, 1);
	check_line(report, "slowest", 4, 100, 0, 0, 100, 0);
	check_line(report, "slowest", 5, 50, 0, 0, 50, 0);
	check_text(report, "slowest", 4, "path", "/other");
	check_text(report, "slowest", 5, "path", "/gone");
	assert_int_equal(report_table(report, "slowest")->row_count, 6);

	/* By file: operations that did not wait are absent. */
	assert_int_equal(report_table(report, "latency_breakdown")->row_count, 2);
	check_line(report, "latency_breakdown", 0, 1800, 1100, 250, 450, 5);
	CHECK(report, "latency_breakdown", 0, "count", 3);
	CHECK(report, "latency_breakdown", 0, "bytes", 10 + 20 + 30 + 30 + 50);
	check_line(report, "latency_breakdown", 1, 500, 250, 100, 150, 1);
	CHECK(report, "files", 0, "waiting.time_ns", 1800);
	CHECK(report, "files", 0, "waiting.device_ns", 1100);
	CHECK(report, "files", 0, "waiting.queue_ns", 250);
	CHECK(report, "files", 0, "waiting.other_ns", 450);
	done(&made, report);
}

/* The table of spans matches the breakdown's own table; null if the layer is off. */
TEST(test_spans)
{
	for (int block = 0; block < 2; block++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .spans = true, .block = block);
		FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
		SPAN(&made, .begin = 500, .end = 5000, .pid = 100, .id = 1, .name = "load");
		CALL(&made, .time = 1000, .dur = 1000, .pid = 100, .op = M_PREAD, .file = 1,
		     .result = 9);
		if (block)
			PART(&made, .time = 1100, .dur = 400, .queue = 100, .tid = 100, .file = 1,
			     .bytes = 10, .request = 1);
		report = report_of(&made, 10000);
		if (block) {
			CHECK(report, "spans", 0, "waiting.time_ns", 1000);
			CHECK(report, "spans", 0, "waiting.device_ns", 300);
			CHECK(report, "spans", 0, "waiting.queue_ns", 100);
			CHECK(report, "span_latency", 0, "device_ns", 300);
		} else {
			check_null(report, "spans", 0, "waiting");
			check_null(report, "files", 0, "waiting");
		}
		done(&made, report);
	}
}

TEST(test_absent)
{
	static const char *const names[] = { "devices", "latency_breakdown", "span_latency",
					     "slowest" };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .off = "block");
	CALL(&made, .time = 1000, .dur = 1000, .pid = 100, .op = M_PREAD, .result = 9);
	report = report_of(&made, 10000);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(report_table(report, names[i])->absent);
		assert_non_null(report_table(report, names[i])->note);
	}
	done(&made, report);
}

/* Requests to a FUSE mount: before Linux 7.2 the time in their queue is part of the device's. */
TEST(test_mount)
{
	for (int known = 0; known < 2; known++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .block = true, .fuse = true);
		FILE_ROW(&made, .id = 1, .ino = 1, .path = "/mnt/data");
		CALL(&made, .time = 1000, .dur = 1000, .pid = 100, .op = M_PREAD, .file = 1,
		     .result = 9);
		REMOTE(&made, .time = 1100, .dur = 400, .queue = known ? 100 : -1, .pid = 100,
		       .op = M_FUSE_READ, .file = 1, .node = 2, .dev = 44, .bytes = 10);
		/* From the kernel and from another thread: not the call's. */
		REMOTE(&made, .time = 1600, .dur = 100, .queue = -1, .op = M_FUSE_WRITE, .file = 1,
		       .node = 2, .dev = 44, .bytes = 10);
		REMOTE(&made, .time = 1600, .dur = 100, .queue = -1, .pid = 101, .op = M_FUSE_READ,
		       .file = 1, .node = 2, .dev = 44, .bytes = 10);
		report = report_of(&made, 10000);
		CHECK(report, "latency_breakdown", 0, "device_ns", known ? 300 : 400);
		if (known)
			CHECK(report, "latency_breakdown", 0, "queue_ns", 100);
		else
			check_null(report, "latency_breakdown", 0, "queue_ns");
		CHECK(report, "latency_breakdown", 0, "other_ns", 600);
		CHECK(report, "slowest", 0, "bios", 1);
		done(&made, report);
	}
}
