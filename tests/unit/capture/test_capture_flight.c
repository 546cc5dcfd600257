// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The flight recorder's ring, without a kernel, and traces written from it. */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collections/compare.h"
#include "bpf/records/event.h"
#include "capture/calls/calls.h"
#include "capture/flight/flight_dump.h"
#include "trace/read/reader.h"

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
	flight_ring_open(&filled->ring, 1 << 20, 2, &filled->header, NULL);
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
	qsort(numbers, count, sizeof(*numbers), compare_u64);
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
TEST(test_all)
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
TEST(test_ring)
{
	struct filled filled;
	struct written written;

	open_filled(&filled);
	fill(&filled, READS);
	written = dump(&filled, UINT64_MAX);
	/* How much is left depends on how far the compression lags behind. */
	assert_true(written.first > READS / 10 && written.first < READS);
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
TEST(test_edge)
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
