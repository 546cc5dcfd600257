/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests of 9p clients, by type, as operations of a trace.
 */
#pragma once

/* OPERATION(type, name). Requests have even types, replies the next odd ones. */
#define P9_OPERATIONS(OPERATION)                                                                   \
	OPERATION(0, "9p_other")                                                                   \
	OPERATION(8, "9p_statfs")                                                                  \
	OPERATION(12, "9p_lopen")                                                                  \
	OPERATION(14, "9p_lcreate")                                                                \
	OPERATION(16, "9p_symlink")                                                                \
	OPERATION(18, "9p_mknod")                                                                  \
	OPERATION(20, "9p_rename")                                                                 \
	OPERATION(22, "9p_readlink")                                                               \
	OPERATION(24, "9p_getattr")                                                                \
	OPERATION(26, "9p_setattr")                                                                \
	OPERATION(30, "9p_xattrwalk")                                                              \
	OPERATION(32, "9p_xattrcreate")                                                            \
	OPERATION(40, "9p_readdir")                                                                \
	OPERATION(50, "9p_fsync")                                                                  \
	OPERATION(52, "9p_lock")                                                                   \
	OPERATION(54, "9p_getlock")                                                                \
	OPERATION(70, "9p_link")                                                                   \
	OPERATION(72, "9p_mkdir")                                                                  \
	OPERATION(74, "9p_renameat")                                                               \
	OPERATION(76, "9p_unlinkat")                                                               \
	OPERATION(100, "9p_version")                                                               \
	OPERATION(102, "9p_auth")                                                                  \
	OPERATION(104, "9p_attach")                                                                \
	OPERATION(108, "9p_flush")                                                                 \
	OPERATION(110, "9p_walk")                                                                  \
	OPERATION(112, "9p_open")                                                                  \
	OPERATION(114, "9p_create")                                                                \
	OPERATION(116, "9p_read")                                                                  \
	OPERATION(118, "9p_write")                                                                 \
	OPERATION(120, "9p_clunk")                                                                 \
	OPERATION(122, "9p_remove")                                                                \
	OPERATION(124, "9p_stat")                                                                  \
	OPERATION(126, "9p_wstat")

#define P9_OPERATION(type, name) SERVED_OPERATION(OP_P9 + (type) / 2, "9p", name)

#define P9_TYPES 128
#define P9_OPERATION_COUNT (P9_TYPES / 2)
