/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Similar operations may be added up at once without changing the report: a report of random
 * stretches of similar operations equals the same report with instants strewn in between, which
 * break up the stretches.
 */
#include "unit_test.h"

#include <string.h>

#include "analysis/events/series.h"
#include "ask_report.h"
#include "output/base/json_tables.h"
#include "tests/random.h"

#define SEEDS 40
#define STRETCHES 12
#define LONGEST 200
#define FILES 9
#define US 1000ull
#define KIB 1024ull
#define BEGIN_NS 1000000000ull

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 8) % limit;
}

/* Attributes shared by all operations of a stretch. */
struct stretch {
	unsigned int op;
	uint64_t flags, pid, files, threads;
	bool slow, lacking, cold, backward, steady; /* steady: one file, one call after the other */
};

static struct stretch random_stretch(void)
{
	static const unsigned int ops[] = { M_PREAD, M_PREAD, M_READ, M_WRITE, M_FAULT, M_FSTAT };

	const bool steady = random_below(2);

	return (struct stretch) {
		.op = ops[random_below(sizeof(ops) / sizeof(ops[0]))],
		.flags = random_below(5) ? 0 : TRACE_OP_DIRECT,
		.pid = 10 + random_below(3),
		.files = steady ? 1 : 1 + random_below(FILES),
		.threads = steady ? 1 : 1 + random_below(3),
		.slow = !random_below(3),
		.lacking = !random_below(4),
		.cold = !random_below(3),
		.backward = !random_below(4),
		.steady = steady,
	};
}

static void add_fault(struct made_trace *made, const struct stretch *like, uint64_t now,
		      uint64_t dur)
{
	FAULT(made, .time = now, .dur = dur, .pid = like->pid,
	      .tid = like->pid + 100 * random_below(like->threads),
	      .file = 1 + random_below(like->files), .offset = random_below(256) * 4096,
	      .fetched = like->cold ? 4096 : 0, .flags = TRACE_FAULT_FILEMAP);
}

static void add_call(struct made_trace *made, const struct stretch *like, uint64_t number,
		     uint64_t now, uint64_t dur)
{
	const uint64_t asked = 4 * KIB * (1 + random_below(3));
	const bool moves = like->op != M_FSTAT, lacks = like->lacking && !random_below(30);
	const uint64_t page = like->backward ? LONGEST - number : number + random_below(2);

	CALL(made, .time = now, .dur = dur, .pid = like->pid,
	     .tid = like->pid + 100 * random_below(like->threads), .op = like->op,
	     .file = like->steady || random_below(40) ? 1 + random_below(like->files) : 0,
	     .offset = moves && random_below(50) ? (int64_t)(page * 4 * KIB) : -1,
	     .asked = moves ? asked : 0, .result = moves ? asked - (lacks ? KIB : 0) : 0,
	     .flags = like->flags, .fetched = like->cold && !random_below(20) ? asked : 0);
}

/* A thread's own readahead, for later operations. */
static void add_ahead(struct made_trace *made, const struct stretch *like, uint64_t now)
{
	BIO(made, .time = now, .dur = 30 * US, .queue = 5 * US, .pid = like->pid,
	    .op = M_REQUEST_READ, .file = 1 + random_below(FILES), .request = now, .dev = 8 << 20,
	    .bytes = 64 * KIB, .offset = random_below(64) * 4 * KIB);
}

/* A wait, perhaps for another thread, before or during operations. */
static void add_wait(struct made_trace *made, uint64_t now)
{
	const uint64_t pid = 10 + random_below(3), waker = 10 + random_below(4);

	WAIT(made, .time = now + random_below(300 * US), .dur = 1 + random_below(200 * US),
	     .pid = pid, .tid = pid + 100 * random_below(2), .state = "lock", .call = "futex",
	     .waker_pid = waker, .waker_tid = waker + 100 * random_below(2));
}

static uint64_t add_stretch(struct made_trace *made, uint64_t now, bool strewn, uint64_t *moments)
{
	const struct stretch like = random_stretch();
	const uint64_t count = 1 + random_below(LONGEST);

	for (uint64_t i = random_below(3); i; i--)
		add_wait(made, now);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t dur = US + random_below(like.slow ? 60 * US : 3 * US);

		if (like.op == M_FAULT)
			add_fault(made, &like, now, dur);
		else
			add_call(made, &like, i, now, dur);
		if (strewn && i % (SERIES_WORTH / 4) == 0) {
			made_instant(made, now + 1, like.pid, "moment", "test");
			--*moments;
		}
		now += 10 + random_below(2 * US) + (like.steady ? dur : 0);
	}
	for (uint64_t i = random_below(3); i; i--)
		add_ahead(made, &like, now += 10);
	return now + 10;
}

static struct report *report_of_random(uint64_t seed, bool strewn, struct made_trace *made)
{
	uint64_t now = BEGIN_NS, moments = STRETCHES * LONGEST;
	struct trace_reader *reader;

	random_state = seed;
	BEGIN(made, .spans = true, .block = true, .threads = true);
	made_fork(made, now, 10, 11);
	for (uint64_t i = 1; i <= FILES; i++)
		FILE_ROW(made, .time = now, .id = i, .dev = 8 << 20, .ino = i, .size = 1 << 20,
			 .path = (const char[]) { '/', 'a' + (char)i, 0 });
	for (int i = 0; i < STRETCHES; i++) {
		uint64_t began = now;

		now = add_stretch(made, now, strewn, &moments);
		if (i % 4 == 3)
			SPAN(made, .begin = began + 5, .end = now, .pid = 10, .id = 1 + i,
			     .name = "step", .category = "compute");
	}
	for (; moments; moments--)
		made_instant(made, now, 10, "moment", "test");
	for (uint64_t pid = 10; pid < 13; pid++)
		THREAD_TIME(made, .time = BEGIN_NS, .dur = now - BEGIN_NS, .pid = pid,
			    .states = { [THREAD_CPU] = now - BEGIN_NS });
	reader = made_finish(made, BEGIN_NS, now + 1);
	return made_report(&reader, 1);
}

static void check_same(const struct table *whole, const struct table *parted, uint64_t seed)
{
	struct sink reported_of_whole, reported_of_parted;

	sink_open_memory(&reported_of_whole);
	sink_open_memory(&reported_of_parted);
	assert_int_equal(json_tables(&reported_of_whole, &whole, 1), 0);
	assert_int_equal(json_tables(&reported_of_parted, &parted, 1), 0);
	/* JSON does not include notes. */
	if (whole->note)
		assert_string_equal(whole->note, parted->note);
	if (reported_of_whole.used != reported_of_parted.used ||
	    memcmp(reported_of_whole.buffer, reported_of_parted.buffer, reported_of_whole.used))
		fail_msg("seed %d: table %s is not the same", (int)seed, whole->name);
	sink_close(&reported_of_whole);
	sink_close(&reported_of_parted);
}

TEST(test_alike)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made_trace whole, parted;
		struct report *of_whole = report_of_random(seed, false, &whole);
		struct report *of_parted = report_of_random(seed, true, &parted);

		for (size_t i = 0; i < of_whole->table_count; i++)
			check_same(of_whole->tables[i], of_parted->tables[i], seed);
		report_free(of_whole);
		report_free(of_parted);
		made_close(&whole);
		made_close(&parted);
	}
}
