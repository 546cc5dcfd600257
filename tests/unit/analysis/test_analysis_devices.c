/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Devices: their file systems, and their requests over time, as a table and as drawn. */

#include "unit_test.h"

#include "analysis/devices/heat.h"
#include "analysis/events/device_list.h"
#include "ask_report.h"
#include "output/text/text.h"

#define MS 1000000ull
#define LOOP (7u << 20 | 3)

static const struct cell *over_time(const struct report *report, size_t row, size_t i,
				    enum heat_time_column column)
{
	const struct table *times = ask(report, "device_heat", row, "over_time")->table;

	assert_true(i < times->row_count);
	return &times->cells[i * times->column_count + column];
}

static size_t times_of(const struct report *report, size_t row)
{
	return ask(report, "device_heat", row, "over_time")->table->row_count;
}

static void make_requests(struct made_trace *made)
{
	BEGIN(made, .block = true);
	for (uint64_t i = 0; i < 50; i++)
		REQUEST(made, .time = 3 * MS / 2 + i, .dur = 3000, .op = M_REQUEST_READ,
			.bytes = 4096, .dev = LOOP);
	REQUEST(made, .time = 59 * MS, .dur = 8001, .queue = 8000, .op = M_REQUEST_READ,
		.bytes = 4097, .dev = LOOP);
	REQUEST(made, .time = 59 * MS, .dur = 100 * MS, .op = M_REQUEST_FLUSH, .dev = LOOP);
	DEVICE(made, .time = 60 * MS, .dev = LOOP, .name = "loop3", .reads = 60);
}

/* Mode profile records no requests: request values are null, not 0. */
TEST(test_of_sums)
{
	const struct cell *cell;
	struct made_trace made;
	struct report *report;
	const struct table *table;

	BEGIN(&made, .block = true, .mode = "profile");
	DEVICE(&made, .time = 60 * MS, .dev = LOOP, .name = "loop3", .reads = 60);
	report = report_of(&made, 60 * MS);
	table = report_table(report, "devices");
	assert_int_equal(table_find_column(table, "read.requests"), -1);
	cell = ask(report, "devices", 0, "read");
	assert_int_equal(cell->type, CELL_NULL);
	CHECK(report, "devices", 0, "all.read.requests", 60);
	assert_non_null(strstr(table->note, "not recorded"));
	assert_string_equal(table->columns[table->view.shown[2]].name, "all.read.requests");
	for (size_t i = 0; i < table->view.shown_count; i++)
		assert_non_null(table->columns[table->view.shown[i]].title);
	done(&made, report);
}

TEST(test_heat)
{
	struct made_trace made;
	struct report *report;

	make_requests(&made);
	report = report_of(&made, 60 * MS);
	/* From 4 us to 16 us; up to 4 KiB and up to 8 KiB; the flush. */
	assert_int_equal(report_table(report, "device_heat")->row_count, 3 + 2 + 1);
	CHECK(report, "device_heat", 0, "above", 2000);
	CHECK(report, "device_heat", 0, "upto", 4000);
	CHECK(report, "device_heat", 0, "requests", 50);
	check_text(report, "device_heat", 0, "measure", HEAT_LATENCY);
	check_text(report, "device_heat", 0, "name", "loop3");
	assert_int_equal(times_of(report, 0), 1);
	assert_int_equal(over_time(report, 0, 0, HEAT_TIME_REQUESTS)->uint, 50);
	CHECK(report, "device_heat", 1, "requests", 0);
	assert_int_equal(times_of(report, 1), 0);
	CHECK(report, "device_heat", 2, "upto", 16000);
	CHECK(report, "device_heat", 2, "requests", 1);
	check_text(report, "device_heat", 3, "measure", HEAT_SIZE);
	CHECK(report, "device_heat", 3, "above", 0);
	CHECK(report, "device_heat", 3, "upto", 4096);
	CHECK(report, "device_heat", 4, "upto", 8192);
	check_text(report, "device_heat", 5, "op", "flush");
	CHECK(report, "device_heat", 5, "upto", 1000ull << 17);
	done(&made, report);
}

TEST(test_drawn)
{
	const struct style style = { .width = 100 };
	const struct grid_options options = { .style = &style };
	struct made_trace made;
	struct report *report;
	struct sink out;

	make_requests(&made);
	report = report_of(&made, 60 * MS);
	sink_open_memory(&out);
	text_table(&out, report_table(report, "device_heat"), &options);
	sink_bytes(&out, "", 1);
	assert_int_equal(out.error, 0);
	assert_non_null(strstr(out.buffer, "loop3 read by time in queue and service, 51 requests"));
	assert_non_null(strstr(out.buffer, "≤ 4.0 us  ·█"));
	assert_non_null(strstr(out.buffer, "░·  1\n"));
	assert_non_null(strstr(out.buffer, "fewer requests omitted: 1 ("));
	sink_close(&out);
	done(&made, report);
}

TEST(test_numbers)
{
	const struct cell *cell;
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	FILE_ROW(&made, .id = 1, .ino = 1, .dev = 44, .path = "/overlay/data");
	FILE_ROW(&made, .id = 2, .ino = 2, .dev = 44, .path = "/overlay/more");
	BIO(&made, .time = 10, .dur = 1, .file = 1, .dev = LOOP, .op = M_REQUEST_READ);
	BIO(&made, .time = 11, .dur = 1, .file = 2, .dev = LOOP, .op = M_REQUEST_READ);
	REQUEST(&made, .time = 12, .dur = 1, .op = M_REQUEST_READ, .dev = LOOP, .part = LOOP + 1);
	report = report_of(&made, 60 * MS);
	cell = ask(report, "devices", 0, "st_devs");
	assert_int_equal(cell->length, 1);
	assert_memory_equal(cell->texts[0].text, "0:44", 4);
	cell = ask(report, "devices", 0, "partitions");
	assert_int_equal(cell->length, 1);
	assert_memory_equal(cell->texts[0].text, "7:4", 3);
	done(&made, report);
}

/* A hostile trace names a device in each row; jobs on many hosts have hundreds. */
TEST(test_many_devices)
{
	static const char *const tables[] = { "devices", "device_heat", "device_users",
					      "processes" };
	static const struct {
		uint64_t devices;
		bool told;
	} cases[] = { { LISTED_DEVICES_MAX, false }, { LISTED_DEVICES_MAX + 9, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .block = true);
		for (uint32_t j = 0; j < cases[i].devices; j++) {
			const uint32_t dev = (8 + j / 256) << 20 | j % 256;

			REQUEST(&made, .time = 1 + j, .dur = 1, .op = M_REQUEST_READ, .dev = dev,
				.bytes = 4096);
			BIO(&made, .time = 1 + j, .dur = 1, .op = M_REQUEST_READ, .dev = dev,
			    .bytes = 4096);
		}
		report = report_of(&made, 60 * MS);
		assert_int_equal(report_table(report, "devices")->row_count, LISTED_DEVICES_MAX);
		for (size_t j = 0; j < sizeof(tables) / sizeof(tables[0]); j++) {
			const char *note = report_table(report, tables[j])->note;
			const bool told = note && strstr(note, "events of devices beyond the "
							       "first 4,096 are omitted");

			assert_int_equal(told, cases[i].told);
		}
		done(&made, report);
	}
}

/* Positions and total sizes of requests, per kind. */
TEST(test_places_and_sizes)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	REQUEST(&made, .time = 10, .dur = 1, .op = M_REQUEST_READ, .dev = LOOP, .sector = 800,
		.bytes = 4096);
	REQUEST(&made, .time = 11, .dur = 9, .op = M_REQUEST_READ, .dev = LOOP, .sector = 808,
		.bytes = 8192);
	REQUEST(&made, .time = 12, .dur = 1, .op = M_REQUEST_WRITE, .dev = LOOP, .sector = 0,
		.bytes = 4097);
	REQUEST(&made, .time = 13, .dur = 1, .op = M_REQUEST_READ, .dev = LOOP, .sector = 824,
		.bytes = 4096);
	REQUEST(&made, .time = 14, .dur = 1, .op = M_REQUEST_READ, .dev = LOOP, .sector = 824,
		.bytes = 4096);
	report = report_of(&made, 60 * MS);
	CHECK(report, "devices", 0, "read.sequential", 2);
	CHECK(report, "devices", 0, "read.random", 1);
	CHECK(report, "devices", 0, "write.sequential", 0);
	CHECK(report, "devices", 0, "write.random", 0); /* the first write is neither */
	CHECK(report, "device_users", 0, "sizes.<=4KiB", 3);
	CHECK(report, "device_users", 0, "sizes.<=16KiB", 2);
	CHECK(report, "device_users", 0, "sizes.<=64KiB", 0);
	done(&made, report);
}

/* If the kernel counted more reads than were seen, the numbers of reads are lower bounds. */
TEST(test_unseen)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true);
	REQUEST(&made, .time = MS, .dur = 3000, .op = M_REQUEST_READ, .bytes = 4096, .dev = LOOP);
	REQUEST(&made, .time = 2 * MS, .dur = 3000, .op = M_REQUEST_WRITE, .bytes = 4096,
		.dev = LOOP);
	DEVICE(&made, .time = 60 * MS, .dev = LOOP, .name = "loop3", .reads = 5, .writes = 1,
	       .unseen_reads = 3, .unseen_read_bytes = 12288);
	DEVICE(&made, .time = 60 * MS, .dev = LOOP + 1, .name = "loop4", .reads = 1,
	       .unseen_reads = 1, .unseen_read_bytes = 4096);
	report = report_of(&made, 60 * MS);
	CHECK(report, "devices", 0, "unseen.reads", 3);
	CHECK(report, "devices", 0, "unseen.read_bytes", 12288);
	CHECK(report, "devices", 0, "unseen.writes", 0);
	assert_true(ask(report, "devices", 0, "read.requests")->at_least);
	assert_true(ask(report, "devices", 0, "all.read.bytes")->at_least);
	assert_false(ask(report, "devices", 0, "write.requests")->at_least);
	assert_non_null(strstr(report_table(report, "devices")->note,
			       "loop3: 3 reads (12.0 KiB) have no completion event; "
			       "loop4: 1 read (4.0 KiB) has no completion event"));
	done(&made, report);
}
#define MOUNT 44

/* Requests to the daemon of a FUSE mount: reads in order on each file, and other kinds. */
static void make_mount(struct made_trace *made, int64_t queue)
{
	FILE_ROW(made, .id = 1, .ino = 1, .dev = MOUNT, .path = "/mnt/a", .filesystem = "fuse");
	for (uint64_t i = 0; i < 3; i++) {
		REMOTE(made, .time = (10 + i) * MS, .dur = MS, .queue = queue, .pid = 10,
		       .op = M_FUSE_READ, .file = 1, .node = 2, .dev = MOUNT, .offset = i * 4096,
		       .bytes = 4096, .flags = TRACE_REMOTE_BACKGROUND);
		REMOTE(made, .time = (10 + i) * MS + 10, .dur = MS, .queue = queue, .pid = 10,
		       .op = M_FUSE_READ, .node = 3, .dev = MOUNT, .offset = i * 8192,
		       .bytes = 4096);
	}
	REMOTE(made, .time = 20 * MS, .dur = 2 * MS, .queue = queue, .pid = 10, .op = M_FUSE_READ,
	       .node = 3, .dev = MOUNT, .offset = 99, .asked = 4096, .error = 5);
	REMOTE(made, .time = 30 * MS, .dur = 3 * MS, .queue = queue, .op = M_FUSE_WRITE, .file = 1,
	       .node = 2, .dev = MOUNT, .bytes = 4096, .flags = TRACE_REMOTE_BACKGROUND);
	for (uint64_t i = 0; i < 2; i++)
		REMOTE(made, .time = (40 + i) * MS, .dur = 5 * MS, .queue = queue, .pid = 10,
		       .op = M_FUSE_LOOKUP, .node = 1, .dev = MOUNT, .offset = -1, .error = i * 2);
	/* A mount that has a block device is not a device. */
	REMOTE(made, .time = 50 * MS, .dur = MS, .queue = queue, .pid = 10, .op = M_FUSE_READ,
	       .node = 9, .dev = LOOP, .bytes = 4096);
	DEVICE(made, .time = 60 * MS, .dev = MOUNT, .name = "bucket (fuse.s3)", .reads = 9,
	       .read_bytes = 9 * 4096);
}

/* One mount after the other has the same number. */
TEST(test_instances)
{
	static const char *const names[] = { "first (fuse)", "second (fuse)" };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true, .fuse = true);
	for (uint64_t i = 0; i < 2; i++) {
		FILE_ROW(&made, .id = i + 1, .ino = 1, .dev = MOUNT, .instance = i + 7,
			 .path = i ? "/b/file" : "/a/file", .filesystem = "fuse");
		for (uint64_t j = 0; j <= i; j++)
			REMOTE(&made, .time = (10 * i + j + 1) * MS, .dur = MS, .queue = -1,
			       .pid = 10, .op = M_FUSE_READ, .file = i + 1, .node = 2, .dev = MOUNT,
			       .instance = i + 7, .offset = j * 4096, .bytes = 4096);
		DEVICE(&made, .time = (10 * i + 5) * MS, .dev = MOUNT, .instance = i + 7,
		       .name = names[i], .reads = 5 + i);
	}
	report = report_of(&made, 60 * MS);
	assert_int_equal(report_table(report, "devices")->row_count, 2);
	for (size_t i = 0; i < 2; i++) {
		size_t row = find_row(report, "devices", "name", names[i]);

		CHECK(report, "devices", row, "read.requests", 1 + i);
		CHECK(report, "devices", row, "all.read.requests", 5 + i);
		CHECK(report, "devices", row, "instance", 7 + i);
		check_text(report, "devices", row, "dev", "0:44");
	}
	done(&made, report);
}

/* A mount is a device. What its daemon reads from devices counts there, not in totals. */
TEST(test_mount)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true, .fuse = true);
	make_mount(&made, -1);
	report = report_of(&made, 60 * MS);
	check_text(report, "devices", 0, "name", "bucket (fuse.s3)");
	check_text(report, "devices", 0, "dev", "0:44");
	CHECK(report, "devices", 0, "read.requests", 7);
	CHECK(report, "devices", 0, "read.bytes", 6 * 4096);
	CHECK(report, "devices", 0, "read.errors", 1);
	CHECK(report, "devices", 0, "read.service_ns", 8 * MS);
	CHECK(report, "devices", 0, "read.max_ns", 2 * MS);
	CHECK(report, "devices", 0, "read.sequential", 2);
	CHECK(report, "devices", 0, "read.random", 3);
	CHECK(report, "devices", 0, "read.waited.requests", 7); /* also what is read ahead */
	CHECK(report, "devices", 0, "write.requests", 1);
	CHECK(report, "devices", 0, "write.waited.requests", 0);
	CHECK(report, "devices", 0, "other.requests", 2);
	CHECK(report, "devices", 0, "other.errors", 1);
	CHECK(report, "devices", 0, "other.time_ns", 10 * MS);
	CHECK(report, "devices", 0, "all.read.requests", 9);
	check_null(report, "devices", 0, "read.queue_ns");
	check_null(report, "devices", 0, "read.merges");
	check_null(report, "devices", 0, "discard.requests");
	check_null(report, "devices", 0, "all.discard.requests");
	CHECK(report, "device_users", 0, "requests", 9);
	assert_int_equal(report_table(report, "devices")->row_count, 1);
	assert_int_equal(report_table(report, "device_users")->row_count, 2); /* one: the kernel */
	CHECK(report, "totals", 0, "storage_read.requests", 0);
	CHECK(report, "totals", 0, "storage_read.bytes", 0);
	done(&made, report);
}

/* Since Linux 7.2 the time in the queue is known. */
TEST(test_queue_of_mount)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true, .fuse = true);
	make_mount(&made, MS / 4);
	report = report_of(&made, 60 * MS);
	CHECK(report, "devices", 0, "read.queue_ns", 7 * MS / 4);
	CHECK(report, "devices", 0, "read.service_ns", 8 * MS - 7 * MS / 4);
	CHECK(report, "devices", 0, "read.waited.queue_ns", 7 * MS / 4);
	done(&made, report);
}

/* Without requests to block devices, the table has only mounts, or is absent. */
TEST(test_only_mounts)
{
	for (int mounts = 0; mounts < 2; mounts++) {
		struct made_trace made;
		struct report *report;
		const struct table *table;

		BEGIN(&made, .fuse = true);
		if (mounts)
			make_mount(&made, -1);
		report = report_of(&made, 60 * MS);
		table = report_table(report, "devices");
		assert_int_equal(table->absent, !mounts);
		assert_int_equal(table->row_count, mounts);
		assert_non_null(strstr(table->note, "block devices were not recorded"));
		done(&made, report);
	}
}

static void check_of_use(const struct report *report, const char *use, const char *name,
			 uint64_t expected)
{
	char column[32];

	snprintf(column, sizeof(column), "%s.%s", use, name);
	if (expected == TABLE_NO_UINT)
		assert_int_equal(ask(report, "devices", 0, column)->type, CELL_NULL);
	else
		CHECK(report, "devices", 0, column, expected);
}

/* Requests to the server of a mount: a commit is a flush, and one to no mount in particular is in
 * no row. */
static void check_served(const int ops[4], bool nfs)
{
	static const char *const cells[] = { "read", "write", "flush", "other" };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .block = true, .nfs = nfs, .p9 = !nfs);
	for (int i = 0; i < 4; i++)
		for (int n = 0; n <= i; n++)
			REMOTE(&made, .time = (10 * i + n) * MS, .dur = MS, .queue = MS / 2,
			       .rtt = MS / 4, .retransmits = n ? 2 : 0, .pid = 10, .op = ops[i],
			       .node = 2, .dev = MOUNT, .offset = i < 2 ? 0 : -1);
	REMOTE(&made, .time = 50 * MS, .dur = MS, .queue = 0, .pid = 10, .op = ops[3],
	       .offset = -1);
	report = report_of(&made, 60 * MS);
	assert_int_equal(report_table(report, "devices")->row_count, 1);
	for (int i = 0; i < 4; i++) {
		check_of_use(report, cells[i], "requests", i + 1);
		check_of_use(report, cells[i], "retransmits", nfs ? 2ull * i : TABLE_NO_UINT);
		check_of_use(report, cells[i], "rtt_ns", nfs ? (i + 1) * MS / 4 : TABLE_NO_UINT);
	}
	CHECK(report, "devices", 0, "read.queue_ns", MS / 2);
	done(&made, report);
}

TEST(test_calls_of_nfs)
{
	check_served((const int[]) { M_NFS_READ, M_NFS_WRITE, M_NFS_COMMIT, M_NFS_ACCESS }, true);
}

TEST(test_requests_of_9p)
{
	check_served((const int[]) { M_P9_READ, M_P9_WRITE, M_P9_FSYNC, M_P9_WALK }, false);
}

/* A caveat says that files on a mount were used, but that its requests were not recorded. */
TEST(test_unrecorded_mount)
{
	static const struct {
		const char *type, *says;
		unsigned int layers; /* 1: FUSE, 2: NFS, 4: 9p, 8: netfs */
	} rows[] = { { "fuse", "FUSE", 2 },
		     { "ext4", NULL, 0 },
		     { "fuse", NULL, 1 },
		     { "nfs4", "NFS", 1 },
		     { "nfs", NULL, 2 },
		     { "9p", "9p", 1 | 2 },
		     { "9p", NULL, 4 },
		     { "cifs", "requests to their servers were not", 1 | 2 | 4 },
		     { "ceph", "only reads into the page cache", 8 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct made_trace made;
		struct report *report;
		const char *said = NULL;

		BEGIN(&made, .fuse = rows[i].layers & 1, .nfs = rows[i].layers & 2,
		      .p9 = rows[i].layers & 4, .netfs = rows[i].layers & 8);
		FILE_ROW(&made, .id = 1, .ino = 1, .dev = 44, .path = "/mnt/a",
			 .filesystem = rows[i].type);
		report = report_of(&made, 60 * MS);
		for (size_t row = 0; row < report_table(report, "caveats")->row_count; row++) {
			const char *text = ask(report, "caveats", row, "text")->text;

			if (strstr(text, " mounts were used"))
				said = text;
		}
		assert_int_equal(said != NULL, rows[i].says != NULL);
		if (said)
			assert_non_null(strstr(said, rows[i].says));
		done(&made, report);
	}
}

#define MIB 1048576ull

/* A run of 400 ms that moves 20 MiB of its own, next to 40 MiB of others or of the journal. */
static struct trace_reader *make_writer(struct made_trace *made, const char *host, uint64_t from,
					uint64_t metadata)
{
	BEGIN(made, .block = true, .host = host, .boot_id = host, .monotonic_ns = from,
	      .realtime_ns = 1700000000000000000ull + from);
	EXEC(made, .time = from, .pid = 10, .comm = "a", .rank = -1);
	FILE_ROW(made, .time = from, .id = 1, .dev = 8 << 20, .ino = 1, .path = "/data/a");
	for (uint64_t i = 0; i < 20; i++) {
		const uint64_t at = from + 100 + i * 10 * MS;

		BIO(made, .time = at, .dur = 9 * MS, .pid = 10, .op = M_REQUEST_WRITE, .file = 1,
		    .offset = i * MIB, .bytes = MIB, .request = i + 1, .dev = 8 << 20,
		    .flags = TRACE_BLOCK_SYNC);
		REQUEST(made, .time = at, .dur = 9 * MS, .pid = 10, .op = M_REQUEST_WRITE,
			.file = 1, .bytes = MIB, .dev = 8 << 20);
	}
	DEVICE(made, .time = from + 399 * MS, .dev = 8 << 20, .name = "sda", .writes = 40,
	       .write_bytes = 60 * MIB, .kernel_metadata = metadata);
	return made_finish(made, from, from + 400 * MS);
}

/* Kernel threads write metadata for all traces of a host, and for one host. */
TEST(test_kernel_metadata)
{
	static const struct {
		const char *host;
		uint64_t from, expected;
	} others[] = {
		{ "one", 1, 40 * MIB }, /* the same 40 MiB, in part */
		{ "one", 400 * MS, 70 * MIB },
		{ "two", 1, 70 * MIB },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct trace_reader *readers[2];
		struct made_trace made[2];
		struct report *report;

		readers[0] = make_writer(&made[0], "one", 0, 40 * MIB);
		readers[1] = make_writer(&made[1], others[i].host, others[i].from, 30 * MIB);
		report = made_report(readers, 2);
		CHECK(report, "processes", find_row(report, "processes", "comm", "kernel"),
		      "storage_metadata_bytes", others[i].expected);
		report_free(report);
		made_close(&made[0]);
		made_close(&made[1]);
	}
}

/* The journal of another host's device with the same number is not this one's. */
TEST(test_journal_of_host)
{
	struct trace_reader *readers[2];
	struct made_trace made[2];
	struct report *report;

	readers[0] = make_writer(&made[0], "one", 0, 0);
	readers[1] = make_writer(&made[1], "two", 0, 40 * MIB);
	report = made_report(readers, 2);
	assert_true(row_of_finding(report, "device-shared") >= 0);
	report_free(report);
	made_close(&made[0]);
	made_close(&made[1]);
}
