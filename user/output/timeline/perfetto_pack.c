/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compresses packets in chunks of some hundred KiB. */
#include "output/timeline/perfetto_pack.h"

#include <errno.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

#define CHUNKS 4
#define WORKERS 2
#define LEVEL 1 /* higher levels cost more than they save */

/* Field numbers of Trace and TracePacket. */
#define PACKET 1
#define COMPRESSED_PACKETS 50

enum chunk_state { CHUNK_EMPTY, CHUNK_FULL, CHUNK_TAKEN, CHUNK_DONE };

struct packed_chunk {
	enum chunk_state state;
	struct sink raw;
	uint8_t *packed;
	size_t room, length;
	bool failed;
};

struct perfetto_pack {
	struct sink *out;
	struct packed_chunk chunks[CHUNKS];
	size_t filling; /* the chunk being filled, modulo CHUNKS */
	pthread_t workers[WORKERS];
	size_t worker_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over;
};

static void compress_chunk(struct libdeflate_compressor *with, struct packed_chunk *chunk)
{
	size_t max = libdeflate_zlib_compress_bound(with, chunk->raw.used);
	uint8_t *grown;

	chunk->length = 0;
	if (max > chunk->room) {
		grown = realloc(chunk->packed, max);
		if (grown) {
			chunk->packed = grown;
			chunk->room = max;
		}
	}
	if (max <= chunk->room)
		chunk->length = libdeflate_zlib_compress(with, chunk->raw.buffer, chunk->raw.used,
							 chunk->packed, chunk->room);
	chunk->failed = !chunk->length;
}

static struct packed_chunk *find_full(struct perfetto_pack *pack)
{
	for (size_t i = 0; i < CHUNKS; i++)
		if (pack->chunks[i].state == CHUNK_FULL)
			return &pack->chunks[i];
	return NULL;
}

static void *work(void *state)
{
	struct perfetto_pack *pack = state;
	struct libdeflate_compressor *with = libdeflate_alloc_compressor(LEVEL);
	struct packed_chunk *chunk;

	pthread_mutex_lock(&pack->lock);
	for (;;) {
		chunk = find_full(pack);
		if (!chunk && pack->over)
			break;
		if (!chunk) {
			pthread_cond_wait(&pack->changed, &pack->lock);
			continue;
		}
		chunk->state = CHUNK_TAKEN;
		pthread_mutex_unlock(&pack->lock);
		chunk->failed = true;
		if (with)
			compress_chunk(with, chunk);
		pthread_mutex_lock(&pack->lock);
		chunk->state = CHUNK_DONE;
		pthread_cond_broadcast(&pack->changed);
	}
	pthread_mutex_unlock(&pack->lock);
	libdeflate_free_compressor(with);
	return NULL;
}

int perfetto_pack_open(struct perfetto_pack **out, struct sink *to)
{
	struct perfetto_pack *pack = calloc(1, sizeof(*pack));

	*out = pack;
	if (!pack)
		return -ENOMEM;
	pack->out = to;
	pthread_mutex_init(&pack->lock, NULL);
	pthread_cond_init(&pack->changed, NULL);
	for (size_t i = 0; i < CHUNKS; i++)
		sink_open_memory(&pack->chunks[i].raw);
	for (size_t i = 0; i < WORKERS; i++)
		if (!thread_start(&pack->workers[pack->worker_count], work, pack))
			pack->worker_count++;
	return pack->worker_count ? 0 : -ENOMEM;
}

/* Waits until the workers have compressed a chunk. Returns false if it is empty. */
static bool await_chunk(struct perfetto_pack *pack, struct packed_chunk *chunk)
{
	bool is_done;

	pthread_mutex_lock(&pack->lock);
	while (chunk->state != CHUNK_DONE && chunk->state != CHUNK_EMPTY)
		pthread_cond_wait(&pack->changed, &pack->lock);
	is_done = chunk->state == CHUNK_DONE;
	chunk->state = CHUNK_EMPTY; /* no worker takes it until it is full */
	pthread_mutex_unlock(&pack->lock);
	return is_done;
}

/* Waits until a chunk is compressed, and writes it. */
static int write_chunk(struct perfetto_pack *pack, struct packed_chunk *chunk)
{
	uint8_t head[32], *at;
	uint8_t inner[16], *end;

	if (!await_chunk(pack, chunk))
		return 0;
	if (chunk->failed)
		return -ENOMEM;
	end = protobuf_head(inner, COMPRESSED_PACKETS, chunk->length);
	at = protobuf_head(head, PACKET, end - inner + chunk->length);
	sink_bytes(pack->out, head, at - head);
	sink_bytes(pack->out, inner, end - inner);
	sink_bytes(pack->out, chunk->packed, chunk->length);
	chunk->raw.used = 0;
	return pack->out->error;
}

/* Passes the chunk to the workers, and frees the next one. */
static int next_chunk(struct perfetto_pack *pack)
{
	pthread_mutex_lock(&pack->lock);
	pack->chunks[pack->filling % CHUNKS].state = CHUNK_FULL;
	pthread_cond_broadcast(&pack->changed);
	pthread_mutex_unlock(&pack->lock);
	pack->filling++;
	return write_chunk(pack, &pack->chunks[pack->filling % CHUNKS]);
}

int perfetto_pack_next(struct perfetto_pack *pack, struct sink **raw)
{
	int status = 0;

	if (pack->chunks[pack->filling % CHUNKS].raw.used >= PERFETTO_CHUNK_BYTES)
		status = next_chunk(pack);
	*raw = &pack->chunks[pack->filling % CHUNKS].raw;
	return status;
}

int perfetto_pack_finish(struct perfetto_pack *pack)
{
	int status = 0;

	if (pack->chunks[pack->filling % CHUNKS].raw.used)
		status = next_chunk(pack);
	for (size_t i = 0; i < CHUNKS && !status; i++)
		status = write_chunk(pack, &pack->chunks[(pack->filling + i) % CHUNKS]);
	return status;
}

void perfetto_pack_close(struct perfetto_pack *pack)
{
	if (!pack)
		return;
	pthread_mutex_lock(&pack->lock);
	pack->over = true;
	pthread_cond_broadcast(&pack->changed);
	pthread_mutex_unlock(&pack->lock);
	for (size_t i = 0; i < pack->worker_count; i++)
		pthread_join(pack->workers[i], NULL);
	for (size_t i = 0; i < CHUNKS; i++) {
		sink_close(&pack->chunks[i].raw);
		free(pack->chunks[i].packed);
	}
	pthread_mutex_destroy(&pack->lock);
	pthread_cond_destroy(&pack->changed);
	free(pack);
}
