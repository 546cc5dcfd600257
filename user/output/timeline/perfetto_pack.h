/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Collects packets of a Perfetto trace, compresses them on threads of its own, and writes them in
 * order as packets that contain others.
 */
#pragma once

#include "output/base/protobuf.h"
#include "output/base/sink.h"

#define PERFETTO_CHUNK_BYTES (256u << 10) /* are compressed at once */

struct perfetto_pack;

/* Returns 0 or -ENOMEM. Only the caller's thread writes to the sink. */
int perfetto_pack_open(struct perfetto_pack **pack, struct sink *out);
/* Sets *raw to the sink for packets, until the next call. Passes on the packets written before if
 * they fill a chunk. Returns 0, -ENOMEM, or the sink's error. */
int perfetto_pack_next(struct perfetto_pack *pack, struct sink **raw);
/* Writes the remaining packets. Returns 0 or an error as above. */
int perfetto_pack_finish(struct perfetto_pack *pack);
void perfetto_pack_close(struct perfetto_pack *pack); /* accepts NULL */
