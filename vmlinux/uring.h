/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * io_uring requests, the commands in them, and the io workers that execute them. Since 6.0 a
 * command is at the start of its request.
 */
#pragma once

#include "fs.h"
#include "types.h"

struct io_cqe {
	__u64 user_data;
	int fd; /* before the file is known */
} CORE_STRUCT;

struct io_wq_work {
	int cancel_seq;
} CORE_STRUCT;

struct io_ring_ctx;

struct io_kiocb {
	struct file *file;
	__u8 opcode;
	__u64 flags; /* 32 bits before 6.9 */
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
	struct io_wq_work work;
	struct io_kiocb *link; /* the next one in its chain */
} CORE_STRUCT;

struct io_completion {
	__u32 cflags;
} CORE_STRUCT;

/* Before 5.19. Up to 5.16 a request has its file when it is submitted, and no `fd`. */
struct io_kiocb___old {
	__u64 user_data;
	int fd;
	struct io_completion compl ; /* up to 5.15: overwrites the command */
} CORE_STRUCT;

/* Bits of `flags`; those set by a submission have the same values. */
#define REQ_FIXED_FILE (1u << 0)
#define REQ_LINK (1u << 2)
#define REQ_HARDLINK (1u << 3)
#define REQ_CQE_SKIP (1u << 6)

#define IORING_CQE_F_MORE (1u << 1)
#define IORING_FILE_INDEX_ALLOC (~0u)
#define SPLICE_F_FD_IN_FIXED (1u << 31)

/* The thread that polls rings, and its creator. */
struct io_sq_data {
	int task_pid;
	int task_tgid;
} CORE_STRUCT;

/* Registered files: nodes since 6.13, addresses before; the low bits are flags. */
struct io_rsrc_node {
	unsigned long file_ptr;
} CORE_STRUCT;

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
} CORE_STRUCT;

struct io_file_table {
	struct io_rsrc_data data;
} CORE_STRUCT;

struct io_ring_ctx {
	struct io_sq_data *sq_data;
	struct io_file_table file_table;
} CORE_STRUCT;

struct io_fixed_file {
	unsigned long file_ptr;
} CORE_STRUCT;

struct io_file_table___addresses {
	struct io_fixed_file *files;
} CORE_STRUCT;

struct io_ring_ctx___addresses {
	struct io_file_table___addresses file_table;
	unsigned int nr_user_files;
} CORE_STRUCT;

#define SLOT_FLAGS 7ull

struct io_uring_cqe {
	__u64 user_data;
	__s32 res;
	__u32 flags;
} CORE_STRUCT;

/* --- commands --- */

struct io_rw {
	struct kiocb kiocb;
	__u64 addr;
	__u32 len;
} CORE_STRUCT;

struct io_sync {
	long long len;
	long long off;
} CORE_STRUCT;

struct io_fadvise {
	__u64 offset;
	__u64 len; /* 32 bits up to 6.9 */
	__u32 advice;
} CORE_STRUCT;

struct io_madvise {
	__u64 addr;
	__u64 len; /* 32 bits up to 6.9 */
	__u32 advice;
} CORE_STRUCT;

struct io_close {
	int fd;
	__u32 file_slot;
} CORE_STRUCT;

struct io_splice {
	long long off_in;
	__u64 len;
	int splice_fd_in;
	unsigned int flags;
} CORE_STRUCT;

struct filename {
	const char *name;
} CORE_STRUCT;

struct open_how {
	__u64 flags;
} CORE_STRUCT;

struct io_open {
	int dfd;
	__u32 file_slot;
	struct filename *filename;
	struct open_how how;
} CORE_STRUCT;

struct io_statx {
	int dfd;
	struct filename *filename;
} CORE_STRUCT;

struct io_unlink {
	int dfd;
	struct filename *filename;
} CORE_STRUCT;

struct io_mkdir {
	int dfd;
	struct filename *filename;
} CORE_STRUCT;

/* Also of requests for links. */
struct io_rename {
	int old_dfd;
	int new_dfd;
	struct filename *oldpath;
	struct filename *newpath;
} CORE_STRUCT;

/* Requests for symbolic links before 6.0. Their paths are at the same offsets as in io_rename. */
struct io_symlink {
	int new_dfd;
} CORE_STRUCT;

/* Since 5.19. */
struct io_xattr {
	struct filename *filename;
} CORE_STRUCT;

/* Since 7.0 a name is in a struct of its own around the same pointer. */
struct delayed_filename {
	struct filename *__incomplete_filename;
} CORE_STRUCT;

struct io_open___delayed {
	struct delayed_filename filename;
} CORE_STRUCT;

struct io_statx___delayed {
	struct delayed_filename filename;
} CORE_STRUCT;

struct io_unlink___delayed {
	struct delayed_filename filename;
} CORE_STRUCT;

struct io_mkdir___delayed {
	struct delayed_filename filename;
} CORE_STRUCT;

struct io_rename___delayed {
	struct delayed_filename oldpath;
	struct delayed_filename newpath;
} CORE_STRUCT;

struct io_xattr___delayed {
	struct delayed_filename filename;
} CORE_STRUCT;

/* --- io workers --- */

struct io_worker {
	struct io_wq_work *cur_work;
} CORE_STRUCT;

/* The name of worker_private before 5.17. */
struct task_struct___old {
	void *pf_io_worker;
} CORE_STRUCT;

#define PF_IO_WORKER 0x10u
