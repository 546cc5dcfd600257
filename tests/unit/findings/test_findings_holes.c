/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about data from storage, on files that consist of holes: these fill the page cache, but
 * no device reads anything.
 */
#include "unit_test.h"

#include "findings_made.h"
#include "trace/format/flags.h"

#define FILE_BYTES (256 * MIB)

static void read_all(struct made_trace *made, uint64_t start, uint64_t file, uint64_t fetched)
{
	for (uint64_t i = 0; i < 64; i++)
		CALL(made, .time = start + i * 5 * MS, .dur = 5 * MS, .pid = 10, .op = M_READ,
		     .file = file, .offset = i * 4 * MIB, .asked = 4 * MIB, .result = 4 * MIB,
		     .fetched = fetched);
}

static void load(struct made_trace *made)
{
	read_all(made, 100, 1, 4 * MIB);
}

static void epochs_from(struct made_trace *made, uint64_t later)
{
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		const uint64_t at = 100 + epoch * 400 * MS;

		SPAN(made, .begin = at, .end = at + 390 * MS, .pid = 10, .id = 1, .name = "epoch");
		read_all(made, at + 10, 1, epoch ? later : 4 * MIB);
	}
}

static void epochs_from_storage(struct made_trace *made)
{
	epochs_from(made, 4 * MIB);
}

static void epochs_from_memory(struct made_trace *made)
{
	epochs_from(made, 0);
}

static void start(struct made_trace *made)
{
	for (uint64_t i = 0; i < 64; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 2,
		      .offset = i * MIB, .flags = TRACE_FAULT_MAJOR, .fetched = MIB);
}

static const struct {
	const char *id;
	void (*make)(struct made_trace *made);
} findings[] = {
	{ "load-waits", load },
	{ "epoch-from-storage", epochs_from_storage },
	{ "epoch-from-memory", epochs_from_memory },
	{ "cold-start", start },
};

/* Facts required to conclude that a file consists of holes. */
static const struct {
	const char *filesystem;
	uint64_t device_bytes, elsewhere_bytes;
	bool no_block, holes;
} cases[] = {
	{ .filesystem = "xfs", .device_bytes = FILE_BYTES },
	{ .filesystem = "xfs", .holes = true },
	{ .filesystem = "ext4", .device_bytes = MIB, .elsewhere_bytes = MIB, .holes = true },
	{ .filesystem = "nfs4" },
	{ .filesystem = "xfs", .no_block = true },
};

static bool is_found(const char *id, void (*make)(struct made_trace *made), size_t number)
{
	struct made_trace made;
	struct report *report;
	bool found;

	BEGIN_RUN(&made, .block = !cases[number].no_block, .spans = true,
		  .memory_bytes = 4 * FILE_BYTES);
	FILE_ROW(&made, .time = 12, .id = 1, .dev = 1, .ino = 1, .size = FILE_BYTES,
		 .path = "/data/a", .filesystem = cases[number].filesystem);
	FILE_ROW(&made, .time = 13, .id = 2, .dev = 1, .ino = 2, .size = FILE_BYTES,
		 .path = "/usr/lib/libbig.so", .filesystem = cases[number].filesystem);
	FILE_ROW(&made, .time = 14, .id = 3, .dev = 2, .ino = 3, .size = FILE_BYTES,
		 .path = "/net/a", .filesystem = "nfs4");
	make(&made);
	if (cases[number].elsewhere_bytes)
		CALL(&made, .time = 900 * MS, .dur = MS, .pid = 10, .op = M_READ, .file = 3,
		     .asked = MIB, .result = MIB, .fetched = cases[number].elsewhere_bytes);
	if (cases[number].device_bytes)
		REQUEST(&made, .time = 100, .dur = 20 * MS, .queue = US, .pid = 10,
			.op = M_REQUEST_READ, .file = 1, .id = 1, .dev = 8 << 20,
			.bytes = cases[number].device_bytes);
	report = report_between(&made, 10, END);
	found = row_with(report, "findings", "id", id) >= 0;
	done(&made, report);
	return found;
}

TEST(test_holes)
{
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++)
		for (size_t j = 0; j < sizeof(cases) / sizeof(cases[0]); j++)
			if (is_found(findings[i].id, findings[i].make, j) == cases[j].holes)
				fail_msg("%s in case %zu", findings[i].id, j);
}

/* Data that may have come from elsewhere is not taken for holes. */
static void both(struct made_trace *made)
{
	load(made);
	read_all(made, 400 * MS, 3, 4 * MIB);
}

TEST(test_elsewhere)
{
	assert_true(is_found("load-waits", both, 1));
}
