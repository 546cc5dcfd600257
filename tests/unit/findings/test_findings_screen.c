/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings on the first screen: how many, and how exact their costs are. */
#include "unit_test.h"

#include "findings_made.h"
#include "output/base/sink.h"
#include "output/text/screen.h"

/* Uses only some of these traces; test_findings_rules.c checks that none is unused. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "findings_of_jobs.h"
#include "findings_of_reads.h"
#include "findings_of_writes.h"

static const struct style plain = { .width = 200 };

static void show(struct made_trace *made, struct sink *out)
{
	struct report *report = report_between(made, 10, END);

	sink_open_memory(out);
	screen_write(out, report, &plain);
	sink_bytes(out, "", 1);
	done(made, report);
}

static void check_shown(const struct sink *out, const char *words, bool shown)
{
	if (!strstr(out->buffer, words) == shown)
		fail_msg("\"%s\" %s in %s", words, shown ? "is not" : "is", out->buffer);
}

/* Five findings, and the number of the others. */
TEST(test_most_findings)
{
	for (uint64_t devices = 5; devices < 8; devices += 2) {
		struct made_trace made;
		struct sink out;

		BEGIN_RUN(&made, .block = true);
		for (uint64_t i = 0; i < devices; i++)
			REQUEST(&made, .time = 100 + i * MS, .dur = MS, .pid = 10,
				.op = M_REQUEST_WRITE, .bytes = MIB, .dev = 8 << 20 | i << 4,
				.status = 10);
		show(&made, &out);
		check_shown(&out, "5. HIGH", true);
		check_shown(&out, "6. HIGH", false);
		check_shown(&out, "and 2 more (--table findings)", devices == 7);
		sink_close(&out);
	}
}

TEST(test_marks_of_costs)
{
	static const struct {
		void (*make)(struct made_trace *made, bool sound);
		const char *cost;
	} runs[] = {
		{ fsync_often, "HIGH  200 ms (20.0%)" },
		{ random_reads, "LOW  ~15.0 ms (~1.5%)" },
		{ small_reads_cached, "LOW  ≥12.5 ms (≥1.3%)" },
		{ requests_small, "HIGH  ≤160 ms (≤16.0%)" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct made_trace made;
		struct sink out;

		BEGIN_RUN(&made, .block = true);
		runs[i].make(&made, false);
		show(&made, &out);
		check_shown(&out, runs[i].cost, true);
		sink_close(&out);
	}
}
