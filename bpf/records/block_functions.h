/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bio completion functions, which tell direct I/O from other bios, and which struct embeds the bio;
 * and the function by which an NVMe disk with several paths takes bios.
 */
#pragma once

#include "bpf/records/event_base.h"

#define BLOCK_FUNCTIONS(ROW)                                                                       \
	ROW(direct_end_io, "iomap_dio_bio_end_io")                                                 \
	ROW(direct_simple_end_io, "iomap_dio_simple_end_io")                                       \
	ROW(device_end_io, "blkdev_bio_end_io")                                                    \
	ROW(device_async_end_io, "blkdev_bio_end_io_async")                                        \
	ROW(device_simple_end_io, "blkdev_bio_end_io_simple")                                      \
	ROW(wait_end_io, "submit_bio_wait_endio")                                                  \
	ROW(await_end_io, "bio_wait_end_io")                                                       \
	ROW(btrfs_end_io, "btrfs_simple_end_io")                                                   \
	ROW(btrfs_mirrored_end_io, "btrfs_orig_write_end_io")                                      \
	ROW(paths_submit, "nvme_ns_head_submit_bio")

/* Their addresses; 0: the kernel has no such function. */
#define BLOCK_FUNCTION_FIELD(field, name) __u64 field;
struct block_functions {
	BLOCK_FUNCTIONS(BLOCK_FUNCTION_FIELD)
};
