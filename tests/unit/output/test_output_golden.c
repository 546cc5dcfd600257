/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From rows to pages: a hand-made trace, its report and its events as text, compared with the files
 * of tests/golden. UPDATE=1 rewrites these; read the difference before committing it, and keep the
 * trace unless its format had to change. test_golden.py compares numbers in JSON.
 */
#define OWN_MAIN
#include "unit_test.h"

#include "output_sample.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "analysis/report/report.h"
#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "output/base/json_tables.h"
#include "output/rows/row.h"
#include "output/text/text.h"

#define GOLDEN "tests/golden/"
#define GOLDEN_TRACE GOLDEN "sample.flt"
#define GOLDEN_SPANS GOLDEN "spans.flt"

static const char trace_name[] = "sample.flt"; /* as the report shows it */
static char path[] = "/tmp/faultline-golden-XXXXXX";
static char spans_path[] = "/tmp/faultline-golden-XXXXXX";

static void read_whole(const char *name, struct sink *out)
{
	FILE *file = fopen(name, "r");
	char buffer[4096];
	size_t n;

	sink_open_memory(out);
	if (!file)
		fail_msg("%s: %s (UPDATE=1 writes it)", name, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), file)) > 0)
		sink_bytes(out, buffer, n);
	fclose(file);
}

static void update(const char *name, const struct sink *made)
{
	FILE *file = fopen(name, "w");

	if (!file)
		fail_msg("%s: %s", name, strerror(errno));
	assert_int_equal(fwrite(made->buffer, 1, made->used, file), made->used);
	assert_int_equal(fclose(file), 0);
}

/* Reports the first line that differs. */
static void compare(const char *name, const struct sink *made)
{
	struct sink golden;
	size_t at = 0, line = 1, start = 0;

	if (getenv("UPDATE")) {
		update(name, made);
		return;
	}
	read_whole(name, &golden);
	while (at < made->used && at < golden.used && made->buffer[at] == golden.buffer[at]) {
		if (made->buffer[at++] == '\n') {
			line++;
			start = at;
		}
	}
	if (at < made->used || at < golden.used)
		fail_msg("%s:%zu is\n%.*s\nand should be\n%.*s", name, line,
			 (int)strcspn(made->buffer + start, "\n"), made->buffer + start,
			 (int)strcspn(golden.buffer + start, "\n"), golden.buffer + start);
	sink_close(&golden);
}

static struct trace_reader *open_trace(const char *name)
{
	struct trace_error error = { "" };
	struct trace_reader *reader = NULL;

	if (trace_reader_open(&reader, name, &error))
		fail_msg("%s: %s", name, error.text);
	return reader;
}

static void write_report(struct sink *out, const char *trace,
			 int (*render)(struct sink *, const struct report *))
{
	static const char *const names[] = { trace_name };
	struct trace_reader *reader = open_trace(trace);
	struct trace_error error = { "" };
	struct report *report;

	if (report_make(&report, &reader, names, 1, NULL, &error))
		fail_msg("%s", error.text);
	sink_open_memory(out);
	assert_int_equal(render(out, report), 0);
	sink_bytes(out, "", 1);
	out->used--; /* the NUL is for messages */
	report_free(report);
	trace_reader_close(reader);
}

static int render_text(struct sink *out, const struct report *report)
{
	static const struct style style = { .width = 100 };
	const struct grid_options options = { .style = &style, .top = 3 };

	return text_report(out, report, &options);
}

static int render_json(struct sink *out, const struct report *report)
{
	return json_tables(out, (const struct table *const *)report->tables, report->table_count);
}

TEST(test_report)
{
	struct sink made;

	write_report(&made, path, render_text);
	compare(GOLDEN "report.txt", &made);
	sink_close(&made);
	write_report(&made, spans_path, render_text);
	compare(GOLDEN "spans.txt", &made);
	sink_close(&made);
}

/* The kept traces stay readable: their reports have the same numbers as those of new ones. */
TEST(test_kept_trace)
{
	static const char *const kept[] = { GOLDEN_TRACE, GOLDEN_SPANS };
	const char *const made[] = { path, spans_path };

	for (size_t i = 0; i < 2; i++) {
		struct sink now, then;

		if (getenv("UPDATE"))
			sample_write(kept[i], i);
		write_report(&now, made[i], render_json);
		write_report(&then, kept[i], render_json);
		assert_string_equal(now.buffer, then.buffer);
		sink_close(&now);
		sink_close(&then);
	}
}

struct lines {
	struct row_resolver *resolver;
	struct sink text;
};

static int write_lines(void *state, const struct event *events, size_t count)
{
	struct lines *lines = state;

	for (size_t i = 0; i < count; i++) {
		struct resolved_row row;

		if (events[i].flags & EVENT_SECOND)
			continue;
		row_resolve(lines->resolver, &events[i], &row);
		row_text(&lines->text, SAMPLE_START, &row);
	}
	return 0;
}

TEST(test_print)
{
	static const struct walk_calls calls = { .events = write_lines };
	static const char *const names[] = { "a.flt" };
	struct trace_reader *reader = open_trace(path);
	struct lines lines;
	const struct walk_consumer consumer = { &calls, &lines };
	const struct walk walk = { .cursor.whole_rows = true,
				   .turns = true,
				   .consumers = &consumer,
				   .consumer_count = 1 };
	struct trace_error error = { "" };
	struct job job;

	sink_open_memory(&lines.text);
	assert_int_equal(job_load(&job, &reader, names, 1, &error), 0);
	assert_int_equal(row_resolver_open(&lines.resolver, &job), 0);
	assert_int_equal(walk_run(&job, &walk, &error), 0);
	compare(GOLDEN "print.txt", &lines.text);
	sink_close(&lines.text);
	row_resolver_close(lines.resolver);
	job_free(&job);
	trace_reader_close(reader);
}

static bool make_sample(char *name, bool spans)
{
	int fd = mkstemp(name);

	if (fd < 0)
		return false;
	close(fd);
	sample_write(name, spans);
	return true;
}

int main(void)
{
	int status;

	setenv("TZ", "UTC", 1);
	tzset();
	if (!make_sample(path, false) || !make_sample(spans_path, true))
		return 1;
	status = cmocka_run_group_tests(unit_tests, NULL, NULL);
	unlink(path);
	unlink(spans_path);
	return status;
}
