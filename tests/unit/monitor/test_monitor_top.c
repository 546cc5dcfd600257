// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* faultline top: from the service's JSON to samples, and rates as rows of a table. */
#include "unit_test.h"

#include <errno.h>

#include "top_samples.h"

static const struct cell *cell(const struct table *table, size_t row, const char *column)
{
	int at = table_find_column(table, column);

	assert_true(at >= 0);
	assert_true(row < table->row_count);
	return &table->cells[row * table->column_count + at];
}

static uint64_t number(const struct table *table, const char *column)
{
	assert_int_equal(cell(table, 0, column)->type, CELL_UINT);
	return cell(table, 0, column)->uint;
}

/* NULL: unknown. */
static void check_text(const struct table *table, const char *column, const char *expected)
{
	const struct cell *found = cell(table, 0, column);

	assert_int_equal(found->type, expected ? CELL_TEXT : CELL_NULL);
	assert_true(!expected || cell_is(found, expected));
}

static struct table *frame_of(const struct top_sample *before, const struct top_sample *after,
			      enum top_subject subject, const char *filter)
{
	const struct top_view view = { subject, "busy", filter, false };
	struct table *table;
	uint64_t idle;

	assert_int_equal(top_frame(&table, before, after, &view, &idle), 0);
	return table;
}

static bool is_shown(const struct table *table, const char *name)
{
	int column = table_find_column(table, name);

	for (size_t i = 0; i < table->view.shown_count; i++)
		if (table->view.shown[i] == (size_t)column)
			return true;
	return false;
}

TEST(test_rates)
{
	/* Five times the activity within two seconds. */
	struct top_sample before = sample_of(1, 1, "train"), after = sample_of(2, 6, "train");

	for (int subject = 0; subject < TOP_SUBJECTS; subject++) {
		struct table *table = frame_of(&before, &after, subject, "");

		assert_int_equal(table->row_count, 1); /* the other job was idle */
		assert_int_equal(number(table, "operations"), (1000 + 30 + 10 + 4) * 5 / 2);
		check_text(table, "user", "ann");
		assert_int_equal(number(table, "errors"), 5);
		assert_int_equal(number(table, "read_bytes"), 4096000 * 5 / 2);
		assert_int_equal(number(table, "written_bytes"), 40960 * 5 / 2);
		assert_int_equal(number(table, "uring_bytes"), 40960 * 5 / 2);
		assert_int_equal(number(table, "direct_bytes"), 0);
		assert_int_equal(number(table, "faults"), 75);
		assert_int_equal(number(table, "major"), 50);
		assert_int_equal(number(table, "mmap_bytes"), 750000);
		assert_int_equal(number(table, "fetched_bytes"), 1024000 + 750000);
		assert_int_equal(number(table, "syncs"), 10);
		assert_int_equal(number(table, "mean_ns"), 190000000 / 1044);
		assert_true(cell(table, 0, "busy")->real > 0.4749);
		assert_true(cell(table, 0, "busy")->real < 0.4751);
		assert_true(cell(table, 0, "fetched_by_asked")->real > 0.0999);
		assert_true(cell(table, 0, "fetched_by_asked")->real < 0.1001);
		/* 995 of 1,000 took less than 2^8 ns. */
		assert_int_equal(number(table, "p99_ns"), 256);
		table_free(table);
	}
	top_sample_free(&before);
	top_sample_free(&after);
}

TEST(test_percentiles)
{
	uint64_t latencies[LEDGER_LATENCIES] = { [3] = 50, [9] = 49, [LEDGER_LATENCIES - 1] = 1 };

	assert_int_equal(sums_percentile(latencies, 50), 64 << 3);
	assert_int_equal(sums_percentile(latencies, 99), 64 << 9);
	latencies[LEDGER_LATENCIES - 1]++; /* the open-ended bucket: only a lower bound is known */
	assert_true(sums_percentile(latencies, 99) == UINT64_MAX);
	assert_true(sums_percentile(NULL, 99) == UINT64_MAX);
}

/* New jobs count from zero, and so do counters that were reset. */
TEST(test_new_and_again)
{
	struct top_sample nothing = { .time_ns = 102 * SECOND };
	struct top_sample before = sample_of(1, 9, "train"), after = sample_of(2, 2, "train");
	struct table *table = frame_of(&nothing, &after, TOP_PROCESSES, "");

	assert_int_equal(number(table, "pid"), 42);
	assert_int_equal(number(table, "syncs") > 0, 1);
	table_free(table);
	table = frame_of(&before, &after, TOP_FILES, "");
	assert_int_equal(number(table, "syncs"), 4);
	table_free(table);
	top_sample_free(&before);
	top_sample_free(&after);
}

/* An operation in flight makes a row; one in flight for over a second adds columns. */
TEST(test_in_flight)
{
	static const char reported[] =
		"{\"time_unix_ns\":9,\"read_ns\":%llu,\"readings\":%d,\"jobs\":[{\"id\":3,"
		"\"cgroup\":\"/x\","
		"\"in_flight\":{\"count\":1,\"oldest\":{\"pid\":42,\"op\":\"pwrite64\","
		"\"path\":\"/data/model.bin\",\"age_ns\":%llu}},\"methods\":[],\"processes\":[]}]}";
	char text[sizeof(reported) + 64];
	struct top_sample before = sample_of(1, 2, "train"), after;
	struct table *table;

	for (unsigned long long age_ns = SECOND / 2; age_ns <= SECOND; age_ns *= 2) {
		snprintf(text, sizeof(text), reported, 200 * SECOND, 2, age_ns);
		after = parsed(text);
		table = frame_of(&before, &after, TOP_JOBS, "");
		assert_int_equal(table->row_count, 1);
		assert_int_equal(number(table, "waits_ns"), age_ns);
		check_text(table, "waits_in", "pwrite64 /data/model.bin");
		assert_int_equal((int)table->view.shown[2] == table_find_column(table, "waits_ns"),
				 age_ns == SECOND);
		table_free(table);
		top_sample_free(&after);
	}
	top_sample_free(&before);
}

/* The state of a process is that of the interval, not of its whole life. */
TEST(test_states)
{
	static const char jobs[] =
		"{\"time_unix_ns\":9,\"read_ns\":%llu,\"readings\":%d,\"jobs\":[{\"id\":1,"
		"\"cgroup\":\"/x\","
		"\"methods\":[],\"processes\":[{\"pid\":42,\"start_ns\":5,\"program\":\"p\","
		"\"threads\":%s,\"methods\":[{\"op\":\"sync\",\"method\":\"syscall\",\"count\":%d}]"
		"}]}]}";
	static const struct {
		const char *before, *after, *state; /* NULL: unknown */
	} cases[] = {
		{ "{\"sleep\":9000000000}", "{\"sleep\":9000000000,\"lock\":1999}", "lock" },
		{ "{}", "{\"cpu\":999999999,\"storage\":700000000,\"pipe\":600000000}", "storage" },
		{ "{\"cpu\":5}", "{\"cpu\":1000000005,\"lock\":8000000000}", "cpu" },
		{ "{}", "{\"cpu\":400000000,\"runnable\":600000000,\"lock\":8000000000}",
		  "runnable" },
		{ "null", "{\"runnable\":3,\"of a later version\":4}", "runnable" },
		{ "null", "null", NULL },
		{ "{\"lock\":7}", "{\"lock\":7}", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_sample samples[2];
		struct table *table;
		char text[1024];

		for (int s = 0; s < 2; s++) {
			snprintf(text, sizeof(text), jobs, (100 + 2 * s) * SECOND, s + 1,
				 s ? cases[i].after : cases[i].before, s);
			samples[s] = parsed(text);
		}
		table = frame_of(&samples[0], &samples[1], TOP_PROCESSES, "");
		check_text(table, "waits_for", cases[i].state);
		table_free(table);
		top_sample_free(&samples[0]);
		top_sample_free(&samples[1]);
	}
}

/* The line is that of the state that is shown, if its threads have left it. */
TEST(test_lines)
{
	static const char jobs[] =
		"{\"time_unix_ns\":9,\"read_ns\":%llu,\"readings\":1,\"jobs\":[{\"id\":1,"
		"\"methods\":[],"
		"\"processes\":[{\"pid\":42,\"start_ns\":5,\"program\":\"p\",\"threads\":{%s},"
		"\"lines\":%s}]}]}";
#define LINE(state, line, time)                                                                    \
	"{\"state\":\"" state "\",\"file\":\"/job/a.py\",\"line\":" line                           \
	",\"function\":\"C.f\",\"time_ns\":" time "}"
	static const struct {
		const char *threads, *lines, *at; /* `at` NULL: unknown */
	} cases[] = {
		{ "\"lock\":2000000000,\"cpu\":900000000",
		  "[" LINE("io", "1", "9") "," LINE("lock", "2", "1") "," LINE("cpu", "3", "8") "]",
		  "a.py:2 in C.f" },
		{ "\"lock\":2000000000,\"cpu\":900000000",
		  "[" LINE("io", "1", "1") "," LINE("pipe", "2", "2") "," LINE("cpu", "3", "8") "]",
		  "a.py:2 in C.f" },
		{ "\"lock\":2000000000,\"runnable\":1000000000",
		  "[" LINE("lock", "2", "2") "," LINE("cpu", "3", "1") "]", "a.py:3 in C.f" },
		{ "\"storage\":1000000000", "[" LINE("io", "1", "1") "," LINE("lock", "2", "2") "]",
		  "a.py:1 in C.f" },
		{ "\"storage\":1000000000", "[" LINE("cpu", "3", "1") "]", "a.py:3 in C.f" },
		{ "\"lock\":1000000000,\"cpu\":900000000",
		  "[{\"state\":\"lock\",\"file\":null,\"line\":null,\"function\":\"\\u001b[2J\"}]",
		  "\x1b[2J in ?" },
		{ "\"cpu\":900000000", "[" LINE("of a later version", "1", "1") ",7,null]", NULL },
		{ "\"cpu\":900000000", "[]", NULL },
		{ "\"cpu\":900000000", "7", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_sample before = { .time_ns = 100 * SECOND }, after;
		struct table *table;
		char text[2048];

		snprintf(text, sizeof(text), jobs, 102 * SECOND, cases[i].threads, cases[i].lines);
		after = parsed(text);
		table = frame_of(&before, &after, TOP_PROCESSES, "");
		check_text(table, "at", cases[i].at);
		assert_int_equal(is_shown(table, "at"), cases[i].lines[0] == '[');
		table_free(table);
		top_sample_free(&after);
	}
}

TEST(test_nothing_done)
{
	struct top_sample before = sample_of(1, 2, "train"), after = sample_of(2, 2, "train");
	struct table *table = frame_of(&before, &after, TOP_JOBS, "");

	assert_int_equal(table->row_count, 0);
	table_free(table);
	assert_int_equal(top_frame_node(&table, &before, &after), 0);
	assert_int_equal(number(table, "operations"), 0);
	assert_int_equal(cell(table, 0, "mean_ns")->type, CELL_NULL);
	assert_int_equal(cell(table, 0, "p99_ns")->type, CELL_NULL);
	assert_int_equal(cell(table, 0, "fetched_by_asked")->type, CELL_NULL);
	table_free(table);
	top_sample_free(&before);
	top_sample_free(&after);
}

/* Processes without I/O have rows if they ran or waited for storage; those that ran most come
 * first, but after those with I/O. */
TEST(test_idle)
{
	static const char process[] =
		"{\"pid\":%d,\"start_ns\":1,\"program\":\"p\",\"threads\":%s,\"methods\":[%s]},";
	static const struct {
		const char *threads, *methods; /* in an interval of 2 s */
	} processes[] = {
		{ "{\"sleep\":2000000000,\"cpu\":200000}", "" },
		{ "{\"lock\":1999000000,\"cpu\":1000000}", "" },
		{ "{\"pipe\":90000000000}", "" },
		{ "{\"cpu\":1500000000}", "" },
		{ "{\"cpu\":900000}",
		  "{\"op\":\"read\",\"method\":\"syscall\",\"count\":1,\"time_ns\":900000}" },
		{ "{\"cpu\":10000}",
		  "{\"op\":\"read\",\"method\":\"syscall\",\"count\":1,\"time_ns\":2000000}" },
		{ "{\"runnable\":300000}", "" },
		{ "{\"storage\":300000}", "" },
		{ "null", "" },
	};
	static const uint64_t expected[] = { 6, 4, 2, 5, 7, 8 };
	static const uint64_t with_idle[] = { 6, 4, 2, 5, 1, 3, 7, 8, 9 };
	struct top_sample before = { .time_ns = 100 * SECOND }, after;
	struct top_view view = { TOP_PROCESSES, "busy", "", false };
	char text[4096], *at = text;
	struct table *table;
	uint64_t idle;

	at += sprintf(at,
		      "{\"time_unix_ns\":9,\"read_ns\":%llu,\"readings\":1,\"jobs\":[{\"id\":1,"
		      "\"processes\":[",
		      102 * SECOND);
	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
		at += sprintf(at, process, (int)i + 1, processes[i].threads, processes[i].methods);
	strcpy(at - 1, "]}]}");
	after = parsed(text);
	assert_int_equal(top_frame(&table, &before, &after, &view, &idle), 0);
	assert_int_equal(idle, 3);
	assert_int_equal(table->row_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(cell(table, i, "pid")->uint, expected[i]);
	assert_true(cell(table, 1, "cpu")->real == 0.75);
	table_free(table);
	view.idle = true;
	assert_int_equal(top_frame(&table, &before, &after, &view, &idle), 0);
	assert_int_equal(idle, 0);
	assert_int_equal(table->row_count, sizeof(with_idle) / sizeof(with_idle[0]));
	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(cell(table, i, "pid")->uint, with_idle[i]);
	assert_int_equal(cell(table, 8, "cpu")->type, CELL_NULL);
	table_free(table);
	top_sample_free(&after);
}

/* Two jobs of one cgroup stay distinct, even with another job between them; a single user is not
 * shown.
 */
TEST(test_users)
{
	static const char jobs[] =
		"{\"time_unix_ns\":9,\"read_ns\":%u,\"readings\":1,\"jobs\":["
		"{\"id\":1,\"cgroup\":\"/x\",\"user\":\"ann\",\"methods\":[{\"op\":\"sync\","
		"\"method\":\"syscall\",\"count\":%u}]},"
		"{\"id\":2,\"cgroup\":\"(unknown)\",\"user\":null,\"methods\":[]},"
		"{\"id\":3,\"cgroup\":\"/x\",\"user\":\"%s\",\"methods\":[{\"op\":\"sync\","
		"\"method\":\"syscall\",\"count\":%u}]}]}";

	for (int several = 0; several < 2; several++) {
		struct top_sample samples[2];
		struct table *table;
		char text[1024];

		for (int i = 0; i < 2; i++) {
			snprintf(text, sizeof(text), jobs, i + 1, i, several ? "bob" : "ann", i);
			samples[i] = parsed(text);
		}
		table = frame_of(&samples[0], &samples[1], TOP_JOBS, "");
		assert_int_equal(table->row_count, 2);
		assert_int_equal(is_shown(table, "user"), several);
		table_free(table);
		table = frame_of(&samples[0], &samples[1], TOP_JOBS, "BOB");
		assert_int_equal(table->row_count, several);
		table_free(table);
		top_sample_free(&samples[0]);
		top_sample_free(&samples[1]);
	}
}

TEST(test_filter)
{
	struct top_sample before = sample_of(1, 1, "Train --fast"),
			  after = sample_of(2, 2, "Train --fast");
	static const struct {
		enum top_subject subject;
		const char *filter;
		size_t rows;
	} cases[] = {
		{ TOP_PROCESSES, "train", 1 }, { TOP_PROCESSES, "FAST", 1 },
		{ TOP_PROCESSES, "slow", 0 },  { TOP_PROCESSES, "system.slice", 1 },
		{ TOP_FILES, "tokens", 1 },    { TOP_JOBS, "tokens", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *table = frame_of(&before, &after, cases[i].subject, cases[i].filter);

		assert_int_equal(table->row_count, cases[i].rows);
		table_free(table);
	}
	top_sample_free(&before);
	top_sample_free(&after);
}

TEST(test_names)
{
	struct top_sample sample = sample_of(1, 1, "train");

	assert_int_equal(sample.of[TOP_JOBS].count, 2);
	assert_string_equal(sample.of[TOP_JOBS].all[0].name, "slurm 123.0");
	assert_string_equal(sample.of[TOP_JOBS].all[1].name, "/system.slice/train.service");
	assert_string_equal(sample.of[TOP_FILES].all[0].job, "/system.slice/train.service");
	assert_int_equal(sample.unreported[TOP_JOBS], 3);
	assert_int_equal(sample.unreported[TOP_PROCESSES], 3);
	assert_int_equal(sample.unreported[TOP_FILES], 11);
	top_sample_free(&sample);
}

#define ZEROS_16 "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"

/* The server may be untrusted. */
TEST(test_hostile_json)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"null",
		"7",
		"\"jobs\"",
		"{\"time_unix_ns\":5,\"jobs\":{}}",
		"{\"time_unix_ns\":\"x\",\"jobs\":[]}",
		"{\"time_unix_ns\":5,\"readings\":1,\"jobs\":[]}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	};
	static const char *const odd[] = {
		"{\"time_unix_ns\":5,\"jobs\":[7,null,[],{},{\"processes\":7},{\"files\":[null]}]}",
		"{\"time_unix_ns\":5,\"jobs\":[{\"methods\":[{\"op\":1,\"method\":[]},{}]}]}",
		"{\"time_unix_ns\":5,\"jobs\":[{\"methods\":[{\"op\":\"read\",\"method\":\"none\","
		"\"count\":-5,\"latencies\":[1]}]}],\"node\":7}",
		/* listed twice, the second time with too many buckets */
		"{\"time_unix_ns\":5,\"jobs\":[],\"node\":{\"methods\":[{\"op\":\"read\","
		"\"method\":\"mmap\",\"latencies\":[" ZEROS_16 "," ZEROS_16 "]},"
		"{\"op\":\"read\",\"method\":\"mmap\",\"latencies\":[" ZEROS_16 "," ZEROS_16
		"," ZEROS_16 "," ZEROS_16 "," ZEROS_16 "," ZEROS_16 "]}]}}",
	};
	struct top_sample sample;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(top_sample_parse(&sample, texts[i], strlen(texts[i])), -EINVAL);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		sample = parsed(odd[i]);
		top_sample_free(&sample);
	}
}
