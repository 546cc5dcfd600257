/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports that are put together from summaries say what a report of the traces says, number by
 * number, however the traces were parted among them; and what they do not say they do not know.
 * Jobs are random: several hosts whose clocks differ, ranks, files that several traces share, runs
 * that overlap and runs that do not, loss. Then summaries that no report would write.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/report_parts.h"
#include "analysis/rollup.h"
#include "analysis/summary.h"
#include "ask_report.h"
#include "tests/random.h"

#define TRACES_MOST 6
#define HOSTS 3
#define FILES 5
#define MS 1000000ull

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 8) % limit;
}

/* --- jobs --- */

static struct trace_reader *summarized(struct report *report, size_t rows, int *fd);

struct random_job {
	struct made_trace made[TRACES_MOST];
	struct trace_reader *traces[TRACES_MOST];
	const char *names[TRACES_MOST];
	size_t count;
};

static void add_operation(struct made_trace *made, uint64_t pid, uint64_t from, uint64_t length)
{
	static const unsigned int calls[] = { M_READ,  M_PREAD, M_WRITE, M_OPENAT,
					      M_FSTAT, M_CLOSE, M_FSYNC };
	uint64_t time = from + random_below(length), dur = 1 + random_below(3 * MS);
	uint64_t file = 1 + random_below(FILES), tid = pid + random_below(2);
	uint64_t bytes = random_below(100000), fetched = random_below(3) ? 0 : bytes & ~4095ull;
	unsigned int op = calls[random_below(sizeof(calls) / sizeof(calls[0]))];
	bool moves = op == M_READ || op == M_PREAD || op == M_WRITE;

	switch (random_below(8)) {
	case 0:
		FAULT(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .file = file,
		      .offset = random_below(64) * 4096, .fetched = fetched,
		      .flags = fetched ? TRACE_FAULT_MAJOR : 0);
		break;
	case 1:
		CALL(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = M_OPENAT,
		     .path = random_below(2) ? "/no/such/file" : "/no/other/file", .result = -2);
		break;
	case 2:
		FILL(made, .time = time, .pid = pid, .file = file, .bytes = fetched);
		break;
	default:
		CALL(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = op, .file = file,
		     .offset = moves ? (int64_t)random_below(1 << 20) : -1,
		     .asked = moves ? bytes : 0, .result = moves ? (int64_t)bytes : 0,
		     .flags = random_below(9) ? 0 : TRACE_OP_DIRECT,
		     .fetched = op == M_READ ? fetched : 0);
	}
}

static void add_request(struct made_trace *made, uint64_t number, uint64_t pid, uint64_t time)
{
	uint64_t queue = random_below(MS), dur = queue + 1 + random_below(2 * MS);
	uint64_t dev = 8ull << 20, file = 1 + random_below(FILES), bytes = 4096 * random_below(64);
	unsigned int op = random_below(2) ? M_REQUEST_READ : M_REQUEST_WRITE;

	REQUEST(made, .time = time, .dur = dur, .queue = queue, .pid = pid, .op = op, .file = file,
		.id = number, .dev = dev, .bytes = bytes);
	BIO(made, .time = time, .dur = dur, .queue = queue, .pid = pid, .op = op, .file = file,
	    .request = number, .dev = dev, .bytes = bytes, .offset = random_below(64) * 4096);
}

/* Steps of a process, one after the other, with loading and computing within. */
static void add_spans(struct made_trace *made, uint64_t pid, uint64_t from, uint64_t length)
{
	uint64_t time = from, id = 2;

	SPAN(made, .begin = from, .end = from + length - 1, .pid = pid, .id = 1, .name = "epoch",
	     .category = "epoch");
	for (int step = 0; step < 4 && time + 12 * MS < from + length; step++) {
		uint64_t load = random_below(5 * MS), work = random_below(5 * MS);

		SPAN(made, .begin = time, .end = time + load + work + MS, .pid = pid, .id = id,
		     .name = "step", .category = "step");
		SPAN(made, .begin = time + 1, .end = time + 1 + load, .pid = pid, .id = id + 1,
		     .name = "load", .category = "data");
		SPAN(made, .begin = time + load + 2, .end = time + load + work + 2, .pid = pid,
		     .id = id + 2, .name = "work", .category = "compute");
		id += 3;
		time += load + work + MS + random_below(MS);
	}
}

/* The program of a trace of some host, from a moment of its monotonic clock. */
static void add_run(struct made_trace *made, size_t number, size_t host, uint64_t from,
		    uint64_t length, bool ranked)
{
	char path[32], command[32];
	uint64_t first = 100 + 10 * number;

	for (uint64_t i = 1; i <= FILES; i++) {
		snprintf(path, sizeof(path), "/data/%zu/f%llu", host, (unsigned long long)i);
		FILE_ROW(made, .time = from, .id = i, .dev = 8 << 20, .ino = 40 + i,
			 .size = 1 << 20, .path = path);
	}
	for (uint64_t pid = first; pid < first + 2; pid++) {
		snprintf(command, sizeof(command), "python3 %llu", (unsigned long long)pid);
		EXEC(made, .time = from, .pid = pid, .ppid = 1, .comm = "python3",
		     .command = command, .rank = ranked ? (int64_t)(2 * number + pid - first) : -1);
		add_spans(made, pid, from, length);
		EXIT(made, .time = from + length, .pid = pid, .comm = "python3");
	}
	for (size_t i = 0; i < 60; i++)
		add_operation(made, first + random_below(2), from, length);
	for (size_t i = 1; i < 10; i++)
		add_request(made, i, first + random_below(2), from + random_below(length));
	DEVICE(made, .time = from + length, .dev = 8 << 20, .name = "sda", .reads = 20,
	       .read_bytes = 1 << 20, .writes = random_below(9));
}

static void lose_some(struct made_trace *made)
{
	made->kinds[TRACE_SYSCALL].events += 7;
	made->kinds[TRACE_SYSCALL].lost += 7;
	made->operations[M_READ].count += 7;
	made->operations[M_READ].bytes += 700;
	made->operations[M_READ].thread_time_ns += 70000;
}

/* Runs follow each other, or they overlap. */
static void make_job(struct random_job *job, bool apart)
{
	static const char *const names[TRACES_MOST] = { "a", "b", "c", "d", "e", "f" };
	static const char *const hosts[HOSTS] = { "node1", "node2", "node3" };
	bool ranked = random_below(4), one_host = !random_below(3);
	uint64_t at = 1000 * MS;

	job->count = 2 + random_below(TRACES_MOST - 1);
	for (size_t i = 0; i < job->count; i++) {
		size_t host = one_host ? 0 : random_below(HOSTS);
		uint64_t length = (40 + random_below(60)) * MS, boot = host * 7777 * MS;
		uint64_t from = at + (apart ? 0 : random_below(20 * MS));

		/* The wall clock is set a bit while a host runs. A summary of several hosts knows
		 * the clock of the first alone. */
		BEGIN(&job->made[i], .host = hosts[host], .boot_id = hosts[host], .spans = true,
		      .async = true, .block = true, .monotonic_ns = from + boot,
		      .realtime_ns = 1700000000000000000ull + from + host * 17 +
				     (one_host ? random_below(100) : 0));
		add_run(&job->made[i], i, host, from + boot, length, ranked);
		if (!random_below(5))
			lose_some(&job->made[i]);
		job->traces[i] = made_finish(&job->made[i], from + boot, from + boot + length);
		job->names[i] = names[i];
		if (apart)
			at += length + 10 * MS; /* some operations last on */
	}
}

static void free_job(struct random_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		made_close(&job->made[i]);
}

/* --- summaries --- */

static struct report *report_on(struct trace_reader *const *readers, const char *const *names,
				size_t count)
{
	struct trace_error error = { "" };
	struct report *report;

	if (report_make(&report, readers, names, count, NULL, &error))
		fail_msg("%s", error.text);
	return report;
}

/* Frees the report. */
static struct trace_reader *summarized(struct report *report, size_t rows, int *fd)
{
	struct trace_error error = { "" };
	struct trace_reader *reader;
	char path[64];

	*fd = memfd_create("summary", MFD_CLOEXEC);
	assert_int_equal(summary_write(*fd, report, rows), 0);
	report_free(report);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	if (trace_reader_open(&reader, path, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* A random parting of a job: some traces remain, the others become one summary each or together,
 * and some of these one once more. */
struct parted {
	struct trace_reader *readers[TRACES_MOST], *opened[2 * TRACES_MOST];
	const char *names[TRACES_MOST];
	size_t count, opened_count;
	int fds[2 * TRACES_MOST];
};

static struct trace_reader *summarize(struct parted *parted, struct trace_reader *const *readers,
				      const char *const *names, size_t count, size_t rows)
{
	struct trace_reader *made = summarized(report_on(readers, names, count), rows,
					       &parted->fds[parted->opened_count]);

	parted->opened[parted->opened_count++] = made;
	return made;
}

static void part(struct parted *parted, const struct random_job *job, bool apart)
{
	size_t at = 0;

	*parted = (struct parted) { .count = 0 };
	while (at < job->count) {
		size_t count = 1 + random_below(job->count - at);
		struct trace_reader *one = job->traces[at];

		/* Traces are told together: others may not come between them. */
		if (random_below(3) || (apart && at))
			one = summarize(parted, job->traces + at, job->names + at, count,
					SUMMARY_ROWS_MOST);
		else
			count = 1;
		if (!random_below(3))
			one = summarize(parted, &one, job->names + at, 1, SUMMARY_ROWS_MOST);
		parted->names[parted->count] = job->names[at];
		parted->readers[parted->count++] = one;
		at += count;
	}
}

static void free_parted(struct parted *parted)
{
	for (size_t i = 0; i < parted->opened_count; i++) {
		trace_reader_close(parted->opened[i]);
		close(parted->fds[i]);
	}
}

/* --- what is compared --- */

/*
 * Whatever stands nowhere here must be the same. Of single runs: what is concluded from one run's
 * numbers is not what is concluded from all runs' together. By events: it cannot be told of several
 * runs without them.
 */
static const struct exception {
	const char *table, *column; /* NULL: all columns, and which rows there are */
	const char *why;
} exceptions[] = {
	{ "findings", NULL, "rules look at single runs" },
	{ "caveats", NULL, "words, and one that says what they are put together from" },
	{ "places", NULL, "which files are alike is decided in single runs" },
	{ "readahead", NULL, "what another run read of a file is not known to a run" },
	{ "writeback", NULL, "what another run wrote to a file is not known to a run" },
	{ "lifetimes", NULL, "what another run removed is not known to the one that made it" },
	{ "timeline", NULL, "by events" },
	{ "device_heat", NULL, "by events" },
	{ "programs", NULL, "which are many is decided in single runs" },
	{ "steps", "outlier", "what stands out does so among the steps of its run" },
	{ "failed_lookups", "example", "the first of some run" },
};

static bool is_excepted(const char *table, const char *column)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (!strcmp(exceptions[i].table, table) &&
		    (!exceptions[i].column || (column && !strcmp(exceptions[i].column, column))))
			return true;
	return false;
}

/* Columns that rows are known by. */
static bool is_identity(const char *table, const char *column, enum merge_rule rule)
{
	static const char *const of[][2] = {
		{ "slowest", "op" },	  { "slowest", "start_ns" }, { "slowest", "tid" },
		{ "steps", "rank" },	  { "steps", "start_ns" },   { "processes", "host" },
		{ "epochs", "start_ns" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(of[i][0], table) && !strcmp(of[i][1], column))
			return true;
	/* Those of processes without a rank are counted together, over all runs. */
	if (!strcmp(table, "epochs") && !strcmp(column, "epoch"))
		return false;
	return rule == MERGE_KEY;
}

static bool is_known(const struct cell *cell)
{
	return cell->type != CELL_NULL && !cell->summed;
}

static bool is_same(const struct cell *a, const struct cell *b);

static bool has_text(const struct cell *list, const struct cell *text)
{
	for (uint32_t i = 0; i < list->length; i++)
		if (is_same(&list->texts[i], text))
			return true;
	return false;
}

static bool same_tables(const struct table *a, const struct table *b)
{
	bool same = a->row_count == b->row_count && a->column_count == b->column_count;

	for (size_t i = 0; same && i < a->row_count * a->column_count; i++)
		same = is_same(&a->cells[i], &b->cells[i]);
	return same;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	if (is_known(a) != is_known(b))
		return false;
	if (!is_known(a))
		return true;
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case CELL_BOOL:
		return a->flag == b->flag;
	case CELL_TEXT:
		return a->length == b->length && !memcmp(a->text, b->text, a->length);
	case CELL_TEXTS: /* in the order of runs */
		for (uint32_t i = 0; i < a->length; i++)
			if (!has_text(b, &a->texts[i]))
				return false;
		return a->length == b->length;
	case CELL_TABLE:
		return same_tables(a->table, b->table);
	case CELL_REAL: /* made of the same numbers, in another way */
		return a->real - b->real < 1e-9 && b->real - a->real < 1e-9;
	default:
		return a->uint == b->uint;
	}
}

static const struct cell *at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->column_count + column];
}

struct comparing {
	const struct analysis *analysis;
	const struct table *whole, *parts;
	bool *taken; /* of the parts' rows */
	bool apart;
	size_t told, untold;
};

static size_t same_row(const struct comparing *comparing, size_t row)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	for (size_t other = 0; other < parts->row_count; other++) {
		bool same = !comparing->taken[other];

		for (size_t i = 0; i < whole->column_count && same; i++)
			if (is_identity(whole->name, whole->columns[i].name,
					merge_rule_of(&comparing->analysis->merging,
						      &whole->columns[i])))
				same = is_same(at(whole, row, i), at(parts, other, i));
		if (same)
			return other;
	}
	fail_msg("%s: row %zu of the report of the traces is missing", whole->name, row);
	return 0;
}

/* A step or an epoch of a process without a rank is measured by what the whole job did meanwhile.
 */
static bool is_unranked(const struct table *table, size_t row)
{
	int rank = table_find_column(table, "rank");

	return (!strcmp(table->name, "steps") || !strcmp(table->name, "epochs")) && rank >= 0 &&
	       !is_known(at(table, row, rank));
}

/* What a report of parts may leave open. */
static bool may_be_open(const struct comparing *comparing, const struct table_column *column)
{
	enum merge_rule rule = merge_rule_of(&comparing->analysis->merging, column);

	if (rule == MERGE_UNION || rule == MERGE_APART)
		return !comparing->apart && !comparing->analysis->merging.own &&
		       strcmp(comparing->whole->name, "processes");
	return rule == MERGE_UNKNOWN || rule == MERGE_SAME || rule == MERGE_LOST ||
	       column->unit == UNIT_SHARE || !strcmp(column->name, "by_rank") ||
	       !strncmp(column->name, "spread.", 7);
}

static void compare_row(struct comparing *comparing, size_t row, size_t other)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	for (size_t i = 0; i < whole->column_count; i++) {
		const struct table_column *column = &whole->columns[i];

		if (is_excepted(whole->name, column->name) || is_unranked(whole, row))
			continue;
		if (is_same(at(whole, row, i), at(parts, other, i))) {
			comparing->told++;
			continue;
		}
		if (is_known(at(parts, other, i)) || !may_be_open(comparing, column))
			fail_msg("%s.%s of row %zu: %s%lld of the traces, %s%lld of the parts",
				 whole->name, column->name, row,
				 is_known(at(whole, row, i)) ? "" : "null ",
				 (long long)at(whole, row, i)->uint,
				 is_known(at(parts, other, i)) ? "" : "null ",
				 (long long)at(parts, other, i)->uint);
		comparing->untold++;
	}
}

static void compare_tables(struct comparing *comparing)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	if (is_excepted(whole->name, NULL))
		return;
	if (whole->absent && parts->absent)
		return;
	if (comparing->analysis->merging.whole && parts->absent) {
		comparing->untold++;
		return;
	}
	assert_int_equal(whole->absent, parts->absent);
	if (whole->column_count != parts->column_count)
		fail_msg("%s: %zu columns of the traces, %zu of the parts", whole->name,
			 whole->column_count, parts->column_count);
	for (size_t i = 0; i < whole->column_count; i++)
		assert_string_equal(whole->columns[i].name, parts->columns[i].name);
	if (whole->row_count != parts->row_count)
		fail_msg("%s: %zu rows of the traces, %zu of the parts", whole->name,
			 whole->row_count, parts->row_count);
	comparing->taken = calloc(parts->row_count + 1, sizeof(*comparing->taken));
	assert_non_null(comparing->taken);
	for (size_t row = 0; row < whole->row_count; row++) {
		size_t other = same_row(comparing, row);

		comparing->taken[other] = true;
		compare_row(comparing, row, other);
	}
	free(comparing->taken);
}

static void compare(const struct report *whole, const struct report *parts, bool apart,
		    size_t *told, size_t *untold)
{
	size_t count;
	const struct analysis *const *analyses = report_analyses(&count);

	assert_int_equal(whole->table_count, parts->table_count);
	for (size_t i = 0; i < count; i++) {
		struct comparing comparing = { .analysis = analyses[i],
					       .whole = whole->tables[i],
					       .parts = parts->tables[i],
					       .apart = apart };

		compare_tables(&comparing);
		*told += comparing.told;
		*untold += comparing.untold;
	}
}

static void check_random(size_t rounds, bool apart)
{
	size_t told = 0, untold = 0;

	for (size_t round = 0; round < rounds; round++) {
		struct report *whole, *parts;
		struct random_job job;
		struct parted parted;

		make_job(&job, apart);
		whole = report_on(job.traces, job.names, job.count);
		part(&parted, &job, apart);
		parts = report_on(parted.readers, parted.names, parted.count);
		compare(whole, parts, apart, &told, &untold);
		report_free(whole);
		report_free(parts);
		free_parted(&parted);
		free_job(&job);
	}
	/* Most of what there is to say is said. */
	assert_true(told > 20 * rounds && told > 9 * untold);
}

static void test_runs_apart(void **state)
{
	check_random(40, true);
}

static void test_runs_that_overlap(void **state)
{
	check_random(60, false);
}

/* --- single things --- */

/* Of one trace nothing is left out: its timeline, its findings, its words. */
static void test_one_trace(void **state)
{
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;
	struct report *whole, *parts;

	make_job(&job, true);
	whole = report_on(job.traces, job.names, 1);
	summary = summarize(&parted, job.traces, job.names, 1, SUMMARY_ROWS_MOST);
	assert_true(summary_is(summary));
	parts = report_on(&summary, job.names, 1);
	for (size_t i = 0; i < whole->table_count; i++) {
		const struct table *a = whole->tables[i], *b = parts->tables[i];

		assert_int_equal(a->absent, b->absent);
		if (!strcmp(a->name, "caveats") || a->absent)
			continue;
		if (!same_tables(a, b))
			fail_msg("%s differs", a->name);
		assert_string_equal(a->note ? a->note : "", b->note ? b->note : "");
		assert_int_equal(a->view.shown_count, b->view.shown_count);
	}
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* Names in the rules are those of columns, where everything was recorded. */
static void test_rules(void **state)
{
	struct random_job job;
	struct report *whole;
	size_t count;
	const struct analysis *const *analyses = report_analyses(&count);

	make_job(&job, true);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < count; i++) {
		const char *unknown = "";

		if (!whole->tables[i]->absent && whole->tables[i]->column_count &&
		    !merging_fits(&analyses[i]->merging, whole->tables[i], &unknown))
			fail_msg("%s has no column %s", analyses[i]->name, unknown);
	}
	report_free(whole);
	free_job(&job);
}

static uint64_t sum_of(const struct report *report, const char *table, const char *column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report_table(report, table)->row_count; i++) {
		const struct cell *cell = ask(report, table, i, column);

		sum += cell->type == CELL_UINT ? cell->uint : 0;
	}
	return sum;
}

/* Rows that have no room become one: nothing of them is lost but who they were. */
static void test_folded_rows(void **state)
{
	static const char *const sums[][2] = {
		{ "files", "read.bytes" },	{ "files", "opens" },
		{ "files", "mmap.faults" },	{ "operations", "count" },
		{ "operations", "errors" },	{ "processes", "read.bytes" },
		{ "processes", "write.count" }, { "failed_lookups", "count" },
	};
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summaries[TRACES_MOST];
	struct report *whole, *parts;

	make_job(&job, false);
	whole = report_on(job.traces, job.names, job.count);
	for (size_t i = 0; i < job.count; i++) {
		summaries[i] = summarize(&parted, job.traces + i, job.names + i, 1, 1);
		assert_true(trace_reader_block_count(summaries[i]) < 64);
	}
	parts = report_on(summaries, job.names, job.count);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sum_of(whole, sums[i][0], sums[i][1]) != sum_of(parts, sums[i][0], sums[i][1]))
			fail_msg("%s.%s differs", sums[i][0], sums[i][1]);
	assert_true(report_table(parts, "files")->folded >= job.count);
	assert_non_null(strstr(report_table(parts, "files")->note, "share the last row"));
	/* What one summary folded another may tell by its name: at least so much. */
	assert_true(ask(parts, "files", 0, "opens")->at_least || job.count == 1);
	report_free(whole);
	report_free(parts);
	free_parted(&parted);
	free_job(&job);
}

/* Two hosts whose clocks are an hour apart: the run is as long as their clocks say. */
static void test_clocks_apart(void **state)
{
	struct made_trace made[2];
	struct trace_reader *readers[2], *summaries[2];
	static const char *const names[] = { "a", "b" };
	struct parted parted = { .count = 0 };
	const uint64_t hour_ns = 3600ull * 1000000000;
	struct report *report;

	for (int i = 0; i < 2; i++) {
		BEGIN(&made[i], .host = i ? "late" : "early", .boot_id = i ? "two" : "one",
		      .monotonic_ns = 5, .realtime_ns = 1700000000000000000ull + (1 - i) * hour_ns);
		EXEC(&made[i], .time = 10, .pid = 7, .comm = "x", .rank = i);
		readers[i] = made_finish(&made[i], 10, 10 + 1000 * MS);
		summaries[i] = summarize(&parted, &readers[i], names + i, 1, 9);
	}
	report = report_on(summaries, names, 2);
	CHECK(report, "trace", 0, "start_unix_ns", 1700000000000000005ull);
	CHECK(report, "trace", 0, "duration_ns", hour_ns + 1000 * MS);
	CHECK(report, "processes", find_row(report, "processes", "host", "early"), "start_ns",
	      hour_ns);
	CHECK(report, "processes", find_row(report, "processes", "host", "late"), "start_ns", 0);
	CHECK(report, "trace", 0, "ranks", 2);
	report_free(report);
	free_parted(&parted);
	made_close(&made[0]);
	made_close(&made[1]);
}

/* --- what is refused --- */

static void check_refused(struct trace_reader *reader, const struct report_options *options,
			  int status, const char *words)
{
	static const char *const names[] = { "some.flt" };
	struct trace_error error = { "" };
	struct report *report;

	assert_int_equal(report_make(&report, &reader, names, 1, options, &error), status);
	if (!strstr(error.text, words) || !strstr(error.text, names[0]))
		fail_msg("%s", error.text);
}

static void test_needs_events(void **state)
{
	const struct filter filter = {
		.from_ns = 1, .until_ns = FILTER_NONE, .pid = FILTER_NONE, .rank = FILTER_NONE
	};
	const struct report_options filtered = { .filter = &filter };
	const struct report_options grouped = { .key = rollup_find_key("file") };
	const struct report_options drawn = { .pictures = true };
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;

	make_job(&job, true);
	summary = summarize(&parted, job.traces, job.names, job.count, 9);
	check_refused(summary, &filtered, -ENOTSUP, "filtered");
	check_refused(summary, &grouped, -ENOTSUP, "grouped");
	check_refused(summary, &drawn, -ENOTSUP, "drawn");
	free_parted(&parted);
	free_job(&job);
}

/* Cut before its end a summary would be a smaller one. */
static void test_cut(void **state)
{
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_error error;
	struct trace_reader *cut;
	struct stat stat;

	make_job(&job, true);
	summarize(&parted, job.traces, job.names, job.count, 9);
	assert_int_equal(fstat(parted.fds[0], &stat), 0);
	assert_int_equal(ftruncate(parted.fds[0], stat.st_size - 60), 0);
	trace_reader_close(parted.opened[0]);
	{
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", parted.fds[0]);
		assert_int_equal(trace_reader_open(&cut, path, &error), 0);
	}
	parted.opened[0] = cut;
	check_refused(cut, NULL, -EINVAL, "not whole");
	free_parted(&parted);
	free_job(&job);
}

/* Rows that contradict each other, or are of nothing: an error or a report, and no more memory than
 * a summary may take. */
static uint64_t hostile_value(void)
{
	static const uint64_t odd[] = { 0, 1, 2, 3, 5, 7, 8, 40, 1 << 21, UINT32_MAX, UINT64_MAX };

	return random_below(4) ? odd[random_below(sizeof(odd) / sizeof(odd[0]))]
			       : next_random(&random_state) >> random_below(60);
}

static void test_hostile(void **state)
{
	static const char *const texts[] = { "trace", "files",	 "findings",	  "access",
					     "title", "cost_ns", "start_unix_ns", "\xff" };
	static const char *const names[] = { "some.flt" };
	size_t refused = 0;

	for (int round = 0; round < 300; round++) {
		struct trace_error error = { "" };
		struct report *report;
		struct made_trace made;
		uint64_t values[TRACE_COLUMNS_MOST];
		int status;

		BEGIN(&made, .mode = SUMMARY_MODE);
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			trace_writer_string(made.writer, texts[i], strlen(texts[i]));
		for (int i = 0; i < 40; i++) {
			enum trace_kind kind = TRACE_SUMMARY_TABLE + random_below(4);

			for (unsigned int c = 0; c < trace_schemas[kind].column_count; c++)
				values[c] = random_below(2) ? hostile_value() : random_below(9);
			if (kind == TRACE_SUMMARY_TABLE)
				values[SUMMARY_TABLE_NUMBER] =
					made.kinds[TRACE_SUMMARY_TABLE].written;
			values[TRACE_COL_TIME] = i;
			made_row(&made, kind, 0, values);
		}
		made_finish(&made, 0, 40);
		status = report_make(&report, &made.reader, names, 1, NULL, &error);
		assert_true(!status || (error.text[0] && status == -EINVAL));
		refused += status != 0;
		report_free(report);
		made_close(&made);
	}
	assert_true(refused > 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),	     cmocka_unit_test(test_one_trace),
		cmocka_unit_test(test_runs_apart),   cmocka_unit_test(test_runs_that_overlap),
		cmocka_unit_test(test_folded_rows),  cmocka_unit_test(test_clocks_apart),
		cmocka_unit_test(test_needs_events), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
