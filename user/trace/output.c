/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames, index and tail of a trace file. Knows nothing of threads and of how blocks are filled.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "column.h"

/* By measurement: higher levels take a tenth to a quarter more time for a fiftieth less size, and a
 * hash table that stays in the first-level cache is the other way around. */
#define DEFAULT_LEVEL 1
#define HASH_LOG 12

static int configure(ZSTD_CCtx *context, int level)
{
	const struct {
		ZSTD_cParameter name;
		int value;
	} parameters[] = {
		{ ZSTD_c_checksumFlag, 1 },
		{ ZSTD_c_compressionLevel, level ? level : DEFAULT_LEVEL },
		{ ZSTD_c_hashLog, level ? 0 : HASH_LOG }, /* 0: as the level has it */
	};

	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		if (ZSTD_isError(ZSTD_CCtx_setParameter(context, parameters[i].name,
							parameters[i].value)))
			return -EINVAL;
	return 0;
}

int output_open(struct output *output, int fd, int level)
{
	memset(output, 0, sizeof(*output));
	output->fd = fd;
	output->context = ZSTD_createCCtx();
	output->entries = calloc(FORMAT_INDEX_ROWS, sizeof(*output->entries));
	if (!output->context || !output->entries)
		return output->error = -ENOMEM;
	return output->error = configure(output->context, level);
}

void output_free(struct output *output)
{
	ZSTD_freeCCtx(output->context);
	free(output->frame);
	free(output->entries);
	pack_free(&output->index);
	memset(output, 0, sizeof(*output));
}

/* All or nothing: what a failed write left behind is cut off again. */
static int append(struct output *output, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	size_t done = 0;

	while (done < length) {
		ssize_t got =
			pwrite(output->fd, bytes + done, length - done, output->offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			output->error = got < 0 ? -errno : -EIO;
			if (ftruncate(output->fd, output->offset))
				return output->error; /* readers cope with half a frame */
			return output->error;
		}
		done += got;
	}
	output->offset += length;
	return 0;
}

static int grow_frame(struct output *output, size_t content)
{
	size_t bound = ZSTD_compressBound(content);
	uint8_t *frame;

	if (bound <= output->frame_capacity)
		return 0;
	frame = realloc(output->frame, bound);
	if (!frame)
		return -ENOMEM;
	output->frame = frame;
	output->frame_capacity = bound;
	return 0;
}

int output_object(struct output *output, const struct pack *object)
{
	size_t length;

	if (output->error)
		return output->error;
	if (object->error || grow_frame(output, object->length))
		return output->error = -ENOMEM;
	length = ZSTD_compress2(output->context, output->frame, output->frame_capacity,
				object->bytes, object->length);
	if (ZSTD_isError(length))
		return output->error = -EIO;
	return append(output, output->frame, length);
}

static void pack_kinds(struct pack *pack)
{
	pack_cstring(pack, "kinds");
	pack_array(pack, FORMAT_KINDS);
	for (size_t kind = 0; kind < TRACE_KIND_COUNT; kind++)
		pack_cstring(pack, trace_schemas[kind].kind);
	pack_cstring(pack, FORMAT_STRING);
	pack_cstring(pack, FORMAT_ARGS);
}

/* An entry is an array of values, like a row. */
static void pack_entries(struct pack *pack, const struct format_entry *entries, size_t count)
{
	for (size_t c = 0; c < ENTRY_COLUMNS; c++)
		column_pack_values(pack, format_entry_columns[c].name,
				   (const uint64_t *)entries + c, ENTRY_COLUMNS, count);
}

static int write_index(struct output *output)
{
	struct pack *pack = &output->index;
	uint64_t offset = output->offset;
	int err;

	pack_clear(pack);
	pack_map(pack, 4 + ENTRY_COLUMNS);
	pack_cstring(pack, "block");
	pack_cstring(pack, FORMAT_INDEX);
	pack_cstring(pack, "n");
	pack_uint(pack, output->entry_count);
	pack_cstring(pack, "previous");
	pack_uint(pack, output->last_index);
	pack_kinds(pack);
	pack_entries(pack, output->entries, output->entry_count);
	err = output_object(output, pack);
	if (err)
		return err;
	output->last_index = offset;
	output->entry_count = 0;
	return 0;
}

int output_block(struct output *output, const struct pack *block, struct format_entry entry)
{
	int err = 0;

	if (output->entry_count == FORMAT_INDEX_ROWS)
		err = write_index(output);
	entry.offset = output->offset;
	if (!err)
		err = output_object(output, block);
	if (!err)
		output->entries[output->entry_count++] = entry;
	return err;
}

int output_end(struct output *output, const struct pack *totals)
{
	struct format_tail tail = {
		.skippable = FORMAT_TAIL_SKIPPABLE,
		.bytes = FORMAT_TAIL_BYTES,
		.magic = FORMAT_TAIL_MAGIC,
	};
	int err = write_index(output);

	if (err)
		return err;
	tail.index = output->last_index;
	tail.totals = output->offset;
	err = output_object(output, totals);
	if (err)
		return err;
	tail.size = output->offset + sizeof(tail);
	return append(output, &tail, sizeof(tail));
}
