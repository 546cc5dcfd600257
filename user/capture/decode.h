/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From records to rows of the trace: one row per kind of record says how.
 */
#ifndef FAULTLINE_DECODE_H
#define FAULTLINE_DECODE_H

#include <stdbool.h>

#include "bpf/event.h"
#include "trace/writer.h"

struct decoder;

/* `rings` is the number of rings, whose records may come interleaved. Returns 0 or -ENOMEM. */
int decoder_open(struct decoder **decoder, struct trace_writer *writer, unsigned int rings,
		 unsigned int page_bytes);
void decoder_close(struct decoder *decoder); /* NULL is fine */

/* Told when a process may run code from a file that it did not before: a mapping at an address, or
 * with address 0 an exec. */
typedef void (*decoder_code_fn)(void *context, uint32_t pid, uint64_t address, uint64_t bytes,
				uint64_t time_ns);
void decoder_tell_code(struct decoder *decoder, decoder_code_fn tell, void *context);

/* Leaves out records of files that are not chosen. They count as taken. The caller owns the choice.
 */
struct file_choice;
void decoder_choose_files(struct decoder *decoder, struct file_choice *choice);

/* Takes slots of a lane that follow each other; a lane_slots_fn whose context is the decoder. */
void decoder_take_slots(void *decoder, unsigned int lane, const struct lane_slot *slots,
			size_t count);

/* Writes what has waited for names that are looked up elsewhere. To be called after each drain;
 * with `wait`, at the end, it waits for them. */
void decoder_settle(struct decoder *decoder, bool wait);

/* Whether a record is of a known kind, and its lengths say no more than its size. */
bool decoder_is_whole(const void *record, size_t size);

/* Takes one record from a ring; a ring_record_fn whose context is the decoder. One whose lengths
 * say more than its size is refused. */
void decoder_take(void *decoder, unsigned int ring, const void *record, size_t size);
uint64_t decoder_taken(const struct decoder *decoder, enum record_kind kind);
uint64_t decoder_refused(const struct decoder *decoder, enum record_kind kind);

/* The time of the earliest exec, 0 before any has come. */
uint64_t decoder_start_ns(const struct decoder *decoder);

/* Ends of spans that never began, once all records have come; see span_ends.h. */
uint64_t decoder_unbegun(const struct decoder *decoder);
/* ... and that were begun by processes that ran before the recording. To be asked after it. */
uint64_t decoder_begun_before(const struct decoder *decoder);

/* The kind of rows that a kind of record becomes, TRACE_KIND_COUNT for none of its own. */
enum trace_kind decoder_kind(enum record_kind kind);
/* What a kind of record is called where losses are told. */
const char *decoder_kind_name(enum record_kind kind);
/* The layer that it belongs to. */
const char *decoder_kind_layer(enum record_kind kind);

#endif
