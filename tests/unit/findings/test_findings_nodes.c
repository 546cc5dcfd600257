/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which node's storage is slower: from one trace of each node, and from their summaries. */
#include "unit_test.h"

#include <stdlib.h>

#include "analysis/report/summary.h"
#include "ask_report.h"

#define MS 1000000ull
#define END (1000 * MS)
#define NODES 3
#define SLOW 1

struct node {
	uint64_t count, bytes, time_ns;
};

static bool on_mounts; /* no disks were recorded */

static void make_node(struct made_trace *made, const char *host, const struct node *node)
{
	BEGIN(made, .host = host, .boot_id = host, .block = !on_mounts, .fuse = on_mounts);
	EXEC(made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(made, .time = 11, .id = 1, .dev = 8 << 20, .ino = 1, .size = 1 << 30,
		 .path = "/data/a");
	for (uint64_t i = 0; i < node->count; i++) {
		const uint64_t at = 100 + i * node->time_ns;

		CALL(made, .time = at, .dur = node->time_ns, .pid = 10, .op = M_PREAD, .file = 1,
		     .asked = node->bytes, .result = node->bytes, .fetched = node->bytes);
		if (on_mounts) {
			REMOTE(made, .time = at, .dur = node->time_ns, .pid = 10, .op = M_FUSE_READ,
			       .file = 1, .node = 1, .dev = 44, .offset = i * node->bytes,
			       .bytes = node->bytes);
			continue;
		}
		BIO(made, .time = at, .dur = node->time_ns, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1, .offset = i * node->bytes, .bytes = node->bytes, .request = i + 1,
		    .dev = 8 << 20);
		REQUEST(made, .time = at, .dur = node->time_ns, .pid = 10, .op = M_REQUEST_READ,
			.file = 1, .id = i + 1, .bytes = node->bytes, .dev = 8 << 20);
	}
	made_finish(made, 10, END);
}

/* Replaces a trace by its summary. */
static struct trace_reader *summarized(struct trace_reader *reader, char path[32])
{
	const int fd = mkstemp(strcpy(path, "/tmp/node-XXXXXX"));
	struct report *report = made_report(&reader, 1);
	struct trace_reader *summary;
	struct trace_error error;

	assert_int_equal(row_of_finding(report, "node-slow"), -1);
	assert_int_equal(summary_write(fd, report, SUMMARY_ROWS_MAX), 0);
	report_free(report);
	close(fd);
	if (trace_reader_open(&summary, path, &error))
		fail_msg("%s", error.text);
	unlink(path);
	return summary;
}

static void check(const struct report *report, const char *says)
{
	const int row = row_of_finding(report, "node-slow");

	assert_int_equal(row >= 0, says != NULL);
	if (!says)
		return;
	check_text(report, "findings", row, "title",
		   "Storage of node node1 is slower than that of the others");
	check_text(report, "findings", row, "says", says);
}

/* `slow`: what the second of the nodes does. says: NULL for no finding. */
static void check_nodes(struct node slow, const char *says)
{
	static const char *const hosts[NODES] = { "node0", "node1", "node2" };
	static const struct node others = { 60, 65536, 2 * MS };
	struct trace_reader *readers[NODES], *summaries[NODES];
	struct made_trace made[NODES];
	char path[32];
	struct report *report;

	for (int i = 0; i < NODES; i++) {
		make_node(&made[i], hosts[i], i == SLOW ? &slow : &others);
		readers[i] = made[i].reader;
		summaries[i] = summarized(readers[i], path);
	}
	report = made_report(readers, NODES);
	check(report, says);
	report_free(report);
	report = made_report(summaries, NODES);
	check(report, says);
	report_free(report);
	for (int i = 0; i < NODES; i++) {
		trace_reader_close(summaries[i]);
		made_close(&made[i]);
	}
}

TEST(test_slow)
{
	for (int i = 0; i < 2; i++) {
		on_mounts = i;
		check_nodes((struct node) { 60, 65536, 10 * MS },
			    "a request takes 10.0 ms, median 2.0 ms of 3 nodes (5 times as long); "
			    "60 requests");
	}
	on_mounts = false;
}

/* Larger requests take longer, smaller ones longer per byte, and a few are chance. */
TEST(test_not_slow)
{
	check_nodes((struct node) { 60, 5 * 65536, 10 * MS }, NULL);
	check_nodes((struct node) { 400, 8192, 2 * MS }, NULL);
	check_nodes((struct node) { 20, 65536, 30 * MS }, NULL);
	check_nodes((struct node) { 60, 65536, 3 * MS }, NULL);
}

/* Time that may be well spent is a note in each run, and stays one in all of them together. */
TEST(test_notes)
{
	static const char *const hosts[] = { "node0", "node1" };
	struct trace_reader *readers[2], *summaries[2];
	struct made_trace made[2];
	struct report *reports[2];
	char path[32];

	for (int i = 0; i < 2; i++) {
		BEGIN(&made[i], .host = hosts[i], .boot_id = hosts[i], .threads = true);
		EXEC(&made[i], .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
		THREAD_TIME(&made[i], .time = 11, .dur = END - 11, .pid = 10,
			    .states[THREAD_CPU] = END - 11);
		made_finish(&made[i], 10, END);
		readers[i] = made[i].reader;
		summaries[i] = summarized(readers[i], path);
	}
	reports[0] = made_report(readers, 1);
	reports[1] = made_report(summaries, 2);
	for (int i = 0; i < 2; i++) {
		const int row = row_of_finding(reports[i], "cpu-bound");

		assert_true(row >= 0);
		check_text(reports[i], "findings", row, "severity", "note");
		report_free(reports[i]);
		trace_reader_close(summaries[i]);
	}
	for (int i = 0; i < 2; i++)
		made_close(&made[i]);
}

/* The CPUs of all hosts are the run's; the traces of one host share its CPUs. */
TEST(test_cpus)
{
	static const char *const hosts[] = { "node0", "node1", "node1" };
	struct trace_reader *readers[3];
	struct made_trace made[3];
	struct report *report;

	for (int i = 0; i < 3; i++) {
		BEGIN(&made[i], .host = hosts[i], .boot_id = hosts[i], .threads = true);
		EXEC(&made[i], .time = 11, .pid = 10 + i, .comm = "a", .command = "a", .rank = i);
		THREAD_TIME(&made[i], .time = 11, .dur = END - 11, .pid = 10 + i,
			    .states[THREAD_CPU] = END / 2, .states[THREAD_RUNNABLE] = END / 2 - 11);
		made_finish(&made[i], 10, END);
		readers[i] = made[i].reader;
	}
	report = made_report(readers, 3);
	check_text(report, "findings", row_of_finding(report, "cpu-starved"), "advice",
		   "Find what else runs on the 4 CPUs, or request CPUs of its own");
	report_free(report);
	for (int i = 0; i < 3; i++)
		made_close(&made[i]);
}
