/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The producer's side of a trace file: which block a row goes to, and when a block is queued for
 * the thread that writes.
 *
 * Rows gather in chunks, by kind and CPU buffer, until a block is full or a second old. A single
 * long duration or gap would double the width of its column for all rows of a block, in bytes and
 * even more in compression time: so longer rows have separate blocks, and a block of some size
 * without a gap ends where one begins. Blocks, strings and totals pass through one queue, so the
 * order in which they are queued is their order in the file. The total of chunks is bounded: when
 * none is left the producer waits for the thread, or, if there is nothing to wait for, queues its
 * largest block.
 */
#include "trace/write/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format/format.h"
#include "trace/read/meta.h"
#include "trace/write/records.h"
#include "trace/write/string_block.h"
#include "trace/write/strings.h"
#include "trace/write/worker.h"

#define LANES_MAX 64 /* more are folded: each holds a chunk for every kind */
#define LONG_ROW_NS 10000000u
#define TIGHT_NS UINT16_MAX /* durations and gaps up to this take two bytes */
#define TIGHT_BLOCK_ROWS 4096
#define BLOCK_AGE_NS 1000000000u
#define SMALL_BLOCK_ROWS 2048

/* Readers load all names at once, but look up arguments singly, decoding one block for each. */
enum text_sort { TEXT_NAME, TEXT_ARGS, TEXT_SORTS };

static const struct text_rule {
	const char *of;
	uint64_t kind;		     /* in the index */
	size_t bytes_max, count_max; /* of a block; one longer string may be a block by itself */
	int (*intern)(struct strings *strings, const void *bytes, size_t length, uint32_t *id,
		      bool *is_new);
} text_rules[TEXT_SORTS] = {
	[TEXT_NAME] = { NULL, FORMAT_KIND_STRING, 1u << 20, TRACE_BLOCK_ROWS_MAX, strings_intern },
	[TEXT_ARGS] = { FORMAT_ARGS, FORMAT_KIND_ARGS, 256u << 10, 4096, strings_intern_recent },
};

/* A block being filled. */
struct open_block {
	struct rows rows;
	uint64_t *at;  /* where the first value of the next row goes */
	size_t room;   /* rows that fit there */
	size_t stride; /* from one value of a row to the next */
	uint64_t since_ns;
	uint64_t last_ns; /* time of the last row */
	bool has_gap;
};

struct trace_writer {
	struct trace_writer_options options;
	struct worker worker;
	unsigned int lanes;
	struct open_block *blocks[TRACE_KIND_COUNT]; /* NULL, or block_count() of each */
	uint64_t appended[TRACE_KIND_COUNT];
	uint64_t refused[TRACE_KIND_COUNT];
	uint64_t now_ns, next_look_ns, next_flush_ns; /* of trace_writer_tick */
	size_t operation_count;
	struct strings strings;
	struct string_block texts[TEXT_SORTS]; /* not yet queued */
	struct pack header_copy;	       /* not yet queued */
	const struct redaction *redaction;     /* NULL: none */
};

/* One block per CPU buffer, one for its longer rows, and one for the long rows of all. */
static unsigned int block_count(const struct trace_writer *writer)
{
	return 2 * writer->lanes + 1;
}

/* --- queueing --- */

/* Queues the strings of one sort that are not queued yet. */
static int queue_texts(struct trace_writer *writer, enum text_sort sort)
{
	struct string_block *block = &writer->texts[sort];
	struct worker_job job = {
		.type = JOB_STRINGS,
		.entry = { .kind = text_rules[sort].kind, .rows = block->count },
	};

	if (!block->count)
		return 0;
	if (sort == TEXT_ARGS) {
		job.entry.start = block->ids[0]; /* ids count up */
		job.entry.end = block->ids[block->count - 1];
	}
	if (string_block_pack(block, text_rules[sort].of, &job.object)) {
		pack_free(&job.object);
		return -ENOMEM;
	}
	worker_queue(&writer->worker, &job);
	string_block_clear(block);
	return 0;
}

/* Strings are queued before any row that may refer to them. */
static int queue_strings(struct trace_writer *writer)
{
	return queue_texts(writer, TEXT_NAME) ?: queue_texts(writer, TEXT_ARGS);
}

/* Takes the rows of an open block and empties it. */
static struct rows take_rows(struct open_block *block)
{
	struct rows rows = block->rows;

	memset(block, 0, sizeof(*block));
	return rows;
}

static int queue_rows(struct trace_writer *writer, enum trace_kind kind, struct rows rows);

/* Name rows are queued before the rows that refer to them, so that a truncated trace has the names
 * it needs. */
static int queue_names(struct trace_writer *writer)
{
	int err = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT && !err; kind++)
		if (trace_schemas[kind].names && writer->blocks[kind])
			err = queue_rows(writer, kind, take_rows(&writer->blocks[kind][0]));
	return err;
}

static int queue_rows(struct trace_writer *writer, enum trace_kind kind, struct rows rows)
{
	struct worker_job job = { .type = JOB_ROWS, .kind = kind, .rows = rows };
	int err = 0;

	if (!rows.count)
		return 0;
	if (!trace_schemas[kind].names)
		err = queue_names(writer);
	if (!err)
		err = queue_strings(writer);
	if (err) {
		writer->refused[kind] += rows.count;
		worker_free_rows(&writer->worker, &rows);
		return err;
	}
	worker_queue(&writer->worker, &job);
	return 0;
}

/* Queues the block with the most rows; false if no block has any. */
static bool queue_largest(struct trace_writer *writer)
{
	struct open_block *largest = NULL;
	enum trace_kind largest_kind = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		for (unsigned int i = 0; writer->blocks[kind] && i < block_count(writer); i++) {
			struct open_block *block = &writer->blocks[kind][i];

			if (block->rows.count &&
			    (!largest || block->rows.count > largest->rows.count)) {
				largest = block;
				largest_kind = kind;
			}
		}
	}
	if (largest)
		queue_rows(writer, largest_kind, take_rows(largest));
	return largest;
}

/* --- the producer --- */

/* Gives a block room for more rows. If memory is used up, this queues the largest block, which may
 * be this one. */
static int grow_block(struct trace_writer *writer, enum trace_kind kind, struct open_block *block)
{
	struct rows_chunk *chunk;
	size_t left;
	int err;

	while ((err = worker_take_chunk(&writer->worker, &chunk)) == -EAGAIN)
		if (!queue_largest(writer))
			return -ENOMEM;
	if (err)
		return err;
	if (!block->rows.count)
		block->since_ns = writer->now_ns;
	left = TRACE_BLOCK_ROWS - block->rows.count;
	chunk->count = 0;
	rows_add_chunk(&block->rows, chunk);
	block->at = chunk->values;
	block->stride = block->room = rows_per_chunk(kind);
	if (block->room > left)
		block->room = left;
	return 0;
}

static struct open_block *find_block(struct trace_writer *writer, enum trace_kind kind,
				     unsigned int lane, const uint64_t *values)
{
	const struct trace_schema *schema = &trace_schemas[kind];

	if (!writer->blocks[kind]) {
		writer->blocks[kind] = calloc(block_count(writer), sizeof(struct open_block));
		if (!writer->blocks[kind])
			return NULL;
	}
	if (schema->duration < 0)
		return &writer->blocks[kind][0]; /* rare rows: one block for all */
	if (values[schema->duration] > LONG_ROW_NS)
		return &writer->blocks[kind][2 * writer->lanes];
	if (lane >= writer->lanes)
		lane %= writer->lanes;
	if (values[schema->duration] > TIGHT_NS)
		lane += writer->lanes;
	return &writer->blocks[kind][lane];
}

/* Records a gap before the next row, or ends the block to keep it out. */
static int meet_gap(struct trace_writer *writer, enum trace_kind kind, struct open_block *block)
{
	if (block->has_gap || block->rows.count < TIGHT_BLOCK_ROWS) {
		block->has_gap = block->rows.count > 0;
		return 0;
	}
	return queue_rows(writer, kind, take_rows(block));
}

/* The memory of rows was last read by the thread on another CPU: prefetching it early saves a
 * quarter of the cost of a row. */
static void fetch_ahead(const struct open_block *block, size_t columns)
{
	const uint64_t *next = block->at + 2 * LINE_VALUES;

	for (; columns--; next += block->stride)
		__builtin_prefetch(next, 1);
}

static void add_row(struct open_block *block, size_t columns, const uint64_t *values)
{
	size_t stride = block->stride;

	if (block->room % LINE_VALUES == 0)
		fetch_ahead(block, columns);
	for (uint64_t *at = block->at++; columns--; at += stride)
		*at = *values++;
	block->room--;
	block->rows.last->count++;
	block->rows.count++;
}

int trace_writer_append(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			const uint64_t *values)
{
	struct open_block *block = find_block(writer, kind, lane, values);
	uint64_t time = values[TRACE_COL_TIME];
	int err = worker_error(&writer->worker);

	if (!err && !block)
		err = -ENOMEM;
	if (!err && time - block->last_ns > TIGHT_NS)
		err = meet_gap(writer, kind, block);
	if (!err && !block->room)
		err = grow_block(writer, kind, block);
	writer->appended[kind]++;
	if (err) {
		writer->refused[kind]++;
		return err;
	}
	add_row(block, trace_schemas[kind].column_count, values);
	block->last_ns = time;
	if (block->rows.count == TRACE_BLOCK_ROWS)
		return queue_rows(writer, kind, take_rows(block));
	return 0;
}

/* --- many rows at once --- */

size_t trace_writer_append_run(struct trace_writer *writer, enum trace_kind kind, unsigned int lane,
			       const void *records, size_t stride, size_t count,
			       const struct trace_field *fields)
{
	const struct trace_schema *schema = &trace_schemas[kind];
	struct open_block *block;
	uint64_t *out;

	if (!writer->blocks[kind] || schema->duration < 0 || worker_error(&writer->worker))
		return 0;
	block = &writer->blocks[kind][lane % writer->lanes];
	if (!block->rows.count || (!block->room && grow_block(writer, kind, block)))
		return 0;
	count = records_tight(block->last_ns, TIGHT_NS, records, stride,
			      count < block->room ? count : block->room, &fields[TRACE_COL_TIME],
			      &fields[schema->duration]);
	if (!count)
		return 0;
	out = block->at;
	for (size_t c = 0; c < schema->column_count; c++, out += block->stride)
		records_copy(out, records, stride, count, &fields[c]);
	block->at += count;
	block->room -= count;
	block->rows.last->count += count;
	block->rows.count += count;
	block->last_ns = records_value((const char *)records + (count - 1) * stride,
				       &fields[TRACE_COL_TIME]);
	writer->appended[kind] += count;
	if (block->rows.count == TRACE_BLOCK_ROWS)
		queue_rows(writer, kind, take_rows(block));
	return count;
}

int trace_writer_copy(struct trace_writer *writer, const struct trace_block_info *info,
		      const void *frame, size_t bytes)
{
	struct worker_job job = { .type = JOB_FRAME,
				  .entry = { .kind = info->kind,
					     .rows = info->rows,
					     .start = info->start,
					     .end = info->end,
					     .pids = info->pids,
					     .files = info->files } };
	int err = worker_error(&writer->worker);

	writer->appended[info->kind] += info->rows;
	if (!err)
		err = queue_names(writer);
	pack_raw(&job.object, frame, bytes);
	if (!err && job.object.error)
		err = -ENOMEM;
	if (err) {
		writer->refused[info->kind] += info->rows;
		pack_free(&job.object);
		return err;
	}
	worker_queue(&writer->worker, &job);
	return 0;
}

/* Returns the id of a string, and records the string if it is new. */
static uint32_t take_text(struct trace_writer *writer, enum text_sort sort, const void *bytes,
			  size_t length)
{
	const struct text_rule *rule = &text_rules[sort];
	struct string_block *block = &writer->texts[sort];
	uint32_t id;
	bool is_new;

	if (!length || worker_error(&writer->worker))
		return 0;
	if (length > TRACE_STRING_BYTES_MAX)
		length = TRACE_STRING_BYTES_MAX;
	if ((block->texts.length + length > rule->bytes_max || block->count == rule->count_max) &&
	    queue_texts(writer, sort))
		return 0;
	/* Everything that a string may need is reserved before it gets an id: an id without a
	 * string would be remembered. */
	if (string_block_reserve(block, length) ||
	    rule->intern(&writer->strings, bytes, length, &id, &is_new))
		return 0;
	if (is_new)
		string_block_add(block, id, bytes, length);
	return id;
}

uint32_t trace_writer_string(struct trace_writer *writer, const void *bytes, size_t length)
{
	return take_text(writer, TEXT_NAME, bytes, length);
}

uint32_t trace_writer_args(struct trace_writer *writer, const void *bytes, size_t length)
{
	return take_text(writer, TEXT_ARGS, bytes, length);
}

/*
 * Queues old rows: large blocks individually, the small ones of all CPU buffers together, so that
 * an idle machine with many CPUs does not write a frame per CPU every second.
 */
static int queue_old(struct trace_writer *writer, enum trace_kind kind, uint64_t limit_ns)
{
	struct open_block *blocks = writer->blocks[kind];
	struct rows small = { 0 };
	int err = 0, last;

	for (unsigned int i = 0; i < block_count(writer); i++) {
		struct open_block *block = &blocks[i];
		bool is_small = i < 2 * writer->lanes && block->rows.count < SMALL_BLOCK_ROWS;
		struct rows rows;

		if (!block->rows.count || (!is_small && block->since_ns > limit_ns))
			continue;
		rows = take_rows(block);
		if (is_small && small.count + rows.count <= TRACE_BLOCK_ROWS) {
			rows_join(&small, &rows);
			continue;
		}
		last = queue_rows(writer, kind, rows);
		err = err ? err : last;
	}
	last = queue_rows(writer, kind, small);
	return err ? err : last;
}

/* Returns when the oldest block of a kind was begun; UINT64_MAX if there is none. */
static uint64_t oldest_block(const struct trace_writer *writer, enum trace_kind kind)
{
	const struct open_block *blocks = writer->blocks[kind];
	uint64_t oldest = UINT64_MAX;

	for (unsigned int i = 0; blocks && i < block_count(writer); i++)
		if (blocks[i].rows.count && blocks[i].since_ns < oldest)
			oldest = blocks[i].since_ns;
	return oldest;
}

/* One wrong byte in the header would cost the trace: a copy is written so far from the start that
 * one bad area of a disk does not hold both. */
static void queue_header_copy(struct trace_writer *writer)
{
	struct worker_job job = { .type = JOB_OBJECT, .object = writer->header_copy };

	if (!job.object.length || job.object.error)
		return;
	memset(&writer->header_copy, 0, sizeof(writer->header_copy));
	worker_queue(&writer->worker, &job);
}

/* Records the time up to which the trace is complete: if it is truncated, its last event may be
 * much older. */
static void queue_flush(struct trace_writer *writer)
{
	struct worker_job job = { .type = JOB_OBJECT };

	pack_map(&job.object, 3);
	pack_cstring(&job.object, "block");
	pack_cstring(&job.object, FORMAT_FLUSH);
	pack_cstring(&job.object, "n");
	pack_uint(&job.object, 0);
	pack_cstring(&job.object, "t0");
	pack_uint(&job.object, writer->now_ns);
	worker_queue(&writer->worker, &job);
	if (writer->next_flush_ns) /* not at the very start */
		queue_header_copy(writer);
	writer->next_flush_ns = writer->now_ns + BLOCK_AGE_NS;
}

/* Rows have no clock: a block counts as begun at the tick before its first row, at most a tick too
 * early. So nothing is due before the oldest block of the last check is a second old. */
int trace_writer_tick(struct trace_writer *writer, uint64_t now_ns)
{
	uint64_t oldest = now_ns;
	int err = worker_error(&writer->worker), last;

	err = err ? err : worker_full(&writer->worker);
	writer->now_ns = now_ns;
	if (now_ns >= writer->next_flush_ns)
		queue_flush(writer);
	if (now_ns < writer->next_look_ns)
		return err;
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		uint64_t since = oldest_block(writer, kind);

		if (since != UINT64_MAX && now_ns - since >= BLOCK_AGE_NS) {
			last = queue_old(writer, kind, now_ns - BLOCK_AGE_NS);
			err = err ? err : last;
			since = oldest_block(writer, kind);
		}
		oldest = since < oldest ? since : oldest;
	}
	last = queue_strings(writer);
	writer->next_look_ns = oldest + BLOCK_AGE_NS;
	return err ? err : last;
}

uint64_t trace_writer_discarded(const struct trace_writer *writer, enum trace_kind kind)
{
	return writer->refused[kind] +
	       __atomic_load_n(&writer->worker.discarded[kind], __ATOMIC_RELAXED);
}

uint64_t trace_writer_rows(const struct trace_writer *writer, enum trace_kind kind)
{
	return writer->appended[kind] - trace_writer_discarded(writer, kind);
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
	return __atomic_load_n(&writer->worker.bytes, __ATOMIC_RELAXED);
}

uint64_t trace_writer_end_ns(const struct trace_writer *writer)
{
	return __atomic_load_n(&writer->worker.end_ns, __ATOMIC_RELAXED);
}

bool trace_writer_is_full(int error)
{
	return output_is_full(error);
}

int trace_writer_flush(struct trace_writer *writer)
{
	struct worker_job job = { .type = JOB_SETTLE };
	int err = 0, last;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		for (unsigned int i = 0; writer->blocks[kind] && i < block_count(writer); i++) {
			last = queue_rows(writer, kind, take_rows(&writer->blocks[kind][i]));
			err = err ? err : last;
		}
	}
	if (!err)
		err = queue_strings(writer);
	worker_queue(&writer->worker, &job);
	last = worker_wait(&writer->worker);
	return last ? last : err;
}

int trace_writer_finish(struct trace_writer *writer, const struct trace_totals *totals)
{
	struct worker_job job = { .type = JOB_TOTALS };
	int err;

	if (totals->operation_count != writer->operation_count)
		return -EINVAL;
	err = trace_writer_flush(writer);
	if (err && !trace_writer_is_full(err))
		return err;
	queue_header_copy(writer);
	totals_pack(&job.object, totals);
	worker_queue(&writer->worker, &job);
	return worker_wait(&writer->worker);
}

/* --- open and close --- */

static void free_writer(struct trace_writer *writer)
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		free(writer->blocks[kind]);
	strings_free(&writer->strings);
	pack_free(&writer->header_copy);
	for (int sort = 0; sort < TEXT_SORTS; sort++)
		string_block_free(&writer->texts[sort]);
	free(writer);
}

const struct redaction *trace_writer_redaction(const struct trace_writer *writer)
{
	return writer->redaction;
}

int trace_writer_open(struct trace_writer **result, int fd, const struct trace_header *header,
		      const struct trace_writer_options *options)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));
	struct worker_job job = { .type = JOB_OBJECT };
	int err;

	*result = NULL;
	if (!writer)
		return -ENOMEM;
	strings_init(&writer->strings);
	if (options)
		writer->options = *options;
	writer->lanes = writer->options.lanes ? writer->options.lanes : 1;
	if (writer->lanes > LANES_MAX)
		writer->lanes = LANES_MAX;
	writer->operation_count = header->operation_count;
	writer->redaction = header->redaction;
	err = worker_start(&writer->worker, fd, &writer->options);
	if (err) {
		free_writer(writer);
		return err;
	}
	header_pack(&job.object, header);
	header_pack_copy(&writer->header_copy, header);
	worker_queue(&writer->worker, &job);
	err = worker_wait(&writer->worker);
	if (err)
		trace_writer_close(writer);
	else
		*result = writer;
	return err;
}

void trace_writer_close(struct trace_writer *writer)
{
	if (!writer)
		return;
	trace_writer_flush(writer);
	worker_stop(&writer->worker);
	free_writer(writer);
}
