/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments of VFS and file system functions other than files.
 */
#pragma once

#include "fs.h"

struct iovec;
struct pipe_inode_info;

struct iov_iter {
	unsigned long count;
} CORE_STRUCT;
