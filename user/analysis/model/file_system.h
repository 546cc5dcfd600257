/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of a type of file system by its name.
 */
#ifndef FAULTLINE_FILE_SYSTEM_H
#define FAULTLINE_FILE_SYSTEM_H

#include "trace/reader.h"

/* The pages of its files are all there is of them: nothing is ever written back. */
#define FILE_SYSTEM_IN_MEMORY (1u << 0)
/* It reads what it holds from block devices, byte by byte: not compressed, not by the net. */
#define FILE_SYSTEM_ON_BLOCKS (1u << 1)
/* Nobody but the kernel of its node is asked for the locks of its files. */
#define FILE_SYSTEM_LOCKS_HERE (1u << 2)

/* FILE_SYSTEM_* of the type with that name; 0 for one that is not in the table. */
unsigned int file_system_traits(struct trace_string type);

#endif
