/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens and closes the decoder, and says what it has taken. */
#include "capture/drain/decode.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/host/host.h"
#include "capture/names/cgroups.h"
#include "capture/names/lustre.h"
#include "capture/names/names.h"
#include "capture/drain/decode_state.h"
#include "capture/python/frames.h"
#include "capture/calls/file_choice.h"
#include "capture/drain/span_ends.h"
#include "trace/format/layers.h"

uint64_t decoder_taken(const struct decoder *decoder, enum record_kind kind)
{
	return decoder->taken[kind];
}

uint64_t decoder_refused(const struct decoder *decoder, enum record_kind kind)
{
	return decoder->refused[kind];
}

uint64_t decoder_unbegun(const struct decoder *decoder)
{
	return span_ends_unbegun(decoder->span_ends);
}

bool decoder_knows_unbegun(const struct decoder *decoder)
{
	return span_ends_known(decoder->span_ends);
}

uint64_t decoder_begun_before(const struct decoder *decoder)
{
	return span_ends_before(decoder->span_ends);
}

enum trace_kind decoder_kind(enum record_kind kind)
{
	return decode_kinds[kind].kind;
}

bool decoder_has_own_rows(enum record_kind kind)
{
	return decoder_kind(kind) != TRACE_KIND_COUNT && kind != RECORD_FRAME &&
	       kind != RECORD_STACK;
}

const char *decoder_kind_name(enum record_kind kind)
{
	if (kind == RECORD_CODE)
		return "code";
	return kind == RECORD_NONE ? "none" : trace_schemas[decode_kinds[kind].kind].kind;
}

void decoder_add_rows(const struct decoder *decoder, const struct trace_writer *writer,
		      enum record_kind kind, uint64_t *written, uint64_t *lost)
{
	enum trace_kind rows = decoder_kind(kind);
	uint64_t others = 0;

	if (rows == TRACE_KIND_COUNT || (rows == TRACE_REMOTE && kind != RECORD_FUSE))
		return;
	for (int other = kind + 1; other < RECORD_KIND_COUNT; other++)
		others += decoder_kind(other) == rows ? decoder_taken(decoder, other) : 0;
	*written = trace_writer_rows(writer, rows);
	*written -= others < *written ? others : *written;
	*lost += trace_writer_discarded(writer, rows);
}

const char *decoder_kind_layer(enum record_kind kind)
{
	if (kind == RECORD_CODE)
		return layer_names[LAYER_SPAN];
	if (decoder_kind(kind) == TRACE_REMOTE)
		return layer_names[LAYER_FUSE + (kind - RECORD_FUSE)];
	return kind == RECORD_NONE ? "none" : trace_schemas[decode_kinds[kind].kind].layer;
}

int decoder_open(struct decoder **out, struct trace_writer *writer, unsigned int rings,
		 unsigned int page_bytes)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	int err = -ENOMEM;

	if (!decoder)
		return -ENOMEM;
	decoder->span_ends = span_ends_make();
	decoder->frames = python_frames_make();
	if (decoder->span_ends && decoder->frames)
		err = cgroups_open(&decoder->cgroups, NULL);
	if (err) {
		decoder_close(decoder);
		return err;
	}
	decoder->writer = writer;
	decoder->rings = rings;
	decoder->page_bytes = page_bytes;
	decoder_fill_call_fields(decoder->call_fields, page_bytes);
	*out = decoder;
	return 0;
}

void decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return;
	span_ends_free(decoder->span_ends);
	native_samples_free(decoder->native);
	python_frames_free(decoder->frames);
	free(decoder->unfinished);
	for (size_t i = 0; i < decoder->striped_count; i++)
		free(decoder->striped[i]);
	free(decoder->striped);
	cgroups_close(decoder->cgroups);
	free(decoder);
}

#define STRIPES_MAX_NS 1000000000ull

size_t decoder_add_stripes(struct decoder *decoder)
{
	uint64_t end_ns = host_now_ns() + STRIPES_MAX_NS;
	char path[NAMES_PATH_BYTES + 1];
	size_t added = 0;

	for (size_t i = 0; i < decoder->striped_count && host_now_ns() < end_ns; i++) {
		const struct event_file *event = decoder->striped[i];

		path[names_path(event, path)] = '\0';
		if (!lustre_read(path, event->dev, event->ino, &decoder->stripes))
			continue;
		decoder_take(decoder, 0, event, sizeof(*event) + event->names_bytes);
		added++;
	}
	decoder->stripes = (struct lustre_stripes) { 0 };
	return added;
}

void decoder_write_to(struct decoder *decoder, struct trace_writer *writer)
{
	decoder->writer = writer;
	python_frames_begin_part(decoder->frames);
}

void decoder_emit_code(struct decoder *decoder, decoder_code_fn emit, void *context)
{
	decoder->emit_code = emit;
	decoder->emit_context = context;
}

void decoder_share_generation(struct decoder *decoder, volatile uint32_t *generation_out,
			      size_t bytes)
{
	python_frames_share_generation(decoder->frames, generation_out, bytes);
}

struct stack_ids decoder_last_stacks(const struct decoder *decoder)
{
	struct stack_ids last;

	python_frames_last(decoder->frames, &last.frame, &last.stack);
	return last;
}

void decoder_continue_stacks(struct decoder *decoder, struct stack_ids last)
{
	python_frames_continue(decoder->frames, last.frame, last.stack);
	decoder->exits_have_rows = true;
}

int decoder_unwind(struct decoder *decoder, struct unwinder *unwinder)
{
	decoder->unwinder = unwinder;
	decoder->native = native_samples_make(unwinder, decoder->frames);
	return decoder->native ? 0 : -ENOMEM;
}

struct native_counts decoder_native_counts(const struct decoder *decoder)
{
	return native_samples_counts(decoder->native);
}

void decoder_choose_files(struct decoder *decoder, struct file_choice *choice)
{
	decoder->choice = choice;
}

uint64_t decoder_start_ns(const struct decoder *decoder)
{
	return decoder->start_ns;
}
