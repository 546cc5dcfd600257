/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracks of a timeline: more threads than it separates, and block requests. */
#include "unit_test.h"

#include "make_trace.h"
#include "output/timeline/timeline.h"

#define MS 1000000ull
#define START (1000 * MS)
#define FURTHER 1000

static size_t count_of(const struct sink *text, const char *part)
{
	size_t count = 0, length = strlen(part), left = text->used;
	const char *at = text->buffer, *found;

	while ((found = memmem(at, left, part, length))) {
		count++;
		left -= found + length - at;
		at = found + length;
	}
	return count;
}

/* Threads beyond the limit share a track of their process; none of their events is left out. */
TEST(test_many_threads)
{
	static const char *const name = "many.flt";
	const struct export_options options = { .filter = NULL };
	struct trace_error error = { "" };
	struct made_trace made;
	struct sink text;

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < TIMELINE_THREADS_MAX + FURTHER; i++)
		CALL(&made, .time = START + i * 10, .dur = 5, .pid = 10, .tid = 1000 + i,
		     .op = M_READ, .file = 1, .asked = 1, .result = 1);
	made_finish(&made, START, START + 100 * MS);
	sink_open_memory(&text);
	assert_int_equal(
		timeline_export(&export_chrome, &text, &made.reader, &name, 1, &options, &error),
		0);
	assert_int_equal(count_of(&text, "\"ph\":\"X\""), TIMELINE_THREADS_MAX + FURTHER);
	assert_int_equal(count_of(&text, "\"1000 events of further threads\""), 1);
	assert_int_equal(count_of(&text, "further threads"), 1);
	sink_close(&text);
	made_close(&made);
}

/* Overlapping requests are on separate tracks; arrows come from the call that queued them. */
TEST(test_requests)
{
	static const char *const name = "requests.flt";
	const struct export_options options = { .filter = NULL };
	const uint64_t dev = 7 << 20 | 3;
	struct trace_error error = { "" };
	struct made_trace made;
	struct sink text;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .path = "/data");
	CALL(&made, .time = START + 100, .dur = 1000, .pid = 10, .op = M_PREAD, .file = 1,
	     .asked = 1, .result = 1);
	/* A request of two parts, and a concurrent one of the kernel's. */
	BIO(&made, .time = START + 200, .dur = 500, .pid = 10, .op = M_REQUEST_READ, .file = 1,
	    .request = 1, .bytes = 4096, .dev = dev);
	BIO(&made, .time = START + 210, .dur = 490, .pid = 10, .op = M_REQUEST_READ, .file = 1,
	    .request = 1, .bytes = 4096, .dev = dev);
	REQUEST(&made, .time = START + 220, .dur = 480, .queue = 80, .pid = 10, .id = 1,
		.op = M_REQUEST_READ, .file = 1, .bytes = 8192, .dev = dev, .bios = 2);
	REQUEST(&made, .time = START + 230, .dur = 100, .op = M_REQUEST_WRITE, .file = 1, .id = 2,
		.bytes = 4096, .dev = dev);
	/* A request outside any call has no arrow. */
	BIO(&made, .time = START + 2000, .dur = 500, .pid = 10, .op = M_REQUEST_READ, .file = 1,
	    .bytes = 4096, .dev = dev, .request = 9);
	DEVICE(&made, .time = START + 3000, .dev = dev, .name = "loop3");
	made_finish(&made, START, START + 100 * MS);
	sink_open_memory(&text);
	assert_int_equal(
		timeline_export(&export_chrome, &text, &made.reader, &name, 1, &options, &error),
		0);
	assert_int_equal(count_of(&text, "\"device loop3 (7:3)\""), 1);
	assert_int_equal(count_of(&text, "\"ph\":\"X\""), 3);
	assert_int_equal(count_of(&text, "\"ph\":\"s\",\"pid\":10,\"tid\":10"), 1);
	assert_int_equal(count_of(&text, "\"ph\":\"f\",\"pid\":5000000,\"tid\":5000001"), 1);
	assert_int_equal(count_of(&text, "\"ph\":\"s\""), 1);
	assert_int_equal(count_of(&text, "\"tid\":5000002,\"ts\""), 1);
	assert_int_equal(count_of(&text, "\"queue_ns\":80,\"service_ns\":400,\"queued_by_pid\":10"),
			 1);
	assert_int_equal(count_of(&text, "\"queued_by\":\"kernel\""), 1);
	sink_close(&text);
	made_close(&made);
}

/* Each of many requests in flight has a lane of its own, which the next one takes over. */
TEST(test_many_lanes)
{
	static const char *const name = "lanes.flt";
	const struct export_options options = { .filter = NULL };
	const uint64_t many = 20000, dev = 7 << 20 | 3;
	struct trace_error error = { "" };
	struct made_trace made;
	struct sink text;

	BEGIN(&made, .block = true, .lanes = 1);
	for (uint64_t i = 0; i < 2 * many; i++)
		REQUEST(&made, .time = START + i, .dur = many, .op = M_REQUEST_READ, .id = i + 1,
			.bytes = 4096, .dev = dev);
	made_finish(&made, START, START + 100 * MS);
	sink_open_memory(&text);
	assert_int_equal(
		timeline_export(&export_chrome, &text, &made.reader, &name, 1, &options, &error),
		0);
	/* The first lanes are tracks with two requests each; those of the others are not on tracks.
	 */
	assert_int_equal(count_of(&text, "\"ph\":\"X\""), 2 * 512);
	assert_int_equal(count_of(&text, "\"ph\":\"b\""), 2 * (many - 512));
	assert_int_equal(count_of(&text, "\"tid\":5000512,\"ts\""), 2);
	sink_close(&text);
	made_close(&made);
}
