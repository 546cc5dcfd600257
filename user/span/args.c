/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Span arguments from C: a msgpack map that grows by one key and value at a time. */
#include "faultline.h"
#include "pack.h"

static struct args_pack pack_of(struct faultline_args *args)
{
	return (struct args_pack) { .bytes = args->bytes,
				    .used = args->used,
				    .size = sizeof(args->bytes) };
}

static void pack_string(struct args_pack *pack, const char *text)
{
	pack_text(pack, text ? text : "", text ? strlen(text) : 0);
}

static struct args_pack begin_pair(struct faultline_args *args, const char *key)
{
	struct args_pack pack = pack_of(args);

	pack_string(&pack, key);
	return pack;
}

/* Accepts a pair and counts it in the map's header. */
static void end_pair(struct faultline_args *args, const struct args_pack *pack)
{
	struct args_pack head = pack_of(args);

	args->used = pack->used;
	args->_count++;
	head.used = 0;
	pack_map(&head, args->_count);
}

void faultline_args_init(struct faultline_args *args)
{
	struct args_pack pack;

	args->used = 0;
	args->_count = 0;
	pack = pack_of(args);
	pack_map(&pack, 0);
	args->used = pack.used;
}

#define PAIR(args, key, write)                                                                     \
	do {                                                                                       \
		struct args_pack pack = begin_pair(args, key);                                     \
		write;                                                                             \
		end_pair(args, &pack);                                                             \
	} while (0)

void faultline_args_int(struct faultline_args *args, const char *key, int64_t value)
{
	PAIR(args, key, pack_int(&pack, value));
}

void faultline_args_uint(struct faultline_args *args, const char *key, uint64_t value)
{
	PAIR(args, key, pack_uint(&pack, value));
}

void faultline_args_double(struct faultline_args *args, const char *key, double value)
{
	PAIR(args, key, pack_double(&pack, value));
}

void faultline_args_bool(struct faultline_args *args, const char *key, int value)
{
	PAIR(args, key, pack_bool(&pack, value != 0));
}

void faultline_args_text(struct faultline_args *args, const char *key, const char *value)
{
	PAIR(args, key, pack_string(&pack, value));
}
