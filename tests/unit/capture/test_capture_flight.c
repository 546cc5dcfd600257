// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Parts of the flight recorder, without a kernel: copying memory while it is being written, the
 * log, state evicted from the ring, and triggers.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/records/event.h"
#include "capture/flight/flight_log.h"
#include "capture/drain/flight_memory.h"
#include "capture/flight/flight_names.h"
#include "capture/flight/flight_past.h"
#include "capture/flight/flight_triggers.h"
#include "base/log.h"

/* --- memory --- */

#define LANES 4
#define SLOTS 8192

struct shared {
	struct flight_memory *memory;
	struct lane_control *controls;
	struct lane_slot *slots;
	atomic_bool stop;
	_Atomic uint64_t clock;
};

static void *map_of(size_t bytes, int *fd)
{
	void *map;

	*fd = memfd_create("flight", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(ftruncate(*fd, bytes), 0);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(map != MAP_FAILED);
	return map;
}

static void open_shared(struct shared *shared)
{
	int controls, slots;

	memset(shared, 0, sizeof(*shared));
	shared->clock = 1000;
	shared->controls = map_of(4096, &controls);
	shared->slots = map_of(SLOTS * sizeof(struct lane_slot), &slots);
	assert_int_equal(flight_memory_open(&shared->memory, controls, slots, LANES, SLOTS), 0);
	close(controls);
	close(slots);
}

static void close_shared(struct shared *shared)
{
	flight_memory_close(shared->memory);
	munmap(shared->controls, 4096);
	munmap(shared->slots, SLOTS * sizeof(struct lane_slot));
}

/*
 * Mirrors bpf/core/flight.h for a CPU buffer with a single writer: record n of a CPU buffer. One
 * difference: a thread here can be delayed for longer than the memory takes to wrap, which cannot
 * happen in the kernel; it then takes another slot if others have overtaken it.
 */
static void write_record(struct shared *shared, unsigned int lane, uint64_t n)
{
	struct lane_control *own = &shared->controls[lane], *pool = &shared->controls[LANES];
	struct lane_slot *slot;
	uint64_t at, held;

	do {
		at = own->given;
		if (!(at % FLIGHT_CHUNK) || __atomic_load_n(&pool->given, __ATOMIC_SEQ_CST) - at >
						    SLOTS / FLIGHT_STALE_PART)
			at = __atomic_fetch_add(&pool->given, FLIGHT_CHUNK, __ATOMIC_SEQ_CST);
		own->given = at + 1;
		slot = &shared->slots[at % SLOTS];
		held = __atomic_load_n(&slot->ready, __ATOMIC_SEQ_CST);
	} while (held & FLIGHT_BUSY || (held & FLIGHT_NUMBER_MASK) > at ||
		 !__atomic_compare_exchange_n(&slot->ready, &held, FLIGHT_BUSY, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	__atomic_fetch_add(&own->taken, 1, __ATOMIC_SEQ_CST);
	slot->call = (struct lane_call) {
		.time_ns = atomic_fetch_add(&shared->clock, 1),
		.offset = n,
		.asked_bytes = n ^ 0x5555,
		.result = ~n,
		.pid = lane,
		.file = n,
		.op = OP_FIRST_CALL,
	};
	__atomic_store_n(&slot->ready, (at + 1) | (uint64_t)lane << FLIGHT_LANE_SHIFT,
			 __ATOMIC_SEQ_CST);
}

/* Asserts that each CPU buffer's records are consecutive up to the last, and not torn. Returns
 * their number.
 */
static size_t check_copy(const struct flight_slots *copy, uint64_t *last)
{
	uint64_t next[LANES] = { 0 };

	for (size_t i = 0; i < copy->count; i++) {
		const struct lane_call *call = &copy->slots[i].call;
		unsigned int lane = flight_slot_lane(&copy->slots[i]);

		assert_int_equal(lane, call->pid);
		assert_int_equal(call->asked_bytes, call->offset ^ 0x5555);
		assert_int_equal(call->result, ~call->offset);
		if (next[lane])
			assert_int_equal(call->offset, next[lane]);
		next[lane] = call->offset + 1;
		last[lane] = call->offset;
		assert_true(call->time_ns >= copy->from_ns && call->time_ns <= copy->to_ns);
	}
	return copy->count;
}

static void test_copy(void **state)
{
	struct flight_slots copy;
	struct shared shared;
	uint64_t last[LANES] = { 0 };

	open_shared(&shared);
	assert_int_equal(flight_memory_copy(shared.memory, 5, &copy), 0);
	assert_int_equal(copy.count + copy.given + copy.lost + copy.from_ns, 0);
	flight_slots_free(&copy);
	for (uint64_t n = 1; n <= 100; n++)
		write_record(&shared, n % 2, n / 2 + 1);
	assert_int_equal(flight_memory_copy(shared.memory, 1u << 30, &copy), 0);
	assert_int_equal(copy.from_ns, 0); /* everything */
	assert_int_equal(copy.given, 100);
	assert_int_equal(check_copy(&copy, last), 100);
	flight_slots_free(&copy);
	close_shared(&shared);
}

/*
 * A CPU buffer that is rarely written loses nothing younger than the oldest record of the others.
 */
static void test_uneven(void **state)
{
	struct flight_slots copy;
	struct shared shared;
	uint64_t last[LANES] = { 0 }, written[LANES] = { 0 };
	size_t kept;

	open_shared(&shared);
	for (uint64_t n = 0; n < 10 * SLOTS; n++) {
		unsigned int lane = n % 1000 ? 0 : n % 3000 ? 1 : 2;

		write_record(&shared, lane, ++written[lane]);
		if (n % 777)
			continue;
		assert_int_equal(flight_memory_copy(shared.memory, shared.clock, &copy), 0);
		kept = check_copy(&copy, last);
		assert_int_equal(copy.given, n + 1);
		for (int i = 0; i < 3; i++)
			if (written[i] && copy.from_ns == 0)
				assert_int_equal(last[i], written[i]);
		assert_int_equal(last[lane], written[lane]);
		/* Everything since then, from all CPU buffers. */
		if (copy.from_ns)
			assert_int_equal(kept, shared.clock - copy.from_ns);
		if (n > SLOTS)
			assert_true(kept > SLOTS / 2);
		assert_int_equal(copy.lost, 0);
		flight_slots_free(&copy);
	}
	close_shared(&shared);
}

struct writer {
	struct shared *shared;
	unsigned int lane;
	uint64_t written;
};

static void *keep_writing(void *context)
{
	struct writer *writer = context;

	while (!writer->shared->stop)
		write_record(writer->shared, writer->lane, ++writer->written);
	return NULL;
}

static void test_copy_while_written(void **state)
{
	struct writer writers[LANES];
	pthread_t threads[LANES];
	struct flight_slots copy;
	struct shared shared;
	uint64_t last[LANES];

	open_shared(&shared);
	for (unsigned int i = 0; i < LANES; i++) {
		writers[i] = (struct writer) { &shared, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, keep_writing, &writers[i]), 0);
	}
	for (int i = 0; i < 200; i++) {
		memset(last, 0, sizeof(last));
		assert_int_equal(flight_memory_copy(shared.memory, shared.clock, &copy), 0);
		/* A slot being written by a thread that has not run since leaves a gap. */
		if (!copy.lost)
			check_copy(&copy, last);
		flight_slots_free(&copy);
	}
	shared.stop = true;
	for (unsigned int i = 0; i < LANES; i++)
		pthread_join(threads[i], NULL);
	write_record(&shared, 0, ++writers[0].written); /* even if they hardly ran */
	memset(last, 0, sizeof(last));
	assert_int_equal(flight_memory_copy(shared.memory, shared.clock, &copy), 0);
	assert_int_equal(copy.lost, 0);
	assert_true(check_copy(&copy, last) > 0);
	flight_slots_free(&copy);
	close_shared(&shared);
}

/* --- the log --- */

struct seen {
	uint64_t count, first, last;
};

static void note(void *context, unsigned int lane, const struct event_header *record)
{
	struct seen *seen = context;

	assert_int_equal(lane, record->time_ns % 7);
	if (!seen->count++)
		seen->first = record->time_ns;
	else
		assert_int_equal(record->time_ns, seen->last + 1);
	seen->last = record->time_ns;
	for (size_t i = sizeof(*record); i < record->size; i++)
		assert_int_equal(((const char *)record)[i], (char)record->time_ns);
}

static void test_log(void **state)
{
	struct seen fallen = { 0 };
	struct flight_log *log;
	char memory[512];
	struct event_header *record = (struct event_header *)memory;

	assert_int_equal(flight_log_open(&log, 8192, note, &fallen), 0);
	assert_true(flight_log_add(log, 0, memory, 3000) < 0);
	for (uint64_t i = 1; i < 5000; i++) {
		struct flight_records copy;
		struct seen kept = { 0 };

		memset(memory, (char)i, sizeof(memory));
		*record = (struct event_header) { .time_ns = i,
						  .kind = RECORD_FORK,
						  .size = sizeof(*record) + i * 37 % 400 };
		assert_int_equal(flight_log_add(log, i % 7, record, record->size), 0);
		if (i % 50)
			continue;
		assert_int_equal(flight_log_copy(log, &copy), 0);
		flight_records_walk(&copy, note, &kept);
		assert_int_equal(kept.last, i);
		assert_int_equal(kept.count + fallen.count, i);
		assert_int_equal(flight_log_from_ns(log), fallen.last);
		free(copy.memory);
	}
	assert_true(fallen.count > 4000);
	flight_log_trim(log, 4990);
	assert_int_equal(fallen.last, 4989);
	flight_log_trim(log, UINT64_MAX);
	assert_int_equal(fallen.last, 4999);
	flight_log_close(log);
}

/* --- the past --- */

static void take(struct flight_past *past, const void *record)
{
	flight_past_take(past, 0, record);
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

static void add_name(struct flight_names *names, uint32_t id, size_t path_bytes)
{
	static _Alignas(8) char memory[sizeof(struct event_file) + 4096];
	struct event_file *file = (struct event_file *)memory;

	file->header.kind = RECORD_FILE;
	file->header.size = sizeof(*file) + (path_bytes + 7) / 8 * 8;
	file->id = id;
	assert_int_equal(flight_names_add(names, file), 0);
}

static size_t count_reported(const struct flight_names *names)
{
	struct flight_records reported = { 0 };
	size_t count = 0;

	flight_names_emit(names, &reported);
	for (size_t at = 0; at < reported.bytes; count++)
		at += *(uint32_t *)(reported.memory + at); /* each entry begins with its length */
	free(reported.memory);
	return count;
}

static void test_names(void **state)
{
	struct flight_names names = { 0 };

	for (uint32_t id = 1; id <= 100; id++)
		add_name(&names, id, 8);
	assert_false(flight_names_crowded(&names));
	flight_names_unmark(&names);
	for (uint32_t id = 10; id < 20; id++)
		flight_names_mark(&names, id, FLIGHT_NAME_RECORDED);
	flight_names_mark(&names, 0, FLIGHT_NAME_RECORDED);
	flight_names_mark(&names, 5000, FLIGHT_NAME_RECORDED);
	assert_int_equal(names.unresolved, 1);
	assert_int_equal(count_reported(&names), 10);
	/* Records of recent names may still arrive. */
	assert_int_equal(flight_names_sweep(&names), 0);
	assert_int_equal(names.files.count, 100);
	assert_int_equal(flight_names_sweep(&names), 0);
	assert_int_equal(names.files.count, 10);
	flight_names_unmark(&names);
	assert_int_equal(count_reported(&names), 0);
	assert_int_equal(flight_names_sweep(&names), 0);
	assert_int_equal(names.files.count, 0);
	assert_int_equal(names.bytes, 0);
	assert_int_equal(names.dropped, 0);
	flight_names_free(&names);
}

/*
 * A job that keeps opening new files; records refer to the last `recorded` of them and to file 1.
 */
static void check_churn(size_t path_bytes, uint32_t recorded, bool all_fit)
{
	struct flight_names names = { 0 };
	size_t peak = 0, sweeps = 0;

	add_name(&names, 1, path_bytes);
	for (uint32_t id = 2; id <= 500000; id++) {
		add_name(&names, id, path_bytes);
		if (names.bytes > peak)
			peak = names.bytes;
		if (!flight_names_crowded(&names))
			continue;
		sweeps++;
		flight_names_unmark(&names);
		flight_names_mark(&names, 1, FLIGHT_NAME_LIVE);
		for (uint32_t last = id > recorded ? id - recorded : 2; last <= id; last++)
			flight_names_mark(&names, last, FLIGHT_NAME_RECORDED);
		assert_int_equal(flight_names_sweep(&names), 0);
		assert_true(names.bytes <= FLIGHT_NAMES_BYTES / 2);
		assert_non_null(flight_table_find(&names.files, 1, 0));
		assert_non_null(flight_table_find(&names.files, id, 0));
	}
	assert_true(peak < FLIGHT_NAMES_BYTES + 8192);
	assert_true(sweeps > 0);
	assert_int_equal(names.dropped == 0, all_fit);
	flight_names_free(&names);
}

static void test_names_stay_bounded(void **state)
{
	check_churn(40, 10000, true);
	check_churn(400, 10000, true);
	check_churn(4000, 10000, false);
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
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_copy_while_written),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_past_disordered),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_stay_bounded),
		cmocka_unit_test(test_trigger_words),
		cmocka_unit_test(test_triggers),
	};

	log_set_level((enum log_level) - 1); /* log rejected triggers */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
