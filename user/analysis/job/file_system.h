/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Properties of file system types, by name. */
#pragma once

#include "trace/format/layers.h"
#include "trace/read/reader.h"

/* All its data is in the page cache: nothing is ever written back. */
#define FILE_SYSTEM_IN_MEMORY (1u << 0)
/* Reads its data from block devices byte for byte: not compressed, not over the network. */
#define FILE_SYSTEM_ON_BLOCKS (1u << 1)
/* Only the local kernel handles the locks of its files. */
#define FILE_SYSTEM_LOCKS_HERE (1u << 2)
/* Files are on other machines, and no layer records the requests to these. */
#define FILE_SYSTEM_REMOTE (1u << 3)
/* Reads may bypass the page cache, as with a cache of its own. */
#define FILE_SYSTEM_BYPASSES (1u << 4)
/* The layer that records requests to its servers. */
#define FILE_SYSTEM_SERVED(layer) (1u << 8 << (layer))
_Static_assert(LAYER_COUNT <= 24, "traits fit in 32 bits");

/* Returns FILE_SYSTEM_* of the type with that name; 0 if it is not in the table. */
unsigned int file_system_traits(struct trace_string type);
