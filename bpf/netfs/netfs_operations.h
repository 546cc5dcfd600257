/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests of file systems that use the kernel's module netfs, as operations of a trace.
 */
#pragma once

#define NETFS_OPERATIONS(OPERATION)                                                                \
	OPERATION(READ, "netfs_read")                                                              \
	OPERATION(WRITE, "netfs_write")

#define NETFS_OPERATION(id, name) SERVED_OPERATION(OP_NETFS + NETFS_##id, "netfs", name)

#define NETFS_ENUM(id, name) NETFS_##id,
enum { NETFS_OPERATIONS(NETFS_ENUM) NETFS_OPERATION_COUNT };
#undef NETFS_ENUM
