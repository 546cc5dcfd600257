// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The flight recorder's data outside its ring, without a kernel: state evicted from the ring, and
 * names.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/records/event.h"
#include "capture/flight/flight_names.h"
#include "capture/flight/flight_past.h"

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

TEST(test_past)
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
TEST(test_past_disordered)
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
	begin_span(&past, 10, 3); /* again */
	end.id = 2;
	take(&past, &end);
	take_exec(&past, 10, "python", -1); /* its spans stay open */
	assert_int_equal(past.spans.count, 59999);
	take(&past, &exit);
	assert_int_equal(past.spans.count, 0);
	begin_span(&past, 10, 1);
	reported.text[0] = 0;
	flight_past_emit(&past, 100, emit, &reported);
	assert_string_equal(reported.text, "");
	assert_int_equal(past.refused, 0);
	flight_past_free(&past);
}

TEST(test_table)
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

TEST(test_names)
{
	struct flight_names names;

	flight_names_init(&names);
	for (uint32_t id = 1; id <= 100; id++)
		add_name(&names, id, 8);
	assert_false(flight_names_full(&names));
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
		if (!flight_names_full(&names))
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

TEST(test_names_stay_bounded)
{
	check_churn(40, 10000, true);
	check_churn(400, 10000, true);
	check_churn(4000, 10000, false);
}

#define LONG_BYTES 4000

static void sum_bytes(void *context, unsigned int ring, const void *record, size_t size)
{
	*(size_t *)context += size;
}

static size_t past_bytes(const struct flight_past *past)
{
	size_t bytes = 0;

	flight_past_emit(past, 100, sum_bytes, &bytes);
	return bytes;
}

/* Whatever a job puts into its command lines and spans, the memory for them is limited, and becomes
 * free with its processes. */
TEST(test_past_stays_bounded)
{
	char memory[sizeof(struct event_exec) + sizeof(struct event_span) + LONG_BYTES] = { 0 };
	struct event_exec *exec = (struct event_exec *)memory;
	struct event_span *span = (struct event_span *)memory;
	struct flight_past past = { 0 };

	exec->command_bytes = LONG_BYTES;
	for (uint32_t pid = 1; pid <= 4000; pid++) {
		exec->header = (struct event_header) { .time_ns = 5,
						       .kind = RECORD_EXEC,
						       .size = sizeof(*exec) + LONG_BYTES,
						       .pid = pid };
		take(&past, exec);
	}
	assert_true(past_bytes(&past) < 5u << 20);
	assert_int_equal(past.processes.count, 4000);
	assert_true(past.refused > 0 && past.refused < 4000);
	memset(memory, 0, sizeof(memory));
	for (uint32_t id = 1; id <= 40000; id++) {
		span->header = (struct event_header) { .time_ns = 6,
						       .kind = RECORD_SPAN_BEGIN,
						       .size = sizeof(*span) + 1024,
						       .pid = 1 + id % 4000 };
		span->id = id;
		take(&past, span);
		take(&past, span); /* the same again: counted once */
	}
	assert_true(past_bytes(&past) < 13u << 20);
	assert_true(past.spans.count > 4000 && past.spans.count < 40000);
	for (uint32_t pid = 1; pid <= 4000; pid++) {
		struct event_exit exit = {
			.header = { .kind = RECORD_EXIT, .size = sizeof(exit), .pid = pid },
			.process_ends = 1
		};

		take(&past, &exit);
	}
	assert_int_equal(past.span_bytes, 0);
	assert_int_equal(past.command_bytes, 0);
	assert_int_equal(past_bytes(&past), 0);
	flight_past_free(&past);
}

/* If several devices had the same number in turn, the last one is kept. */
TEST(test_past_devices)
{
	struct event_device device = { .header = { .kind = RECORD_DEVICE, .size = sizeof(device) },
				       .dev = 3,
				       .instance = 7 };
	struct flight_past past = { 0 };
	struct reported reported = { "" };

	device.total.of[0].requests = 40;
	take(&past, &device);
	device.instance = 8;
	device.total.of[0].requests = 2;
	flight_past_subtract(&past, &device); /* another device has nothing to do with it */
	assert_int_equal(device.total.of[0].requests, 2);
	take(&past, &device);
	device.instance = 7;
	take(&past, &device);
	flight_past_emit(&past, 100, emit, &reported);
	assert_string_equal(reported.text, "device 2 ");
	flight_past_free(&past);
}
