/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Internals of a decoder, shared by the decode*.c files only. Users include decode.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/drain/decode.h"
#include "capture/names/lustre.h"
#include "capture/python/live.h"
#include "trace/write/writer.h"

struct cgroups;
struct file_choice;
struct native_samples;
struct python_frames;
struct span_ends;
struct unwinder;

/* Execs whose cgroup is being looked up. */
#define WAITING_MAX 256

struct waiting_exec {
	uint64_t row[EXEC_COLUMNS];
	uint64_t cgroup_id;
	unsigned int ring;
};

/* Samples whose stack has not come yet. */
struct waiting_sample {
	uint64_t row[SAMPLE_COLUMNS];
	uint32_t stack; /* as in records */
	unsigned int ring;
};

/* A sample of what had not ended, and the thread whose stack is read for it. */
struct unfinished_sample {
	struct waiting_sample sample;
	struct live_thread thread;
};

struct decoder {
	struct trace_writer *writer;
	struct cgroups *cgroups;
	struct waiting_exec waiting[WAITING_MAX];
	size_t waiting_count;
	struct waiting_sample waiting_samples[WAITING_MAX];
	size_t waiting_samples_count;
	struct unfinished_sample *unfinished;
	size_t unfinished_count, unfinished_room;
	unsigned int page_bytes, rings;
	struct trace_field call_fields[SYSCALL_COLUMNS];
	uint64_t start_ns;
	uint64_t taken[RECORD_KIND_COUNT], refused[RECORD_KIND_COUNT];
	decoder_code_fn emit_code;
	void *emit_context;
	struct span_ends *span_ends;
	struct python_frames *frames;
	struct unwinder *unwinder;     /* NULL: stacks are those of Python only */
	struct native_samples *native; /* the same */
	struct python_counts python_counts;
	bool exits_have_rows;	     /* see decoder_continue_stacks */
	struct file_choice *choice;  /* NULL: all files are kept */
	struct event_file **striped; /* records of files on Lustre: see decoder_add_stripes */
	size_t striped_count, striped_room;
	struct lustre_stripes stripes; /* of the record being taken; 0: unknown */
};

/* How to take a kind of record. */
struct decode_kind {
	enum trace_kind kind; /* TRACE_KIND_COUNT: no row of its own */
	size_t size;	      /* of its fields */
	void (*take)(struct decoder *decoder, unsigned int ring, const void *record);
	size_t (*text_bytes)(const void *record); /* bytes after the fields; NULL: none */
};
extern const struct decode_kind decode_kinds[RECORD_KIND_COUNT];

/* --- decode_samples.c --- */

/* Appends the row of a sample whose stack is filled in, if it is known. */
void decoder_append_sample(struct decoder *decoder, const struct waiting_sample *sample);

/* Writes a sample, now or once its stack has come. */
void decoder_write_sample(struct decoder *decoder, struct waiting_sample *sample);
/* Keeps a sample of what has not ended until decoder_read_unfinished, or writes it without a stack
 * if there is no room. */
void decoder_keep_unfinished(struct decoder *decoder, const struct event_sample *event,
			     struct waiting_sample *sample);
/* Writes samples whose stacks have come; with `wait`, all. */
void decoder_settle_samples(struct decoder *decoder, bool wait);

/* --- decode_slots.c --- */

/* Fills in where a slot holds each column of a system call: SYSCALL_COLUMNS fields. */
void decoder_fill_call_fields(struct trace_field *fields, unsigned int page_bytes);
