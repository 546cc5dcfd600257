/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests to FUSE daemons, by opcode, as operations of a trace.
 */
#pragma once

/* OPERATION(opcode, name). FORGET and INTERRUPT are missing: they have no reply, and no event. */
#define FUSE_OPERATIONS(OPERATION)                                                                 \
	OPERATION(0, "fuse_other")                                                                 \
	OPERATION(1, "fuse_lookup")                                                                \
	OPERATION(3, "fuse_getattr")                                                               \
	OPERATION(4, "fuse_setattr")                                                               \
	OPERATION(5, "fuse_readlink")                                                              \
	OPERATION(6, "fuse_symlink")                                                               \
	OPERATION(8, "fuse_mknod")                                                                 \
	OPERATION(9, "fuse_mkdir")                                                                 \
	OPERATION(10, "fuse_unlink")                                                               \
	OPERATION(11, "fuse_rmdir")                                                                \
	OPERATION(12, "fuse_rename")                                                               \
	OPERATION(13, "fuse_link")                                                                 \
	OPERATION(14, "fuse_open")                                                                 \
	OPERATION(15, "fuse_read")                                                                 \
	OPERATION(16, "fuse_write")                                                                \
	OPERATION(17, "fuse_statfs")                                                               \
	OPERATION(18, "fuse_release")                                                              \
	OPERATION(20, "fuse_fsync")                                                                \
	OPERATION(21, "fuse_setxattr")                                                             \
	OPERATION(22, "fuse_getxattr")                                                             \
	OPERATION(23, "fuse_listxattr")                                                            \
	OPERATION(24, "fuse_removexattr")                                                          \
	OPERATION(25, "fuse_flush")                                                                \
	OPERATION(26, "fuse_init")                                                                 \
	OPERATION(27, "fuse_opendir")                                                              \
	OPERATION(28, "fuse_readdir")                                                              \
	OPERATION(29, "fuse_releasedir")                                                           \
	OPERATION(30, "fuse_fsyncdir")                                                             \
	OPERATION(31, "fuse_getlk")                                                                \
	OPERATION(32, "fuse_setlk")                                                                \
	OPERATION(33, "fuse_setlkw")                                                               \
	OPERATION(34, "fuse_access")                                                               \
	OPERATION(35, "fuse_create")                                                               \
	OPERATION(37, "fuse_bmap")                                                                 \
	OPERATION(38, "fuse_destroy")                                                              \
	OPERATION(39, "fuse_ioctl")                                                                \
	OPERATION(40, "fuse_poll")                                                                 \
	OPERATION(41, "fuse_notify_reply")                                                         \
	OPERATION(43, "fuse_fallocate")                                                            \
	OPERATION(44, "fuse_readdirplus")                                                          \
	OPERATION(45, "fuse_rename2")                                                              \
	OPERATION(46, "fuse_lseek")                                                                \
	OPERATION(47, "fuse_copy_file_range")                                                      \
	OPERATION(48, "fuse_setupmapping")                                                         \
	OPERATION(49, "fuse_removemapping")                                                        \
	OPERATION(50, "fuse_syncfs")                                                               \
	OPERATION(51, "fuse_tmpfile")                                                              \
	OPERATION(52, "fuse_statx")                                                                \
	OPERATION(53, "fuse_copy_file_range_64")

#define FUSE_OPERATION(opcode, name) SERVED_OPERATION(OP_FUSE + (opcode), "fuse", name)

/* Opcodes from here on are 0, others. */
#define FUSE_OPERATION_COUNT 54
