/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data behind the page's pictures, checked against the tables of the same report; a page that
 * hostile names cannot break out of, and whose size is bounded for any trace.
 *
 *   test_output_html --make FILE           leaves the hostile trace in FILE, for other tests
 *   test_output_html --make-summed FILE    a hostile trace with aggregated calls
 *   test_output_html --make-faults FILE    a hostile trace with aggregated faults
 *   test_output_html --make-followed FILE  all kinds of I/O, all of the time
 *   test_output_html --make-chained FILE   operations that wait for requests, all of the time
 *   test_output_html --make-stacks FILE    samples of stacks
 */
#define OWN_MAIN
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "analysis/picture/pictures.h"
#include "ask_report.h"
#include "output/page/html.h"
#include "page_samples.h"
#include "tests/random.h"

static uint64_t random_state = 88172645463325252ull;

static uint64_t draw_number(uint64_t below)
{
	return next_random(&random_state) % below;
}

static struct report *picture_report(struct made_trace *made, const struct filter *filter)
{
	const struct report_options options = { .pictures = true, .filter = filter };
	struct report *report;

	report = report_with(made, &options);
	assert_non_null(report->pictures);
	return report;
}

static struct json_object *data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *at = strstr(page, begin), *end;
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *data;

	assert_non_null(at);
	at += strlen(begin);
	end = strstr(at, "</script>");
	assert_non_null(end);
	assert_null(memchr(at, '<', end - at));
	assert_null(memchr(at, '>', end - at));
	assert_null(memchr(at, '&', end - at));
	/* Without JSON_TOKENER_STRICT, with which json-c 0.18 rejects all non-ASCII text. */
	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	data = json_tokener_parse_ex(tokener, at, end - at);
	assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
	json_tokener_free(tokener);
	return data;
}

static struct json_object *page_of(const struct report *report, size_t *length)
{
	struct json_object *data;
	struct sink out;

	sink_open_memory(&out);
	assert_int_equal(html_report(&out, report), 0);
	*length = out.used;
	sink_char(&out, '\0');
	data = data_of(out.buffer);
	sink_close(&out);
	return data;
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	if (!json_object_object_get_ex(object, name, &found))
		fail_msg("no member %s", name);
	return found;
}

/* Sum of a run-length coded list of `count` numbers. */
static uint64_t sum_of_list(struct json_object *list, size_t count)
{
	uint64_t sum = 0;
	size_t numbers = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		int64_t number = json_object_get_int64(json_object_array_get_idx(list, i));

		numbers += number < 0 ? -number : 1;
		sum += number < 0 ? 0 : number;
	}
	assert_int_equal(numbers, count);
	return sum;
}

/* --- numbers --- */

/* A run of two processes with compute, reads of two files, faults, a write and a sync. */
static void make_run(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 1, .pid = 10, .comm = "train", .command = "train", .rank = 0);
	made_fork(made, 2, 10, 11);
	FILE_ROW(made, .time = 1, .id = 1, .dev = 8, .ino = 1, .size = 1 << 20, .path = "/data/a");
	FILE_ROW(made, .time = 1, .id = 2, .dev = 8, .ino = 2, .size = 64 << 20, .path = "/data/b");
	for (uint64_t i = 0; i < 500; i++)
		CALL(made, .time = MS + i * 2 * MS, .dur = MS / 2 + 7 * i, .pid = 10 + i % 2,
		     .op = M_PREAD, .file = 1 + i % 2, .offset = i * 4096, .asked = 5000,
		     .result = 4096, .fetched = i % 3 ? 0 : 8192);
	for (uint64_t i = 0; i < 300; i++)
		FAULT(made, .time = 3 * MS + i * 3 * MS, .dur = 20000, .pid = 11, .file = 2,
		      .offset = (300 - i) * 65536, .fetched = 16384);
	CALL(made, .time = 1500 * MS, .dur = 400 * MS, .pid = 10, .op = M_WRITE, .file = 1,
	     .offset = 0, .asked = 1 << 20, .result = 1 << 20, .created = 1 << 20);
	CALL(made, .time = 1950 * MS, .dur = 40 * MS, .pid = 10, .op = M_FSYNC, .file = 1);
	for (uint64_t i = 0; i < 20; i++)
		SPAN(made, .begin = 50 * MS + i * 50 * MS, .end = 80 * MS + i * 50 * MS, .pid = 10,
		     .id = i + 1, .name = "forward", .category = "compute");
}

static uint64_t stretches_sum(const struct pictures *pictures, size_t member_at)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PICTURE_FINE; i++)
		sum += *(const uint64_t *)((const char *)&pictures->timeline.stretches[i] +
					   member_at);
	return sum;
}

#define TIMELINE(pictures, name) stretches_sum(pictures, offsetof(struct picture_stretch, name))

/* The timeline adds up to the tables' totals exactly. */
TEST(test_timeline)
{
	struct made_trace made;
	struct report *report;
	const struct pictures *pictures;

	make_run(&made);
	made_finish(&made, 0, 2000 * MS);
	report = picture_report(&made, NULL);
	pictures = report->pictures;
	CHECK(report, "overlap", 0, "unoverlapped_io_ns",
	      TIMELINE(pictures, alone_ns[PICTURE_ALL]));
	CHECK(report, "overlap", 0, "io_ns",
	      TIMELINE(pictures, alone_ns[PICTURE_ALL]) +
		      TIMELINE(pictures, hidden_ns[PICTURE_ALL]));
	CHECK(report, "overlap", 0, "compute_ns", TIMELINE(pictures, compute_ns));
	CHECK(report, "overlap", 0, "read.unoverlapped_ns",
	      TIMELINE(pictures, alone_ns[PICTURE_READ]));
	CHECK(report, "overlap", 0, "mmap_read.unoverlapped_ns",
	      TIMELINE(pictures, alone_ns[PICTURE_FAULTS]));
	CHECK(report, "totals", 0, "sync.time_ns",
	      TIMELINE(pictures, alone_ns[PICTURE_SYNC]) +
		      TIMELINE(pictures, hidden_ns[PICTURE_SYNC]));
	assert_true(TIMELINE(pictures, hidden_ns[PICTURE_READ]) > 0);
	CHECK(report, "totals", 0, "read.bytes", TIMELINE(pictures, read_bytes));
	CHECK(report, "totals", 0, "write.bytes", TIMELINE(pictures, write_bytes));
	CHECK(report, "totals", 0, "mmap_read.faults", TIMELINE(pictures, minor));
	assert_int_equal(TIMELINE(pictures, fetched_bytes), 167 * 8192 + 300 * 16384);
	assert_int_equal(TIMELINE(pictures, created_bytes), 1 << 20);
	/*
	 * No bucket holds more time than its length; the write is spread over its whole duration.
	 */
	for (size_t i = 0; i < PICTURE_FINE; i++) {
		const struct picture_stretch *stretch = &pictures->timeline.stretches[i];

		assert_true(stretch->compute_ns + stretch->alone_ns[PICTURE_ALL] <=
			    pictures->axis.fine_ns);
		assert_true(stretch->hidden_ns[PICTURE_ALL] <= stretch->compute_ns);
	}
	assert_true(pictures->timeline.stretches[420].write_bytes > 0);
	done(&made, report);
}

static uint64_t series_sum(const struct picture_series *series, size_t member_at)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PICTURE_COARSE; i++)
		sum += *(const uint64_t *)((const char *)&series->sums[i] + member_at);
	return sum;
}

#define SERIES(series, name) series_sum(series, offsetof(struct picture_sum, name))

/* Every row of a table with sums per bucket has all of them. */
TEST(test_sums)
{
	struct made_trace made;
	struct report *report;
	const struct pictures *pictures;
	const struct picture_set *files, *processes, *ranks;
	uint64_t counted = 0;

	make_run(&made);
	made_finish(&made, 0, 2000 * MS);
	report = picture_report(&made, NULL);
	pictures = report->pictures;
	files = &pictures->sums.sets[PICTURE_BY_FILE];
	assert_int_equal(files->count, 3); /* and the rest */
	for (size_t i = 0; i < 2; i++) {
		size_t row = find_row(report, "files", "path",
				      pictures->names[PICTURE_BY_FILE][i].text.bytes);

		CHECK(report, "files", row, "fetched_bytes",
		      SERIES(&files->series[i], of[PICTURE_FETCHED]));
		assert_int_equal(SERIES(&files->series[i], of[PICTURE_READ_BYTES]) +
					 SERIES(&files->series[i], of[PICTURE_WRITE_BYTES]),
				 ask(report, "files", row, "read.bytes")->uint +
					 ask(report, "files", row, "write.bytes")->uint);
	}
	assert_true(files->series[2].others);
	assert_int_equal(SERIES(&files->series[2], of[PICTURE_COUNT]), 0);
	processes = &pictures->sums.sets[PICTURE_BY_PROCESS];
	for (size_t i = 0; i < processes->count; i++)
		counted += SERIES(&processes->series[i], of[PICTURE_COUNT]);
	assert_int_equal(counted, 500 + 300 + 2);
	ranks = &pictures->sums.sets[PICTURE_BY_RANK];
	assert_int_equal(ranks->count, 2); /* the child has its parent's rank */
	assert_int_equal(SERIES(&ranks->series[0], of[PICTURE_COUNT]), 500 + 300 + 2);
	done(&made, report);
}

#define WORST 40 /* more than are listed individually, each longer than the previous one */

/* The largest are listed individually, not the first. */
TEST(test_the_worst)
{
	static const enum picture_key keys[] = { PICTURE_BY_SPAN, PICTURE_BY_DEVICE };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true, .block = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "train", .command = "train");
	for (uint64_t i = 1; i <= WORST; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%llu", (unsigned long long)i);
		SPAN(&made, .begin = i * 20 * MS, .end = i * 20 * MS + i * MS / 10, .pid = 10,
		     .id = i, .name = name, .category = "compute");
		REQUEST(&made, .time = i * 20 * MS, .dur = i * MS / 10, .pid = 10,
			.op = M_REQUEST_READ, .bytes = 4096 * i, .dev = i, .part = i);
	}
	made_finish(&made, 0, 1000 * MS);
	report = picture_report(&made, NULL);
	for (size_t k = 0; k < 2; k++) {
		const struct picture_set *set = &report->pictures->sums.sets[keys[k]];
		const struct picture_series *others = &set->series[set->count - 1];
		size_t max = picture_keys[keys[k]].max;
		uint64_t left = WORST - max;

		assert_int_equal(set->count, max + 1);
		for (size_t i = 0; i < max; i++)
			assert_int_equal(SERIES(&set->series[i], of[PICTURE_THREAD_TIME]),
					 (WORST - i) * MS / 10);
		assert_true(others->others);
		assert_int_equal(others->of, left);
		assert_int_equal(SERIES(others, of[PICTURE_COUNT]), left);
		assert_int_equal(SERIES(others, of[PICTURE_THREAD_TIME]),
				 left * (left + 1) / 2 * MS / 10);
	}
	done(&made, report);
}

/* Grids count every operation once, maps at its offset. */
TEST(test_grids)
{
	struct made_trace made;
	struct report *report;
	const struct picture_grids *grids;
	uint64_t reads = 0, asked = 0, touched = 0, faults = 0;
	bool there = false;

	make_run(&made);
	made_finish(&made, 0, 2000 * MS);
	report = picture_report(&made, NULL);
	grids = &report->pictures->grids;
	for (size_t at = 0; at < PICTURE_COARSE; at++) {
		for (size_t i = 0; i < PICTURE_LATENCIES; i++)
			reads += grids->latencies[PICTURE_READ][at][i];
		for (size_t i = 0; i < SIZE_CLASSES; i++)
			asked += grids->sizes[PICTURE_READ][at][i];
		asked -= grids->sizes[PICTURE_READ][at][1]; /* 5000 bytes: the 16 KiB bucket */
	}
	assert_int_equal(reads, 500);
	assert_int_equal(asked, 0);
	assert_int_equal(grids->map_count, 2);
	for (size_t i = 0; i < grids->map_count; i++) {
		const struct picture_map *map = &grids->maps[i];

		for (size_t at = 0; at < PICTURE_COARSE; at++)
			for (size_t row = 0; row < PICTURE_OFFSETS; row++) {
				touched += map->counts[PICTURE_TOUCH_READ][at][row];
				faults += map->counts[PICTURE_TOUCH_FAULT][at][row];
			}
		if (!strcmp(report->pictures->map_names[i].text.bytes, "/data/b")) {
			/* The first fault: page 300 * 16, after 3 ms, fetching 300 * 16 pages. */
			assert_int_equal(map->furthest, 300 * 65536 + 1);
			assert_int_equal(map->offset_bytes, 262144);
			there = map->counts[PICTURE_TOUCH_FAULT][0][300 * 65536 / 262144] > 0;
		}
	}
	assert_true(there);
	assert_int_equal(touched, 500);
	assert_int_equal(faults, 300);
	assert_int_equal(report->pictures->spans.count, 20);
	assert_int_equal(report->pictures->spans.reported_count, 1);
	done(&made, report);
}

/* Pictures treat a filtered part as the whole run. */
TEST(test_filter)
{
	struct filter filter = FILTER_ALL;
	struct made_trace made;
	struct report *report;

	filter.from_ns = 1400 * MS;
	make_run(&made);
	made_finish(&made, 0, 2000 * MS);
	report = picture_report(&made, &filter);
	assert_int_equal(TIMELINE(report->pictures, write_bytes), 1 << 20);
	assert_int_equal(TIMELINE(report->pictures, read_bytes), 0);
	CHECK(report, "overlap", 0, "io_ns", TIMELINE(report->pictures, alone_ns[PICTURE_ALL]));
	done(&made, report);
}

/* --- the page --- */

TEST(test_hostile_names)
{
	struct made_trace made;
	struct report *report;
	struct json_object *data, *files;
	size_t length, found = 0;

	make_hostile(&made);
	report = picture_report(&made, NULL);
	data = page_of(report, &length);
	files = member(member(member(data, "pictures"), "sums"), "files");
	assert_int_equal(json_object_array_length(files), HOSTILE + 1);
	for (size_t i = 0; i < HOSTILE; i++) {
		struct json_object *file = json_object_array_get_idx(files, i);
		const char *name = json_object_get_string(member(file, "name"));

		assert_int_equal(sum_of_list(member(file, "count"), PICTURE_COARSE), 40);
		for (size_t j = 0; j < HOSTILE; j++)
			found += !strcmp(name, hostile[j]);
	}
	assert_int_equal(found, HOSTILE - 1); /* and one is invalid UTF-8, shown as \xff */
	json_object_put(data);
	done(&made, report);
}

#define MANY 3000
#define LONG 3000

/* As much of everything as possible, everywhere in the trace. */
static void make_huge(struct made_trace *made)
{
	char *path = malloc(LONG + 1);

	assert_non_null(path);
	BEGIN(made, .spans = true, .block = true, .stacks = true, .lanes = 1);
	for (uint64_t i = 0; i < MANY; i++) {
		memset(path, 'a' + i % 26, LONG);
		snprintf(path, 32, "/\xff\xfe\x01%llu/", (unsigned long long)i);
		path[31] = '/';
		path[LONG] = '\0';
		FILE_ROW(made, .time = 1, .id = i + 1, .dev = 8, .ino = i + 1, .path = path);
		made_fork(made, 1 + i, 1, 100 + i);
		path[900] = '\0';
		memset(path + 40, '<', 20);
		path[60] = '\0';
		made_frame(made, 1, i + 1, path, i, path + 32);
		made_stack(made, 1, i + 1, (i + 1) / 2, i + 1);
		path[60] = '<';
		EXEC(made, .time = 2 + i, .pid = 100 + i, .ppid = 1, .comm = "x", .command = path,
		     .rank = i);
	}
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t who = draw_number(64), file = 1 + draw_number(draw_number(4) ? 40 : MANY);

		if (i % 3)
			CALL(made, .time = i * 500, .dur = 1 + draw_number(1ull << draw_number(34)),
			     .pid = 100 + who, .op = i % 5 ? M_PREAD : M_WRITE, .file = file,
			     .offset = draw_number(1ull << 40), .asked = 1ull << draw_number(40),
			     .result = 1ull << draw_number(40), .fetched = draw_number(1ull << 50));
		else
			FAULT(made, .time = i * 500,
			      .dur = 1 + draw_number(1ull << draw_number(34)), .pid = 100 + who,
			      .file = file, .offset = draw_number(1ull << 40),
			      .fetched = draw_number(1ull << 50));
		if (i % 16 == 0)
			SAMPLE(made, .time = i * 500, .dur = 1 + draw_number(1ull << 40),
			       .weight = draw_number(2) ? 0 : draw_number(1ull << 40),
			       .pid = 100 + who, .state = i % 3 ? "lock" : "cpu",
			       .stack = 1 + draw_number(MANY));
		if (i % 4 == 0) {
			BIO(made, .time = i * 500, .dur = 1 + draw_number(1 << 20),
			    .queue = draw_number(1 << 20), .pid = 100 + who, .file = file,
			    .op = i % 8 ? M_REQUEST_READ : M_REQUEST_WRITE,
			    .offset = draw_number(1ull << 40), .bytes = draw_number(1 << 24),
			    .request = i);
			REQUEST(made, .time = i * 500, .dur = 1 + draw_number(1 << 24),
				.pid = 100 + who, .op = i % 8 ? M_REQUEST_READ : M_REQUEST_WRITE,
				.bytes = draw_number(1 << 24), .dev = draw_number(16), .id = i);
		}
		if (i % 20 == 0) {
			char name[400];

			memset(name, 0xff, sizeof(name));
			snprintf(name, sizeof(name), "%0300llu", (unsigned long long)i % 3500);
			SPAN(made, .begin = i * 500 + 1, .end = i * 500 + 1 + draw_number(40 * MS),
			     .pid = 100 + who, .id = i + 1, .name = name, .category = "compute");
		}
	}
	free(path);
	made_finish(made, 0, 101 * MS);
}

/* If the page omits rows of a table, it keeps the most important. */
static void check_worst(struct json_object *reported, const struct table *table)
{
	struct json_object *rows = member(reported, "rows");
	size_t by = table->view.by, count = json_object_array_length(rows), above = 0;
	struct json_object *last = json_object_array_get_idx(rows, count - 1);
	uint64_t least = json_object_get_uint64(json_object_array_get_idx(last, by));

	assert_in_range(count, 2, table->row_count - 1);
	for (size_t row = 0; row < table->row_count; row++)
		above += table_row(table, row)[by].uint > least;
	assert_in_range(above, 1, count);
}

TEST(test_bounds)
{
	struct made_trace made;
	struct report *report;
	struct json_object *data, *tables;
	size_t length;

	make_huge(&made);
	report = picture_report(&made, NULL);
	data = page_of(report, &length);
	if (length > HTML_BYTES_MAX)
		fail_msg("the page has %zu bytes", length);
	/* Omissions are reported: each table's total row count next to its listed rows. */
	tables = member(data, "tables");
	for (size_t i = 0; i < json_object_array_length(tables); i++) {
		struct json_object *table = json_object_array_get_idx(tables, i);
		const char *name = json_object_get_string(member(table, "name"));

		assert_int_equal(json_object_get_int64(member(table, "of")),
				 report_table(report, name)->row_count);
		if (!strcmp(name, "processes"))
			check_worst(table, report_table(report, name));
	}
	json_object_put(data);
	done(&made, report);
}

/* An empty trace: no events, no time. */
TEST(test_empty)
{
	struct made_trace made;
	struct report *report;
	size_t length;

	BEGIN(&made, .lanes = 1);
	made_finish(&made, 0, 0);
	report = picture_report(&made, NULL);
	json_object_put(page_of(report, &length));
	done(&made, report);
}

int main(int argc, char **argv)
{
	int status = leave_page_trace(argc, argv);

	return status < 0 ? cmocka_run_group_tests(unit_tests, NULL, NULL) : status;
}
