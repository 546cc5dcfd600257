/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decodes records to rows of the trace, by a table with one row per kind of record. */
#pragma once

#include <stdbool.h>

#include "bpf/records/event.h"
#include "capture/drain/native_samples.h"
#include "trace/write/writer.h"

struct decoder;

/* `rings` is the number of rings; their records may interleave. Returns 0 or a negative errno. */
int decoder_open(struct decoder **decoder, struct trace_writer *writer, unsigned int rings,
		 unsigned int page_bytes);
void decoder_close(struct decoder *decoder); /* NULL is fine */
/* Continues with another trace, which gets its own rows of stacks. */
void decoder_write_to(struct decoder *decoder, struct trace_writer *writer);

/* Code that a process has mapped from a file, which it may run for the first time. */
struct code_mapping {
	uint64_t time_ns, address, bytes; /* address 0: its program, after an exec */
	struct code_file python;	  /* ino 0: not an interpreter, or one that is known */
	uint32_t pid;
	uint32_t present; /* the process already ran when the recording attached */
};

/* Returns what a record of an exec or a mapping of code says. */
static inline struct code_mapping code_mapping_of(const struct event_header *record)
{
	struct code_mapping mapping = { .time_ns = record->time_ns, .pid = record->pid };

	if (record->kind == RECORD_CODE) {
		const struct event_code *code = (const struct event_code *)record;

		mapping.address = code->address;
		mapping.bytes = code->bytes;
		mapping.python = code->file;
	}
	return mapping;
}

typedef void (*decoder_code_fn)(void *context, const struct code_mapping *mapping);
void decoder_emit_code(struct decoder *decoder, decoder_code_fn emit, void *context);

/* Sets where the kernel side reads which code objects and stacks are remembered, and the memory for
 * them: see python/frames.h. */
void decoder_share_generation(struct decoder *decoder, volatile uint32_t *generation_out,
			      size_t bytes);
/* Returns a stack's id in rows, which are appended if they are new, from its id in records; 0: it
 * is unknown. */
uint32_t decoder_stack(struct decoder *decoder, unsigned int ring, uint64_t time_ns, uint32_t id);

struct stack_ids {
	uint32_t frame, stack; /* in rows */
};

/* Returns the highest ids so far. */
struct stack_ids decoder_last_stacks(const struct decoder *decoder);
/* Gives new rows ids above these. Records of exits have ids of rows then. */
void decoder_continue_stacks(struct decoder *decoder, struct stack_ids last);

/* Has the native stacks of samples unwound. The caller owns the unwinder. Returns 0 or -ENOMEM. */
struct unwinder;
int decoder_unwind(struct decoder *decoder, struct unwinder *unwinder);
/* Returns how many were; all zeros without an unwinder. */
struct native_counts decoder_native_counts(const struct decoder *decoder);

/* Samples in Python code so far, without native frames, by what is known of their stacks. */
struct python_counts {
	uint64_t whole; /* up to the outermost frame */
	uint64_t cut;	/* outer frames are missing */
	uint64_t failed;
};
struct python_counts decoder_python_counts(const struct decoder *decoder);

/* Leaves out records of files not chosen; they still count as taken. The caller owns the choice. */
struct file_choice;
void decoder_choose_files(struct decoder *decoder, struct file_choice *choice);

/* Takes consecutive slots of a CPU buffer. A lane_slots_fn; the context is the decoder. */
void decoder_take_slots(void *decoder, unsigned int lane, const struct lane_slot *slots,
			size_t count);

/* Reads the stacks of operations and waits that had not ended. Call after the last record, before
 * decoder_settle. */
struct python_live;
void decoder_read_unfinished(struct decoder *decoder, struct python_live *live);

/* Writes rows that wait for names being looked up. Call after each drain, and once at the end with
 * `wait`, which waits for all lookups. */
void decoder_settle(struct decoder *decoder, bool wait);

/* Whether a record is of a known kind and its lengths fit its size. */
bool decoder_is_whole(const void *record, size_t size);

/* Takes one record from a ring. A ring_record_fn; the context is the decoder. Refuses records whose
 * lengths exceed their size. */
void decoder_take(void *decoder, unsigned int ring, const void *record, size_t size);
uint64_t decoder_taken(const struct decoder *decoder, enum record_kind kind);
uint64_t decoder_refused(const struct decoder *decoder, enum record_kind kind);

/* Reads the stripes of files on Lustre, for about a second at most, and takes their records once
 * more with these. Returns how many: the kernel side has not counted them. For the end, because the
 * file system may keep the caller waiting. */
size_t decoder_add_stripes(struct decoder *decoder);

/* Returns the time of the earliest exec; 0: none yet. */
uint64_t decoder_start_ns(const struct decoder *decoder);

/* Returns the number of span ends without a begin, once all records have come; see span_ends.h. */
uint64_t decoder_unbegun(const struct decoder *decoder);
/* Whether that number is known. Call after decoder_unbegun. */
bool decoder_knows_unbegun(const struct decoder *decoder);
/* ... and of those not counted, because their processes ran before the recording. Call after
 * decoder_unbegun. */
uint64_t decoder_begun_before(const struct decoder *decoder);

/* Returns the kind of row that a kind of record becomes; TRACE_KIND_COUNT: no row of its own. */
enum trace_kind decoder_kind(enum record_kind kind);
/* For the rows of a kind of records, sets `written` and adds those that the writer has discarded to
 * `lost`. Records of the server layers share one kind of rows: discarded ones count as those of the
 * first layer. */
void decoder_add_rows(const struct decoder *decoder, const struct trace_writer *writer,
		      enum record_kind kind, uint64_t *written, uint64_t *lost);
/* Whether each record of the kind becomes one row. Those that describe stacks become the rows that
 * are new. */
bool decoder_has_own_rows(enum record_kind kind);
/* Returns the name of a kind of record, for reports of losses. */
const char *decoder_kind_name(enum record_kind kind);
/* Returns the layer of a kind of record. */
const char *decoder_kind_layer(enum record_kind kind);
