/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs and parses the header and the totals as msgpack. Private to user/trace. */
#pragma once

#include "collections/arena.h"
#include "trace/format/header.h"
#include "trace/format/mp.h"
#include "trace/format/pack.h"
#include "trace/read/reader.h"

void header_pack(struct pack *pack, const struct trace_header *header);
/* The same as a block, in case the header cannot be read. */
void header_pack_copy(struct pack *pack, const struct trace_header *header);
void totals_pack(struct pack *pack, const struct trace_totals *totals);

/*
 * Strings and lists go into the arena. -EINVAL if the object is invalid, -ENOTSUP for a newer
 * version, -ENOMEM.
 */
int header_parse(struct trace_header *header, struct mp object, struct arena *arena,
		 struct trace_error *error);
int totals_parse(struct trace_totals *totals, struct mp object, const struct trace_header *header,
		 struct arena *arena, struct trace_error *error);
