// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Records whose lengths claim too much: all are rejected and counted. Every kind of record has its
 * row in the table.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/decode.h"
#include "capture/python/frames.h"
#include "trace_sample.h"

#define PAGE_BYTES 4096
#define TEXT_BYTES 8

struct fixture {
	FILE *file;
	struct trace_writer *writer;
	struct decoder *decoder;
};

static void set_up(struct fixture *fixture)
{
	const struct trace_writer_options options = { .lanes = 1 };

	fixture->file = tmpfile();
	assert_non_null(fixture->file);
	assert_int_equal(trace_writer_open(&fixture->writer, fileno(fixture->file), &sample_header,
					   &options),
			 0);
	assert_int_equal(decoder_open(&fixture->decoder, fixture->writer, 1, PAGE_BYTES), 0);
}

static void tear_down(struct fixture *fixture)
{
	decoder_close(fixture->decoder);
	trace_writer_close(fixture->writer);
	fclose(fixture->file);
}

/* Passes a record in memory of exactly its size, so that sanitizers catch overreads. */
static void take(struct fixture *fixture, enum record_kind kind, const void *record, size_t size)
{
	struct event_header *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, record, size);
	copy->kind = kind;
	copy->size = size;
	decoder_take(fixture->decoder, 0, copy, size);
	free(copy);
}

static void check(struct fixture *fixture, enum record_kind kind, uint64_t taken, uint64_t refused)
{
	uint64_t written = taken, lost = 0;

	assert_int_equal(decoder_taken(fixture->decoder, kind), taken);
	assert_int_equal(decoder_refused(fixture->decoder, kind), refused);
	decoder_add_rows(fixture->decoder, fixture->writer, kind, &written, &lost);
	if (decoder_has_own_rows(kind))
		assert_int_equal(written, taken);
	assert_int_equal(lost, 0);
}

/* Names, categories and arguments: each separately, and all together. */
TEST(test_spans)
{
	static const enum record_kind kinds[] = { RECORD_SPAN_BEGIN, RECORD_INSTANT };
	struct {
		struct event_span span;
		char text[TEXT_BYTES];
	} record = { .text = "name-cat" };
	const size_t size = sizeof(record.span) + TEXT_BYTES;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct fixture fixture;

		set_up(&fixture);
		record.span.name_bytes = 4;
		record.span.category_bytes = 3;
		record.span.args_bytes = 1;
		take(&fixture, kinds[i], &record, size);
		check(&fixture, kinds[i], 1, 0);
		record.span.args_bytes = 2;
		take(&fixture, kinds[i], &record, size);
		record.span.args_bytes = UINT16_MAX;
		take(&fixture, kinds[i], &record, size);
		record.span.args_bytes = 0;
		record.span.category_bytes = UINT16_MAX;
		take(&fixture, kinds[i], &record, size);
		record.span.category_bytes = 0;
		record.span.name_bytes = UINT16_MAX;
		take(&fixture, kinds[i], &record, size);
		take(&fixture, kinds[i], &record, sizeof(record.span) - 1);
		check(&fixture, kinds[i], 1, 5);
		tear_down(&fixture);
	}
}

/* A request, with and without its only bio behind it. */
TEST(test_requests)
{
	struct event_request_single record = {
		.bio.header = { .kind = RECORD_BIO, .size = sizeof(record.bio) },
	};
	struct fixture fixture;

	set_up(&fixture);
	take(&fixture, RECORD_REQUEST, &record, sizeof(record));
	check(&fixture, RECORD_REQUEST, 1, 0);
	check(&fixture, RECORD_BIO, 1, 0);
	take(&fixture, RECORD_REQUEST, &record, sizeof(record) - 1);
	take(&fixture, RECORD_REQUEST, &record, sizeof(record.request));
	take(&fixture, RECORD_REQUEST, &record, sizeof(record.request) - 1);
	check(&fixture, RECORD_REQUEST, 3, 1);
	check(&fixture, RECORD_BIO, 1, 0);
	tear_down(&fixture);
}

TEST(test_paths)
{
	struct {
		struct event_syscall_path call;
		char text[TEXT_BYTES];
	} record = { .text = "fromto" };
	const size_t size = sizeof(record.call) + TEXT_BYTES;
	struct fixture fixture;

	set_up(&fixture);
	record.call.path_bytes = 4;
	record.call.path2_bytes = 4;
	take(&fixture, RECORD_SYSCALL_PATH, &record, size);
	record.call.path2_bytes = 5;
	take(&fixture, RECORD_SYSCALL_PATH, &record, size);
	record.call.path_bytes = UINT16_MAX;
	record.call.path2_bytes = UINT16_MAX;
	take(&fixture, RECORD_SYSCALL_PATH, &record, size);
	check(&fixture, RECORD_SYSCALL_PATH, 1, 2);
	tear_down(&fixture);
}

TEST(test_identities)
{
	struct {
		struct event_file file;
		char names[TEXT_BYTES];
	} file = { .file.names_bytes = TEXT_BYTES + 1 };
	struct {
		struct event_exec exec;
		char command[TEXT_BYTES];
	} exec = { .exec.command_bytes = UINT32_MAX };
	struct fixture fixture;

	set_up(&fixture);
	take(&fixture, RECORD_FILE, &file, sizeof(file.file) + TEXT_BYTES);
	take(&fixture, RECORD_EXEC, &exec, sizeof(exec.exec) + TEXT_BYTES);
	check(&fixture, RECORD_FILE, 0, 1);
	check(&fixture, RECORD_EXEC, 0, 1);
	tear_down(&fixture);
}

/* --- stacks --- */

/* A code object of 3.11 whose two instructions are on lines 11 and 12. */
#define TABLE 0xd8, 0, 0, 0xd8, 0, 0 /* each one line below the last */
#define TABLE_BYTES 6

struct code_record {
	struct event_frame frame;
	uint8_t table[TABLE_BYTES];
};
#define CODE_BYTES (sizeof(struct event_frame) + TABLE_BYTES)

static struct code_record code_record(uint64_t code, const char *function)
{
	struct code_record record = {
		.frame = { .code = code,
			   .check = 7,
			   .first_line = 10,
			   .table_bytes = TABLE_BYTES,
			   .version = 0x30b,
			   .path_bytes = 4,
			   .function_bytes = strlen(function),
			   .path = "a.py" },
		.table = { TABLE },
	};

	memcpy(record.frame.function, function, strlen(function));
	return record;
}

struct stack_record {
	struct event_stack stack;
	struct python_frame frames[2];
};

static struct stack_record stack_record(uint32_t id, uint64_t inner, uint64_t outer)
{
	return (struct stack_record) {
		.stack = { .id = id, .count = 2 },
		.frames = { { .code = inner, .check = 7 },
			    { .code = outer, .check = 7, .instruction = 2 } },
	};
}

static void check_rows(const struct fixture *fixture, uint64_t frames, uint64_t stacks,
		       uint64_t samples)
{
	assert_int_equal(trace_writer_rows(fixture->writer, TRACE_FRAME), frames);
	assert_int_equal(trace_writer_rows(fixture->writer, TRACE_STACK), stacks);
	assert_int_equal(trace_writer_rows(fixture->writer, TRACE_SAMPLE), samples);
}

TEST(test_stacks)
{
	const struct code_record inner = code_record(0x1000, "f"), outer = code_record(0x2000, "g");
	struct stack_record stack = stack_record(5, 0x1000, 0x2000);
	struct event_sample sample = { .stack = 5 };
	struct fixture fixture;

	set_up(&fixture);
	take(&fixture, RECORD_FRAME, &inner, CODE_BYTES);
	take(&fixture, RECORD_FRAME, &outer, CODE_BYTES);
	check_rows(&fixture, 0, 0, 0);
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
	check_rows(&fixture, 2, 2, 1);
	/* The same stack again, as after the kernel side has forgotten it. */
	stack.stack.id = sample.stack = 6;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
	check_rows(&fixture, 2, 2, 2);
	/* Another line of the same function, called from the same place. */
	stack.stack.id = sample.stack = 7;
	stack.frames[0].instruction = 2;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	check_rows(&fixture, 2, 2, 2);
	take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
	check_rows(&fixture, 3, 3, 3);
	/* A sample waits for its stack, but not for ever. */
	sample.stack = 8;
	take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
	decoder_settle(fixture.decoder, false);
	check_rows(&fixture, 3, 3, 3);
	decoder_settle(fixture.decoder, true);
	check_rows(&fixture, 3, 3, 4);
	tear_down(&fixture);
}

/* Each trace of a recording has all rows that its samples need, under ids of their own. */
TEST(test_stacks_of_parts)
{
	const struct code_record code = code_record(0x1000, "f");
	struct stack_record stack = stack_record(5, 0x1000, 0x1000);
	struct event_sample sample = { .stack = 5 };
	struct fixture fixture;
	struct stack_ids last;

	set_up(&fixture);
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	for (uint32_t part = 1; part <= 2; part++) {
		take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
		take(&fixture, RECORD_SAMPLE, &sample, sizeof(sample));
		check_rows(&fixture, 2 * part, 2 * part, 2 * part);
		last = decoder_last_stacks(fixture.decoder);
		assert_int_equal(last.frame, 2 * part);
		assert_int_equal(last.stack, 2 * part);
		assert_int_equal(decoder_stack(fixture.decoder, 0, 0, 5), 2 * part);
		decoder_write_to(fixture.decoder, fixture.writer);
	}
	decoder_continue_stacks(fixture.decoder, (struct stack_ids) { 10, 20 });
	assert_int_equal(decoder_stack(fixture.decoder, 0, 0, 5), 22);
	tear_down(&fixture);
}

/* Lengths beyond the record, or beyond a field; characters of no width; unknown code. */
TEST(test_hostile_stacks)
{
	const struct code_record good = code_record(0x1000, "f");
	struct stack_record stack = stack_record(1, 0x1000, 0x2000);
	struct code_record code = good;
	struct fixture fixture;

	set_up(&fixture);
	code.frame.table_bytes++;
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	code.frame.table_bytes = UINT32_MAX;
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	check(&fixture, RECORD_FRAME, 0, 2);
	code = good;
	code.frame.path_bytes = UINT16_MAX;
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	code = good;
	code.frame.function_width = 3;
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	stack.stack.count = 3;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	stack.stack.count = UINT32_MAX;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	check(&fixture, RECORD_STACK, 0, 2);
	stack.stack.count = 2;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	decoder_stack(fixture.decoder, 0, 0, 1);
	check_rows(&fixture, 1, 2, 0); /* both frames are unknown */
	tear_down(&fixture);
}

/* Whatever the program compiles, what is remembered is bounded, and the last records of a
 * generation are still understood in the next one. */
TEST(test_generations_of_stacks)
{
	struct stack_record stack = stack_record(1, 0x1000, 0x1000);
	struct code_record code = code_record(0x1000, "f");
	volatile uint32_t generation = 0;
	struct fixture fixture;
	uint32_t codes = 0;

	set_up(&fixture);
	decoder_share_generation(fixture.decoder, &generation, PYTHON_GENERATION_BYTES);
	take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	while (generation < 1 && codes++ < 1000000) {
		code.frame.code += 16;
		take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	}
	assert_int_equal(generation, 1);
	take(&fixture, RECORD_STACK, &stack, sizeof(stack));
	assert_int_equal(decoder_stack(fixture.decoder, 0, 0, 1), 2);
	check_rows(&fixture, 2, 2, 0); /* two lines of "f", known from before */
	for (code.frame.generation = 1; generation < 2 && codes++ < 2000000;) {
		code.frame.code += 16;
		take(&fixture, RECORD_FRAME, &code, CODE_BYTES);
	}
	assert_int_equal(generation, 2);
	stack.stack.id = 2;
	take(&fixture, RECORD_STACK, &stack, sizeof(stack)); /* of a generation that is gone */
	assert_int_equal(decoder_stack(fixture.decoder, 0, 0, 2), 0);
	check_rows(&fixture, 2, 2, 0);
	tear_down(&fixture);
}

TEST(test_every_kind_has_a_decoder)
{
	static const struct lane_slot fault = { .fault = { .op = OP_FAULT } };
	static const char zeros[1024];
	struct fixture fixture;

	set_up(&fixture);
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++) {
		assert_non_null(decoder_kind_name(kind));
		assert_non_null(decoder_kind_layer(kind));
		if (kind == RECORD_FAULT) { /* arrives only through CPU buffers */
			decoder_take_slots(fixture.decoder, 0, &fault, 1);
			check(&fixture, kind, 1, 0);
			continue;
		}
		take(&fixture, kind, zeros, sizeof(zeros));
		check(&fixture, kind, 1, 0);
		take(&fixture, kind, zeros, sizeof(struct event_header) - 1);
		check(&fixture, kind, 1, 0);
	}
	tear_down(&fixture);
}
