/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts of `print`: rows in time order from overlapping blocks, in any amount of memory; the lines
 * for one event, as text and as JSON.
 */
#define OWN_MAIN
#include "unit_test.h"

#include "output_sample.h"

#include <json-c/json.h>
#include <stdio.h>

#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "output/rows/row.h"

static char path[] = "/tmp/faultline-rows-XXXXXX";

static struct trace_reader *open_sample(void)
{
	struct trace_error error = { "" };
	struct trace_reader *reader = NULL;

	if (trace_reader_open(&reader, path, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* --- the order
 * ------------------------------------------------------------------------------------ */

#define OVERLAP_LANES 3
#define OVERLAP_ROWS 120000 /* per CPU buffer; a block holds 32768 */

struct seen {
	uint64_t time, count, sum;
	uint64_t stop_at;
};

static int check_order(void *state, const struct event *events, size_t count)
{
	struct seen *seen = state;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(event_kind(&events[i]), TRACE_FAULT);
		assert_true(event_value(&events[i], FAULT_TIME) >= seen->time);
		seen->time = event_value(&events[i], FAULT_TIME);
		seen->sum += event_value(&events[i], FAULT_OFFSET);
		if (++seen->count == seen->stop_at)
			return 42;
	}
	return 0;
}

static int walk(struct trace_reader *reader, struct cursor_options options, struct seen *seen)
{
	static const struct walk_calls calls = { .events = check_order };
	static const char *const names[] = { "a.flt" };
	const struct walk_consumer consumer = { &calls, seen };
	const struct walk all = { .cursor = options, .consumers = &consumer, .consumer_count = 1 };
	struct trace_error error = { "" };
	struct job job;
	int status = job_load(&job, &reader, names, 1, &error);

	if (!status)
		status = walk_run(&job, &all, &error);
	job_free(&job);
	return status;
}

/* Three CPU buffers whose times go back and forth a little, as calls end in a different order than
 * they began.
 */
static void write_overlapping(void)
{
	struct made_trace sample;
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	sample_open(&sample, fd, false);
	for (uint64_t i = 0; i < OVERLAP_ROWS; i++) {
		for (sample.lane = 0; sample.lane < OVERLAP_LANES; sample.lane++)
			FAULT(&sample,
			      SAMPLE_AT(i * 0.001 * (1 + sample.lane) + i * 7919 % 13 * 0.0001, 0),
			      .pid = sample.lane, .file = SAMPLE_TRAIN, .offset = i);
	}
	sample_finish(&sample, 0);
}

TEST(test_order)
{
	static const size_t memories[] = { 0, 1 << 20, 400000 };
	const uint64_t sum = (uint64_t)OVERLAP_ROWS * (OVERLAP_ROWS - 1) / 2;
	struct trace_reader *reader;

	write_overlapping();
	reader = open_sample();
	for (size_t i = 0; i < SAMPLE_COUNT(memories); i++) {
		const struct cursor_options options = { .kinds = 1 << TRACE_FAULT,
							.whole_rows = true,
							.bytes_max = memories[i] };
		struct seen seen = { 0 };

		assert_int_equal(walk(reader, options, &seen), 0);
		assert_int_equal(seen.count, OVERLAP_LANES * OVERLAP_ROWS);
		assert_int_equal(seen.sum, OVERLAP_LANES * sum);

		seen = (struct seen) { .stop_at = 1000 };
		assert_int_equal(walk(reader, options, &seen), 42);
		assert_int_equal(seen.count, 1000);
	}
	trace_reader_close(reader);
}

static bool is_at(const struct event *event, uint64_t time_ns)
{
	return event->start <= time_ns && event->end >= time_ns;
}

struct window {
	uint64_t from_ns, until_ns, inside, others;
};

static int count_inside(void *state, const struct event *events, size_t count)
{
	struct window *window = state;

	for (const struct event *event = events; event < events + count; event++) {
		assert_true(event->start <= window->until_ns);
		if (event->start >= window->from_ns || is_at(event, window->from_ns))
			window->inside++;
		else
			window->others++;
	}
	return 0;
}

/* A window yields all of its events, and blocks outside it stay unread. */
TEST(test_window)
{
	static const struct walk_calls calls = { .events = count_inside };
	static const char *const names[] = { "a.flt" };
	struct trace_error error = { "" };
	struct trace_reader *reader;
	struct window all = { .until_ns = UINT64_MAX }, some = { 0 };
	struct walk_consumer consumer = { &calls, &all };
	struct walk walk = { .consumers = &consumer, .consumer_count = 1 };
	struct job job;

	write_overlapping();
	reader = open_sample();
	assert_int_equal(job_load(&job, &reader, names, 1, &error), 0);
	all.from_ns = job.start_ns + 100000000;
	all.until_ns = walk.cursor.until_ns = job.start_ns + 110000000;
	walk.cursor.kinds = 1 << TRACE_FAULT;
	assert_int_equal(walk_run(&job, &walk, &error), 0);
	some.from_ns = walk.cursor.from_ns = all.from_ns;
	some.until_ns = all.until_ns;
	consumer.state = &some;
	assert_int_equal(walk_run(&job, &walk, &error), 0);
	assert_true(some.inside > 10000 && some.others < all.others);
	assert_int_equal(some.inside, all.inside);
	job_free(&job);
	trace_reader_close(reader);
}

TEST(test_no_rows)
{
	const struct cursor_options options = { .kinds = 1 << TRACE_FAULT };
	struct seen seen = { 0 };
	struct trace_reader *reader;
	struct made_trace sample;
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	sample_open(&sample, fd, false);
	sample_finish(&sample, 0);
	reader = open_sample();
	assert_int_equal(walk(reader, options, &seen), 0);
	assert_int_equal(seen.count, 0);
	trace_reader_close(reader);
}

/* --- the lines
 * ------------------------------------------------------------------------------------ */

struct lines {
	struct trace_reader *reader;
	struct job job;
	struct row_resolver *resolver;
	struct sink out;
	bool json;
};

static int write_some(void *state, const struct event *events, size_t count)
{
	struct lines *lines = state;

	for (size_t i = 0; i < count; i++) {
		struct resolved_row row;

		if (events[i].flags & EVENT_SECOND)
			continue;
		row_resolve(lines->resolver, &events[i], &row);
		if (lines->json)
			row_json(&lines->out, &row);
		else
			row_text(&lines->out, SAMPLE_START, &row);
	}
	return 0;
}

/* Writes lines of the trace at `path`. */
static void write_lines(struct lines *lines, bool json)
{
	static const struct walk_calls calls = { .events = write_some };
	static const char *const names[] = { "a.flt" };
	const struct walk_consumer consumer = { &calls, lines };
	const struct walk all = { .cursor.whole_rows = true,
				  .turns = true,
				  .consumers = &consumer,
				  .consumer_count = 1 };
	struct trace_error error = { "" };

	lines->reader = open_sample();
	lines->json = json;
	sink_open_memory(&lines->out);
	assert_int_equal(job_load(&lines->job, &lines->reader, names, 1, &error), 0);
	assert_int_equal(row_resolver_open(&lines->resolver, &lines->job), 0);
	assert_int_equal(walk_run(&lines->job, &all, &error), 0);
	sink_bytes(&lines->out, "", 1);
	assert_int_equal(lines->out.error, 0);
}

static void close_lines(struct lines *lines)
{
	sink_close(&lines->out);
	row_resolver_close(lines->resolver);
	job_free(&lines->job);
	trace_reader_close(lines->reader);
}

TEST(test_text)
{
	static const char *const expected[] = {
		"    0.000000000 100/100 exec ppid 1 uid 1000 comm \"python3\" \"python3\" "
		"\"train.py\" "
		"\"--data\" \"/data/train.bin\" rank 3\n",
		"    0.000000000 - file \"/data/train.bin\" id 2 dev 8:1 ino 102 mode 100644 size "
		"512 MiB\n",
		"    0.000000000 - file \"/data/\\x1b[2Jgr\\xf6\\xdf.bin\" id 3 dev 8:1 ino 103 "
		"mode "
		"100644 size 8.0 KiB\n",
		"    0.010000000 100/100 openat \"/data/torch/__init__.py\" = -ENOENT <50.0 us>\n",
		"    0.013000000 100/100 pread64 \"/data/train.bin\" offset 0 asked 65536 = 65536 "
		"fetched "
		"128 KiB <400 us>\n",
		"    0.015000000 100/100 mmap \"/data/train.bin\" offset 0 asked 1048576 = "
		"139637976727552 [shared] <5.0 us>\n",
		"    0.016000000 100/100 fork child_pid 101 child_tid 101\n",
		"    0.017000000 101/101 exec ppid 1 uid 1000 comm \"worker\" \"worker\" "
		"\"\\xff\\x1b]0;x\\x07\"\n",
		"    0.021000000 101/101 pread64 \"/data/\\x1b[2Jgr\\xf6\\xdf.bin\" offset 4096 "
		"asked 4096 "
		"= -EIO [direct] <5.0 us>\n",
		"    0.022000000 101/101 sendfile \"/data/train.bin\" \"/out/model.pt\" offset "
		"131072 asked "
		"16384 = 16384 fetched 16.0 KiB <800 us>\n",
		"    0.030000000 101/101 fault \"/data/train.bin\" offset 262144 [major, filemap, "
		"shared] "
		"fetched 16.0 KiB <1.5 ms>\n",
		"    0.050000000 101/101 pagecache \"/data/train.bin\" offset 1048576 fetched 4.0 "
		"KiB\n",
		"    0.094000000 100/100 rename \"/out/model.tmp\" \"/out/model.pt\" = 0 <30.0 "
		"us>\n",
		"    0.095000000 101/101 exit process 1 signal 9 comm \"worker\" major 1 minor "
		"2\n",
	};
	struct lines lines;
	const char *at;

	sample_write(path, false);
	write_lines(&lines, false);
	at = lines.out.buffer;
	for (size_t i = 0; i < SAMPLE_COUNT(expected); i++) {
		const char *found = strstr(at, expected[i]);

		if (!found)
			fail_msg("in order, no line\n%sin\n%s", expected[i], lines.out.buffer);
		at = found;
	}
	close_lines(&lines);
}

/* Times without units would be unreadable; 0 is left out, unknown names are shown as they are. */
TEST(test_threads)
{
	static const char expected[] =
		"    0.000000000 7/8 thread_time cpu 2.0 ms lock 4.0 ms other 213503d 23h "
		"io_wait 1.0 ms user 3.0 ms <6.0 ms>\n"
		"    0.001000000 7/8 wait state \"lock\" call \"futex\" object 4096 waker_pid 7 "
		"waker_tid 9 [unfinished] owner_pid 7 owner_tid 10 <4.0 ms>\n"
		"    0.002000000 7/7 wait state \"\\x1b[2J\\xff\" <0 ns>\n";
	struct made_trace made;
	struct lines lines;

	BEGIN(&made, .fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC), .threads = true);
	THREAD_TIME(&made, SAMPLE_AT(0, 6000), .pid = 7, .tid = 8, .io_wait = 1000000,
		    .user = 3000000,
		    .states = { [THREAD_CPU] = 2000000,
				[THREAD_LOCK] = 4000000,
				[THREAD_OTHER] = UINT64_MAX });
	WAIT(&made, SAMPLE_AT(1, 4000), .pid = 7, .tid = 8, .state = "lock", .call = "futex",
	     .object = 4096, .waker_pid = 7, .waker_tid = 9, .owner_pid = 7, .owner_tid = 10,
	     .flags = TRACE_WAIT_UNFINISHED);
	WAIT(&made, SAMPLE_AT(2, 0), .pid = 7, .state = "\x1b[2J\xff");
	made_finish(&made, SAMPLE_START, SAMPLE_START + 1000000000);
	made_close(&made);
	write_lines(&lines, false);
	assert_string_equal(lines.out.buffer, expected);
	close_lines(&lines);
}

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(json_object_object_get(object, name));
}

static uint64_t number_of(struct json_object *object, const char *name)
{
	return json_object_get_uint64(json_object_object_get(object, name));
}

static void check_hostile(struct json_object *object)
{
	assert_string_equal(text_of(object, "op"), "pread64");
	assert_string_equal(text_of(object, "layer"), "syscall");
	assert_string_equal(text_of(object, "kind"), "syscall");
	assert_true(number_of(object, "time_ns") == SAMPLE_MS(21));
	assert_true(number_of(object, "dur_ns") == 5000);
	assert_true(number_of(object, "flags") == TRACE_OP_DIRECT);
	assert_int_equal(json_object_get_int64(json_object_object_get(object, "result")), -5);
	assert_string_equal(text_of(object, "path"), "/data/\033[2Jgr\\xf6\\xdf.bin");
	assert_string_equal(text_of(object, "path_hex"), "2f646174612f1b5b324a6772f6df2e62696e");
}

static void check_command(struct json_object *object)
{
	struct json_object *command = json_object_object_get(object, "command");

	assert_int_equal(json_object_array_length(command), 2);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(command, 0)),
			    "worker");
	command = json_object_object_get(object, "command_hex");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(command, 1)),
			    "ff1b5d303b7807");
	assert_int_equal(json_object_get_int64(json_object_object_get(object, "rank")), -1);
}

static void check_given_path(struct json_object *object)
{
	assert_string_equal(text_of(object, "given_path"), "torch/__init__.py");
	assert_string_equal(text_of(object, "path"), "/data/torch/__init__.py");
	assert_false(json_object_object_get_ex(object, "path_hex", NULL));
}

static void check_file(struct json_object *object)
{
	assert_string_equal(text_of(object, "path"), "/data/train.bin");
	assert_false(json_object_object_get_ex(object, "given_path", NULL));
	assert_true(number_of(object, "size") == 512 << 20);
}

static const struct {
	const char *kind, *name;
	uint64_t value;
	void (*check)(struct json_object *object);
} checks[] = {
	{ "syscall", "time_ns", SAMPLE_START + 21000000, check_hostile },
	{ "exec", "pid", 101, check_command },
	{ "syscall_path", "time_ns", SAMPLE_START + 10000000, check_given_path },
	{ "file", "id", SAMPLE_TRAIN, check_file },
};

TEST(test_json)
{
	unsigned int checked = 0, count = 0;
	uint64_t time = 0;
	struct lines lines;
	char *save;

	sample_write(path, false);
	write_lines(&lines, true);
	for (char *line = strtok_r(lines.out.buffer, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save), count++) {
		struct json_object *object = json_tokener_parse(line);

		if (!object)
			fail_msg("not JSON: %s", line);
		assert_true(number_of(object, "time_ns") >= time);
		time = number_of(object, "time_ns");
		for (size_t i = 0; i < SAMPLE_COUNT(checks); i++) {
			if (strcmp(text_of(object, "kind"), checks[i].kind) ||
			    number_of(object, checks[i].name) != checks[i].value)
				continue;
			checks[i].check(object);
			checked |= 1 << i;
		}
		json_object_put(object);
	}
	assert_int_equal(checked, (1 << SAMPLE_COUNT(checks)) - 1);
	assert_int_equal(count, 4 + 2 + 1 + 2 + 9 + 3 + 20 + 1);
	close_lines(&lines);
}

/* Every column is described, and its name ends in its unit. */
TEST(test_columns)
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct trace_schema *schema = &trace_schemas[kind];

		assert_true(strlen(schema->meaning) > 5);
		assert_int_equal(schema->columns[TRACE_COL_TIME].type, TRACE_TIME);
		assert_true(schema->duration < 0 ||
			    schema->columns[schema->duration].unit == TRACE_UNIT_NS);
		for (unsigned int i = 0; i < schema->column_count; i++) {
			const struct trace_column *column = &schema->columns[i];
			const char *suffix = strstr(column->name, "_bytes");

			assert_true(strlen(column->meaning) > 1);
			assert_true((column->type == TRACE_TIME) == (i == TRACE_COL_TIME));
			assert_true(!suffix || column->unit == TRACE_UNIT_BYTES);
			for (unsigned int j = 0; j < i; j++)
				assert_string_not_equal(column->name, schema->columns[j].name);
		}
	}
}

int main(void)
{
	int fd = mkstemp(path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = cmocka_run_group_tests(unit_tests, NULL, NULL);
	unlink(path);
	return status;
}
