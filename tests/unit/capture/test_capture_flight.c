// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Parts of the flight recorder, without a kernel: the ring and traces written from it, names,
 * state evicted from the ring, and triggers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/records/event.h"
#include "capture/calls/calls.h"
#include "capture/flight/flight_dump.h"
#include "capture/flight/flight_triggers.h"
#include "base/log.h"
#include "trace/read/reader.h"

/* --- the past --- */

static void take(struct flight_past *past, const void *record)
{
	flight_past_take(past, 0, record, ((const struct event_header *)record)->size);
}

static void take_exec(struct flight_past *past, uint32_t pid, const char *comm, int64_t rank)
{
	char memory[sizeof(struct event_exec) + 32] = { 0 };
	struct event_exec *exec = (struct event_exec *)memory;

	exec->header =
		(struct event_header) { .time_ns = 5, .kind = RECORD_EXEC, .pid = pid, .tid = pid };
	exec->command_bytes = strlen(comm) + 1;
	exec->header.size = sizeof(*exec) + exec->command_bytes;
	strcpy(exec->comm, comm);
	strcpy(exec->command, comm);
	if (rank >= 0)
		sprintf(exec->ranks.value[0], "%lld", (long long)rank);
	take(past, exec);
}

struct reported {
	char text[1024];
};

static void emit(void *context, unsigned int lane, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct reported *reported = context;
	char *at = reported->text + strlen(reported->text);
	const struct event_exec *exec = record;

	if (header->kind == RECORD_EXEC)
		sprintf(at, "[%s]%u<%u:%s:%.*s@%llu%s ", exec->ranks.value[0], header->pid,
			exec->ppid, exec->comm, (int)exec->command_bytes, exec->command,
			(unsigned long long)header->time_ns,
			exec->flags & TRACE_EXEC_PRESENT ? "+" : "-");
	else if (header->kind == RECORD_SPAN_BEGIN)
		sprintf(at, "span %llu@%llu ",
			(unsigned long long)((const struct event_span *)record)->id,
			(unsigned long long)header->time_ns);
	else if (header->kind == RECORD_DEVICE)
		sprintf(at, "device %llu ",
			(unsigned long long)((const struct event_device *)record)
				->total.of[0]
				.requests);
}

static void begin_span(struct flight_past *past, uint32_t pid, uint64_t id)
{
	struct event_span span = { .header = { .time_ns = 7,
					       .kind = RECORD_SPAN_BEGIN,
					       .size = sizeof(span),
					       .pid = pid },
				   .id = id };

	take(past, &span);
}

static void test_past(void **state)
{
	struct event_fork fork = {
		.header = { .time_ns = 6, .kind = RECORD_FORK, .size = sizeof(fork), .pid = 10 },
		.child_pid = 11,
		.child_tid = 11
	};
	struct event_exit exit = {
		.header = { .kind = RECORD_EXIT, .size = sizeof(exit), .pid = 10 },
		.process_ends = 1
	};
	struct event_span_end end = {
		.header = { .kind = RECORD_SPAN_END, .size = sizeof(end), .pid = 11 }, .id = 1
	};
	struct event_device device = { .header = { .kind = RECORD_DEVICE, .size = sizeof(device) },
				       .dev = 3 };
	struct flight_past past = { 0 };
	struct reported reported = { "" };

	take_exec(&past, 10, "python", 2);
	begin_span(&past, 10, 9);
	take(&past, &fork); /* same rank */
	fork.child_pid = 10;
	fork.child_tid = 12;
	take(&past, &fork); /* a thread */
	begin_span(&past, 11, 1);
	begin_span(&past, 11, 2);
	take(&past, &end);
	take(&past, &exit); /* with its spans */
	device.total.of[0].requests = 40;
	take(&past, &device);
	flight_past_emit(&past, 100, emit, &reported);
	assert_string_equal(reported.text, "[2]11<10:python:python@100+ span 2@100 device 40 ");
	device.total.of[0].requests = 50;
	flight_past_subtract(&past, &device);
	assert_int_equal(device.total.of[0].requests, 10);
	reported.text[0] = 0;
	take_exec(&past, 11, "cat", -1);
	flight_past_emit(&past, 200, emit, &reported);
	assert_true(!strncmp(reported.text, "[]11<0:cat:cat@200+ ", 20));
	assert_int_equal(past.refused, 0);
	flight_past_free(&past);
}

/* Rings are drained in turn, the process ring first. */
static void test_past_disordered(void **state)
{
	struct event_span_end end = {
		.header = { .time_ns = 8, .kind = RECORD_SPAN_END, .size = sizeof(end), .pid = 10 },
		.id = 1
	};
	struct event_exit exit = {
		.header = { .kind = RECORD_EXIT, .size = sizeof(exit), .pid = 10 },
		.process_ends = 1
	};
	struct flight_past past = { 0 };
	struct reported reported = { "" };

	take_exec(&past, 10, "python", -1);
	take(&past, &end);
	begin_span(&past, 10, 1);
	flight_past_emit(&past, 100, emit, &reported);
	assert_string_equal(reported.text, "[]10<0:python:python@100+ ");
	/* Spans that began later are still open; feeding the same records twice changes nothing. */
	end.header.time_ns = 6;
	for (int i = 0; i < 2; i++) {
		reported.text[0] = 0;
		take(&past, &end);
		begin_span(&past, 10, 1);
		flight_past_emit(&past, 100, emit, &reported);
		assert_string_equal(reported.text, "[]10<0:python:python@100+ span 1@100 ");
	}
	for (uint64_t id = 1; id <= 60000; id++)
		begin_span(&past, 10, id);
	assert_int_equal(past.spans.count, 60000);
	take(&past, &exit);
	assert_int_equal(past.spans.count, 0);
	begin_span(&past, 10, 1);
	reported.text[0] = 0;
	flight_past_emit(&past, 100, emit, &reported);
	assert_string_equal(reported.text, "");
	assert_int_equal(past.refused, 0);
	flight_past_free(&past);
}

static void test_table(void **state)
{
	struct flight_table table = { 0 };
	uint8_t there[1000] = { 0 };

	srand(1);
	for (int i = 0; i < 100000; i++) {
		unsigned int key = rand() % 1000;

		if (there[key])
			flight_table_remove(&table, key, 7);
		else
			assert_int_equal(flight_table_put(&table, key, 7, malloc(1)), 0);
		there[key] ^= 1;
		key = rand() % 1000;
		assert_int_equal(flight_table_find(&table, key, 7) != NULL, there[key]);
		assert_null(flight_table_find(&table, key, 8));
	}
	flight_table_free(&table);
}

/* --- names --- */

static void add_name(struct flight_names *names, uint32_t id, size_t path_bytes)
{
	static _Alignas(8) char memory[sizeof(struct event_file) + 4096];
	struct event_file *file = (struct event_file *)memory;

	file->header.kind = RECORD_FILE;
	file->header.size = sizeof(*file) + (path_bytes + 7) / 8 * 8;
	file->id = id;
	assert_int_equal(flight_names_add(names, file), 0);
}

static void count_one(void *context, unsigned int ring, const void *record, size_t size)
{
	++*(size_t *)context;
}

static size_t count_reported(struct flight_names *names, uint64_t oldest)
{
	struct flight_records reported = { 0 };
	size_t count = 0;

	flight_names_emit(names, oldest, &reported);
	flight_records_walk(&reported, count_one, &count);
	free(reported.memory);
	return count;
}

static void use_names(struct flight_names *names, uint64_t first, uint64_t after, uint64_t segment)
{
	for (uint64_t id = first; id < after; id++)
		flight_names_use(names, &id, 1, segment);
}

static void test_names(void **state)
{
	struct flight_names names;

	flight_names_init(&names);
	for (uint32_t id = 1; id <= 100; id++)
		add_name(&names, id, 8);
	assert_false(flight_names_crowded(&names));
	use_names(&names, 10, 20, 3);
	use_names(&names, 15, 17, 4);
	use_names(&names, 15, 17, 1); /* files in flight count as used by the oldest segment */
	use_names(&names, 0, 1, 4);
	use_names(&names, 5000, 5001, 4);
	assert_int_equal(names.unnamed, 1);
	assert_int_equal(count_reported(&names, 1), 10);
	assert_int_equal(count_reported(&names, 4), 2);
	/* Events of recent names may still arrive. */
	assert_int_equal(flight_names_sweep(&names, 1), 0);
	assert_int_equal(names.files.count, 100);
	flight_names_live(&names, 50);
	assert_int_equal(flight_names_sweep(&names, 3), 0);
	assert_int_equal(names.files.count, 11);
	add_name(&names, 15, 16); /* another path of the same file */
	assert_int_equal(count_reported(&names, 4), 2);
	assert_int_equal(flight_names_sweep(&names, 4), 0);
	assert_int_equal(names.files.count, 2);
	assert_int_equal(flight_names_sweep(&names, 5), 0);
	assert_int_equal(names.files.count, 0);
	assert_int_equal(names.bytes, 0);
	assert_int_equal(names.dropped, 0);
	flight_names_free(&names);
}

/*
 * A job that keeps opening new files; events refer to the last `recorded` of them, and file 1 stays
 * open.
 */
static void check_churn(size_t path_bytes, uint32_t recorded, bool all_fit)
{
	struct flight_names names;
	size_t peak = 0;

	flight_names_init(&names);
	add_name(&names, 1, path_bytes);
	for (uint32_t id = 2; id <= 500000; id++) {
		add_name(&names, id, path_bytes);
		if (names.bytes > peak)
			peak = names.bytes;
		if (!flight_names_crowded(&names))
			continue;
		flight_names_live(&names, 1);
		use_names(&names, id > recorded ? id - recorded : 2, id + 1, names.sweeps + 1);
		assert_int_equal(flight_names_sweep(&names, names.sweeps + 1), 0);
		assert_true(names.bytes <= FLIGHT_NAMES_BYTES / 2);
		assert_non_null(flight_table_find(&names.files, 1, 0));
		assert_non_null(flight_table_find(&names.files, id, 0));
	}
	assert_true(peak < FLIGHT_NAMES_BYTES + 8192);
	assert_true(names.sweeps > 0);
	assert_int_equal(names.dropped == 0, all_fit);
	flight_names_free(&names);
}

static void test_names_stay_bounded(void **state)
{
	check_churn(40, 10000, true);
	check_churn(400, 10000, true);
	check_churn(4000, 10000, false);
}

/* --- the ring, and traces written from it --- */

#define READS 3000000
#define EACH_NS 1000
#define PATH_EVERY 1000	 /* a call with a path in place of a read */
#define LOST_EVERY 90000 /* one event is lost */
#define WHOLE "/whole/path"

struct filled {
	struct flight_ring ring;
	struct trace_header header;
	uint64_t given, lost;
};

static uint64_t time_of(uint64_t number)
{
	return 1000000 + number * EACH_NS;
}

/* The files change every 100,000 reads, and each has its name. */
static uint32_t file_of(uint64_t number)
{
	return 1 + number / 100000;
}

static void open_filled(struct filled *filled)
{
	memset(filled, 0, sizeof(*filled));
	filled->header.version = TRACE_VERSION;
	filled->header.tool = filled->header.host = filled->header.mode = "x";
	filled->header.page_bytes = 4096;
	filled->header.operations = calls_operations(&filled->header.operation_count);
	flight_ring_open(&filled->ring, 1 << 20, 2, &filled->header);
}

static void cut(struct filled *filled)
{
	struct flight_segment *segment = flight_ring_cut(&filled->ring);

	if (segment)
		flight_ring_add(&filled->ring, segment);
}

static void give_state(struct filled *filled, uint64_t time_ns)
{
	char memory[sizeof(struct event_exec) + 8] = { 0 };
	struct event_exec *exec = (struct event_exec *)memory;
	struct event_span span = { .header = { .time_ns = time_ns,
					       .kind = RECORD_SPAN_BEGIN,
					       .size = sizeof(span),
					       .pid = 10 },
				   .id = 5 };

	*exec = (struct event_exec) { .header = { .time_ns = time_ns,
						  .kind = RECORD_EXEC,
						  .size = sizeof(memory),
						  .pid = 10,
						  .tid = 10 },
				      .command_bytes = 7 };
	strcpy(exec->command, "python");
	flight_ring_take(&filled->ring, 0, &exec->header);
	flight_ring_take(&filled->ring, 0, &span.header);
}

static void give_path(struct filled *filled, uint64_t number)
{
	char memory[sizeof(struct event_syscall_path) + 16] = { 0 };
	struct event_syscall_path *path = (struct event_syscall_path *)memory;

	path->call = (struct event_syscall) { .header = { .time_ns = time_of(number),
							  .kind = RECORD_SYSCALL_PATH,
							  .size = sizeof(memory),
							  .pid = 10,
							  .tid = 10 },
					      .offset = number,
					      .op = OP_FIRST_CALL };
	path->path_bytes = strlen(WHOLE);
	strcpy(path->text, WHOLE);
	flight_ring_take(&filled->ring, 0, &path->call.header);
}

static void give_read(struct filled *filled, uint64_t number)
{
	const struct lane_slot slot = { .call = { .time_ns = time_of(number),
						  .duration_ns = EACH_NS / 2,
						  .offset = number,
						  .result = 1,
						  .pid = 10,
						  .tid = 10,
						  .file = file_of(number),
						  .op = OP_FIRST_CALL } };

	flight_ring_take_slots(&filled->ring, number / 64 % 2, &slot, 1);
}

static void give_name(struct filled *filled, uint32_t id)
{
	struct event_file file = { .header = { .kind = RECORD_FILE, .size = sizeof(file) },
				   .id = id };

	flight_ring_name(&filled->ring, &file);
}

static void fill(struct filled *filled, uint64_t count)
{
	if (!filled->given)
		give_state(filled, time_of(0));
	for (; filled->given < count; filled->given++) {
		uint64_t number = filled->given;

		if (file_of(number) != file_of(number - 1))
			give_name(filled, file_of(number));
		if (number % PATH_EVERY == 0)
			give_path(filled, number);
		else
			give_read(filled, number);
		if (number % LOST_EVERY == 0) {
			flight_ring_lose(&filled->ring, RECORD_PAGECACHE, 1);
			filled->lost++;
		}
		if (number % 100 == 0 && flight_ring_look(&filled->ring, time_of(number)))
			cut(filled);
	}
	cut(filled);
	assert_true(filled->ring.bytes <= filled->ring.limit);
}

/* Contents of a trace that was read back. */
struct written {
	uint64_t first, after; /* reads and calls with a path: all from the first on */
	uint64_t paths, spans, processes, names, lost;
	uint64_t overwritten, complete_from_ns;
};

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static struct written read_back(FILE *file)
{
	struct trace_error error;
	struct trace_reader *reader;
	struct written written = { 0 };
	uint64_t *numbers = calloc(READS, sizeof(*numbers));
	const struct trace_totals *totals;
	char path[64];
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_int_equal(trace_reader_open(&reader, path, &error), 0);
	totals = trace_reader_totals(reader);
	assert_non_null(totals);
	written.overwritten = trace_reader_header(reader)->flight.overwritten;
	written.complete_from_ns = trace_reader_header(reader)->flight.complete_from_ns;
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);

		assert_int_equal(trace_reader_read(reader, i, UINT64_MAX >> 1, &error), 0);
		written.spans += info->kind == TRACE_SPAN_BEGIN ? info->rows : 0;
		written.processes += info->kind == TRACE_EXEC ? info->rows : 0;
		written.names += info->kind == TRACE_FILE ? info->rows : 0;
		for (size_t row = 0; row < info->rows; row++) {
			if (info->kind == TRACE_SYSCALL || info->kind == TRACE_SYSCALL_PATH)
				numbers[count++] = trace_reader_column(reader, SYSCALL_OFFSET)[row];
			if (info->kind == TRACE_SYSCALL_PATH) {
				assert_string_equal(
					trace_reader_string(
						reader,
						trace_reader_column(reader, SYSCALL_PATH_PATH)[row])
						.bytes,
					WHOLE);
				written.paths++;
			}
		}
	}
	qsort(numbers, count, sizeof(*numbers), by_number);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(numbers[i], numbers[0] + i);
	written.first = numbers[0];
	written.after = numbers[0] + count;
	assert_int_equal(totals->operations[OP_FIRST_CALL].count, count);
	for (size_t i = 0; i < totals->kind_count; i++)
		written.lost += totals->kinds[i].lost;
	free(numbers);
	trace_reader_close(reader);
	return written;
}

static struct written dump(struct filled *filled, uint64_t to_ns)
{
	struct flight_snapshot snapshot = { .from_ns = filled->ring.from_ns,
					    .to_ns = to_ns,
					    .start_ns = time_of(0),
					    .before = filled->ring.evicted,
					    .lanes = 2 };
	struct flight_segment *segments[100];
	struct flight_written counts;
	struct written written;
	FILE *file = tmpfile();

	for (struct flight_segment *at = filled->ring.first; at; at = at->next)
		segments[snapshot.count++] = at;
	snapshot.segments = segments;
	flight_names_emit(&filled->ring.names, segments[0]->number, &snapshot.names);
	flight_past_emit(&filled->ring.past, snapshot.from_ns, flight_records_add, &snapshot.past);
	assert_int_equal(flight_dump(&snapshot, &filled->header, "why", fileno(file), &counts), 0);
	assert_int_equal(counts.error, 0);
	written = read_back(file);
	assert_int_equal(written.lost, counts.lost);
	free(snapshot.names.memory);
	free(snapshot.past.memory);
	fclose(file);
	return written;
}

/* Before anything is evicted, all is there; `to_ns` cuts the end off. */
static void test_all(void **state)
{
	struct filled filled;
	struct written written;

	open_filled(&filled);
	fill(&filled, 10000);
	assert_int_equal(filled.ring.from_ns, 0);
	written = dump(&filled, UINT64_MAX);
	assert_int_equal(written.first, 0);
	assert_int_equal(written.after, 10000);
	assert_int_equal(written.overwritten, 0);
	assert_int_equal(written.lost, filled.lost);
	assert_int_equal(written.processes, 1);
	assert_int_equal(written.spans, 1);
	assert_int_equal(written.names, 1);
	assert_int_equal(written.paths, 10);
	written = dump(&filled, time_of(7000));
	assert_int_equal(written.first, 0);
	assert_int_equal(written.after, 7001); /* the call with a path takes no time */
	flight_ring_close(&filled.ring);
}

/* The last events stay, with what they need; the others are counted. */
static void test_ring(void **state)
{
	struct filled filled;
	struct written written;

	open_filled(&filled);
	fill(&filled, READS);
	written = dump(&filled, UINT64_MAX);
	assert_true(written.first > READS / 10 && written.first < READS - READS / 20);
	assert_int_equal(written.after, READS);
	assert_int_equal(written.overwritten, written.first + 1); /* and the span's begin */
	assert_true(written.complete_from_ns < time_of(written.first) + EACH_NS / 2);
	assert_true(written.complete_from_ns >= time_of(written.first - 1));
	assert_true(written.lost > 0 && written.lost < filled.lost);
	assert_int_equal(written.processes, 1);
	assert_int_equal(written.spans, 1);
	assert_true(written.names <= file_of(READS) - file_of(written.first) + 2);
	assert_true(written.names >= file_of(READS - 1) - file_of(written.first) + 1);
	flight_ring_close(&filled.ring);
}

/* Events of a segment can end before those of an earlier one: they are left out, and counted. */
static void test_edge(void **state)
{
	struct written written;
	struct filled filled;

	open_filled(&filled);
	fill(&filled, 1000);
	filled.ring.from_ns = time_of(100);
	written = dump(&filled, UINT64_MAX);
	assert_int_equal(written.first, 100);
	assert_int_equal(written.after, 1000);
	assert_int_equal(written.overwritten, 100);
	flight_ring_close(&filled.ring);
}

/* --- triggers --- */

#define SECOND 1000000000ull

static void test_trigger_words(void **state)
{
	static const struct {
		const char *text;
		int status;
		double limit;
		uint64_t for_ns;
	} cases[] = {
		{ "major-faults=1000:5", 0, 1000, 5 * SECOND },
		{ "major-faults=0.5:2m", 0, 0.5, 120 * SECOND },
		{ "stall=80%:10s", 0, 0.8, 10 * SECOND },
		{ "stall=80:1500ms", 0, 0.8, 3 * SECOND / 2 },
		{ "stall=80%", -1, 0, 0 },
		{ "stall=80%:", -1, 0, 0 },
		{ "stall=80%:0", -1, 0, 0 },
		{ "stall=80%:-3", -1, 0, 0 },
		{ "stall=80%:5x", -1, 0, 0 },
		{ "stall=80%:10ms", -1, 0, 0 },
		{ "stall=80%:1e30h", -1, 0, 0 },
		{ "stall=80%:25h", -1, 0, 0 },
		{ "stall=-1%:5", -1, 0, 0 },
		{ "stall=nan:5", -1, 0, 0 },
		{ "stall=inf:5", -1, 0, 0 },
		{ "stall=:5", -1, 0, 0 },
		{ "stall", -1, 0, 0 },
		{ "", -1, 0, 0 },
		{ "=", -1, 0, 0 },
		{ "stal=5:5", -1, 0, 0 },
		{ "major-faults=5%:5", -1, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct flight_trigger trigger;
		int status = flight_trigger_parse("--flight-when", cases[i].text, SECOND, &trigger);

		assert_int_equal(status != 0, cases[i].status != 0);
		if (status)
			continue;
		assert_true(trigger.limit > cases[i].limit * 0.999 &&
			    trigger.limit < cases[i].limit * 1.001);
		assert_int_equal(trigger.for_ns, cases[i].for_ns);
	}
}

static void test_triggers(void **state)
{
	const struct flight_trigger given[] = {
		{ FLIGHT_MAJOR_FAULTS, 100, 3 * SECOND },
		{ FLIGHT_STALL, 0.5, 2 * SECOND },
	};
	struct flight_triggers *triggers = flight_triggers_open(given, 2);
	char reason[FLIGHT_REASON_BYTES] = "";
	uint64_t now = SECOND, who = 0;

	assert_non_null(triggers);
	assert_false(flight_triggers_end(triggers, now, &who, reason)); /* begins */
	for (int i = 1; i <= 3; i++) {
		flight_triggers_add(triggers, 7, 60, 0);
		flight_triggers_add(triggers, 7, 60, 0);
		flight_triggers_add(triggers, 8, 99, SECOND / 4);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 7);
	assert_string_equal(reason, "120 major-faults a second for 3.0 s");
	/* A pause, and the condition starts over. */
	for (int i = 0; i < 5; i++) {
		flight_triggers_add(triggers, 8, 0, i == 1 ? 0 : SECOND);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 8);
	assert_string_equal(reason, "stall of 100.0% for 2.0 s");
	/* The lowest threshold wins. */
	for (int i = 1; i <= 3; i++) {
		for (uint64_t each = 40; each >= 20; each--)
			flight_triggers_add(triggers, each, 100 + each, 0);
		flight_triggers_add(triggers, UINT64_MAX, 10000, 0);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 20);
	assert_string_equal(reason, "120 major-faults a second for 3.0 s");
	flight_triggers_close(triggers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_past_disordered),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_stay_bounded),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_trigger_words),
		cmocka_unit_test(test_triggers),
	};

	log_set_level((enum log_level) - 1); /* log rejected triggers */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
