/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Packs msgpack into a growing buffer.
 *
 * Errors are sticky: after a failed allocation nothing more is added and `error` is -ENOMEM, so
 * that one check is enough, when the object is complete.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
	uint8_t *bytes;
	size_t length, capacity;
	int error;
};

void pack_free(struct pack *pack);
/* Drops the contents and any error, keeps the memory. */
void pack_clear(struct pack *pack);
/* Makes room for so many more bytes, so that pointers into the buffer stay valid while they are
 * added. */
int pack_reserve(struct pack *pack, size_t bytes);

void pack_map(struct pack *pack, size_t pairs);
void pack_array(struct pack *pack, size_t items);
void pack_uint(struct pack *pack, uint64_t value);
void pack_int(struct pack *pack, int64_t value);
/* A str if it is valid UTF-8, else a bin: strict readers reject other strs. */
void pack_text(struct pack *pack, const void *bytes, size_t length);
/* NUL-terminated; NULL packs nil. */
void pack_cstring(struct pack *pack, const char *text);
void pack_bool(struct pack *pack, bool value);
/* A short bin. */
void pack_bin(struct pack *pack, const char *text);
/* The head of a bin; the caller adds its bytes. */
void pack_bin_head(struct pack *pack, size_t length);
/* Bytes that are already msgpack, or that follow a head. */
void pack_raw(struct pack *pack, const void *bytes, size_t length);
