/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Evidence of findings about mounts: what round trips show. */
#include "unit_test.h"

#include "findings_made.h"

#define MOUNT 44

static const struct cell *evidence(const struct report *report, const char *id, const char *name)
{
	const struct table *record =
		ask(report, "findings", find_row(report, "findings", "id", id), "evidence")->table;
	int column = table_find_column(record, name);

	assert_int_not_equal(column, -1);
	return &record->cells[column];
}

/* Slow reads, a few of them faster, and requests without data. */
struct trips {
	uint64_t read_ns, fast_ns, empty_ns, empty; /* empty: how many */
	bool pairs;				    /* two reads at a time */
	const char *limit;
};

static void add_trips(struct made_trace *made, const struct trips *trips)
{
	for (uint64_t i = 0; i < 50; i++) {
		const uint64_t time = i % 5 ? trips->read_ns : trips->fast_ns;

		REMOTE(made, .time = 100 + (trips->pairs ? i / 2 * 2 : i) * 18 * MS, .dur = time,
		       .rtt = time, .pid = 10, .op = M_NFS_READ, .node = 2, .dev = MOUNT,
		       .offset = i * MIB, .bytes = MIB / 4);
	}
	for (uint64_t i = 0; i < trips->empty; i++)
		REMOTE(made, .time = 200 + i * MS, .dur = trips->empty_ns, .rtt = trips->empty_ns,
		       .pid = 10, .op = M_NFS_ACCESS, .node = 2, .dev = MOUNT, .offset = -1);
}

TEST(test_link_or_server)
{
	static const char link[] = "the link is slow, or the server delays every request";
	static const char server[] = "the server is slow";
	static const char either[] = "the link or the server is slow; which is unknown";
	static const struct trips all[] = {
		{ 16 * MS, 16 * MS, 9 * MS, 40, .limit = link },
		{ 16 * MS, 7 * MS, MS, 40, .limit = server },
		{ 16 * MS, 9 * MS, MS, 40, .limit = either },	 /* all take long */
		{ 16 * MS, 7 * MS, 9 * MS, 5, .limit = either }, /* too few to compare with */
		{ 16 * MS, 7 * MS, MS, 40, .pairs = true, .limit = either },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct cell *limit;
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .nfs = true);
		add_trips(&made, &all[i]);
		made_finish(&made, 10, END);
		report = made_report(&made.reader, 1);
		limit = evidence(report, "device-slow", "limit");
		if (limit->type != CELL_TEXT || strncmp(limit->text, all[i].limit, limit->length) ||
		    limit->length != strlen(all[i].limit))
			fail_msg("case %zu: %.*s", i, (int)limit->length, limit->text);
		done(&made, report);
	}
}

/* Other mounts have no such text. */
TEST(test_unknown_round_trips)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .fuse = true);
	for (uint64_t i = 0; i < 50; i++)
		REMOTE(&made, .time = 100 + i * 16 * MS, .dur = 16 * MS, .queue = 0, .pid = 10,
		       .op = M_FUSE_READ, .node = 2, .dev = MOUNT, .offset = i * MIB,
		       .bytes = MIB / 4);
	made_finish(&made, 10, END);
	report = made_report(&made.reader, 1);
	assert_int_equal(evidence(report, "device-slow", "limit")->type, CELL_NULL);
	done(&made, report);
}

/* Attributes of one file, again and again, and of as many files once. */
TEST(test_attributes_again)
{
	static const struct {
		uint64_t nodes, step, again;
	} all[] = { { 1, MS / 2, 1199 }, { 1200, MS / 2, 0 }, { 600, MS / 2, 600 } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct cell *again;
		struct made_trace made;
		struct report *report;

		BEGIN_RUN(&made, .fuse = true);
		for (uint64_t j = 0; j < 1200; j++)
			REMOTE(&made, .time = 100 + j * all[i].step, .dur = MS / 4, .queue = -1,
			       .pid = 10, .op = M_FUSE_GETATTR, .node = 1 + j % all[i].nodes,
			       .dev = MOUNT, .offset = -1);
		made_finish(&made, 10, END);
		report = made_report(&made.reader, 1);
		again = evidence(report, "mount-metadata", "again");
		assert_int_equal(again->type == CELL_NULL ? 0 : again->uint, all[i].again);
		done(&made, report);
	}
}

/* They may have changed since, if the last request was long ago. */
TEST(test_attributes_later)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .fuse = true);
	for (uint64_t i = 0; i < 60; i++)
		REMOTE(&made, .time = 100 + i * 1100 * MS, .dur = 900 * MS, .queue = -1, .pid = 10,
		       .op = M_FUSE_GETATTR, .node = 1, .dev = MOUNT, .offset = -1);
	made_finish(&made, 10, 66 * END);
	report = made_report(&made.reader, 1);
	assert_int_equal(evidence(report, "mount-metadata", "again")->type, CELL_NULL);
	done(&made, report);
}
