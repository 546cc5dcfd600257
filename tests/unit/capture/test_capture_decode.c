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
	assert_int_equal(decoder_taken(fixture->decoder, kind), taken);
	assert_int_equal(decoder_refused(fixture->decoder, kind), refused);
	if (decoder_kind(kind) != TRACE_KIND_COUNT)
		assert_int_equal(trace_writer_rows(fixture->writer, decoder_kind(kind)), taken);
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

TEST(test_every_kind_has_a_decoder)
{
	static const struct lane_slot fault = { .fault = { .op = OP_FAULT } };
	static const char zeros[512];
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
