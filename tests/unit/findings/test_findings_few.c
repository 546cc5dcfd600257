/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Few operations that take long are found like many that take little each. */
#include "unit_test.h"

#include "findings_made.h"

/* Each makes operations that take `each` ns. */

static void shallow(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, 64 * MIB, "/data/a");
	CALLS(made, 100, .count = 20, .op = M_URING_READ, .bytes = 4096, .step = 4096, .dur = each,
	      .flags = TRACE_OP_DIRECT);
}

static void synced(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, MIB, "/data/log");
	CALLS(made, 100, .count = 10, .op = M_WRITE, .bytes = 64 * KIB, .dur = each,
	      .flags = TRACE_OP_SYNC);
}

static void failing(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 10, .op = M_PREAD, .asked = 4096, .result = -5, .dur = each);
}

static void short_ones(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 20, .op = M_PREAD, .bytes = 1000, .asked = 4096, .dur = each);
}

static void partial(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, 64 * MIB, "/data/table");
	for (uint64_t i = 0; i < 10; i++)
		CALL(made, .time = 100 + i * 30 * MS, .dur = each, .pid = 10, .op = M_WRITE,
		     .file = 1, .offset = i * 100000, .asked = 1000, .result = 1000,
		     .read_for_write = 4096);
}

static void shared(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, MIB, "/data/results");
	for (uint64_t i = 0; i < 6; i++)
		CALL(made, .time = 100 + i * each / 2, .dur = each, .pid = 10, .tid = 10 + i % 2,
		     .op = M_WRITE, .file = 1, .asked = 8192, .result = 8192);
}

static void looked_up(struct made_trace *made, uint64_t each)
{
	for (uint64_t i = 0; i < 20; i++)
		REMOTE(made, .time = 300 + i * 30 * MS, .dur = each, .queue = -1, .pid = 10,
		       .op = M_FUSE_LOOKUP, .node = 1, .dev = 44, .offset = -1);
}

static void flushed(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, MIB, "/data/a");
	CALLS(made, 100, .count = 3, .op = M_FSYNC, .dur = each);
	REQUEST(made, .time = 100, .dur = MS, .pid = 10, .op = M_REQUEST_READ, .bytes = 4096,
		.dev = 8 << 20);
	DEVICE(made, .time = END - 1, .dev = 8 << 20, .name = "sda", .reads = 1, .read_bytes = 4096,
	       .flushes = 3, .flush_ns = 3 * each);
}

static void in_pieces(struct made_trace *made, uint64_t each)
{
	add_file(made, 1, 256 * MIB, "/data/a");
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t at = 100 + i * 100 * MS;

		CALL(made, .time = at, .dur = each, .pid = 10, .op = M_PREAD, .file = 1,
		     .offset = i * MIB, .asked = MIB / 2, .result = MIB / 2,
		     .flags = TRACE_OP_DIRECT);
		for (uint64_t j = 0; j < 32; j++)
			BIO(made, .time = at + 1 + j, .dur = each - 100, .pid = 10,
			    .op = M_REQUEST_READ, .file = 1, .offset = i * MIB + j * 16 * KIB,
			    .bytes = 16 * KIB, .request = i * 1000 + j, .dev = 8 << 20,
			    .flags = TRACE_BLOCK_DIRECT);
	}
}

TEST(test_few_but_long)
{
	static const struct {
		const char *id;
		void (*make)(struct made_trace *made, uint64_t each);
	} runs[] = {
		{ "shallow-queue", shallow },	 { "sync-writes", synced },
		{ "failed-calls", failing },	 { "short-reads", short_ones },
		{ "partial-writes", partial },	 { "shared-writes", shared },
		{ "mount-metadata", looked_up }, { "flushes", flushed },
		{ "requests-small", in_pieces },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		for (int takes_long = 0; takes_long < 2; takes_long++) {
			struct made_trace made;
			struct report *report;

			BEGIN_RUN(&made, .block = true, .fuse = true, .async = true);
			runs[i].make(&made, takes_long ? 30 * MS : 300 * US);
			report = report_between(&made, 10, END);
			if ((row_of_finding(report, runs[i].id) >= 0) != takes_long)
				fail_msg("%s: %s", runs[i].id,
					 takes_long ? "not found" : "found, although it is quick");
			done(&made, report);
		}
	}
}
