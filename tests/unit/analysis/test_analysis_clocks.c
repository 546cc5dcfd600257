/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Barriers show how far the clocks of two hosts are apart. */
#include "unit_test.h"

#include "ask_report.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define BARRIERS 5

/* How the second host differs from the first. */
struct other {
	int64_t ahead_ns; /* its clock */
	uint64_t late_ns; /* it reaches each barrier that much later */
	uint64_t more;	  /* barriers of its own */
	const char *name;
};

/* Two processes of a host pass barriers, which take 20 ms for the first to reach them. */
static void make_host(struct made_trace *made, const char *host, const struct other *other)
{
	const uint64_t realtime = 1700000000 * SECOND + (other ? other->ahead_ns : 0);

	BEGIN(made, .host = host, .boot_id = host, .spans = true, .monotonic_ns = 1,
	      .realtime_ns = realtime);
	for (uint64_t pid = 10; pid < 12; pid++)
		EXEC(made, .time = 11, .pid = pid, .comm = "a", .rank = -1);
	for (uint64_t i = 0; i < BARRIERS + (other ? other->more : 0); i++) {
		const uint64_t end = (i + 1) * SECOND;

		for (uint64_t pid = 10; pid < 12; pid++)
			SPAN(made, .begin = end - (other ? 20 * MS - other->late_ns : 20 * MS),
			     .end = end + pid * 1000, .pid = pid, .tid = pid, .id = i + 1,
			     .name = other && other->name ? other->name : "MPI_Barrier",
			     .category = "communication");
	}
	made_finish(made, 10, 9 * SECOND);
}

static void check_skew(const struct other *other, const char *says)
{
	struct trace_reader *readers[2];
	struct made_trace made[2];
	struct report *report;
	long row;

	make_host(&made[0], "node1", NULL);
	make_host(&made[1], "node2", other);
	for (int i = 0; i < 2; i++)
		readers[i] = made[i].reader;
	report = made_report(readers, 2);
	row = row_with(report, "caveats", "id", "skew");
	assert_int_equal(row >= 0, says != NULL);
	if (says)
		check_text(report, "caveats", row, "text", says);
	report_free(report);
	for (int i = 0; i < 2; i++)
		made_close(&made[i]);
}

#define ENDS                                                                                       \
	", judging by 5 barriers, which no process leaves before all have reached them; compare "  \
	"times of these hosts with that error"

TEST(test_skew)
{
	check_skew(&(struct other) { .ahead_ns = 3 * SECOND, .late_ns = 15 * MS },
		   "the clock of node2 is 3.0 s ahead of that of node1, ± 12.5 ms" ENDS);
	check_skew(&(struct other) { .ahead_ns = -3ll * (int64_t)SECOND, .late_ns = 15 * MS },
		   "the clock of node2 is 3.0 s behind that of node1, ± 12.5 ms" ENDS);
}

/* Less than a barrier takes, other spans, and barriers that are not all the same. */
TEST(test_no_skew)
{
	check_skew(&(struct other) { .late_ns = 15 * MS }, NULL);
	check_skew(&(struct other) { .ahead_ns = 19 * MS }, NULL);
	check_skew(&(struct other) { .ahead_ns = 3 * SECOND, .name = "step" }, NULL);
	check_skew(&(struct other) { .ahead_ns = 3 * SECOND, .more = 1 }, NULL);
}
