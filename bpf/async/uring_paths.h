/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The paths in io_uring requests, kept from submission to completion.
 */
#pragma once

#include "async/async.h"

/* The address of the struct filename in field `f` of a command. */
#define COMMAND_NAME(command, request, f)                                                          \
	(bpf_core_field_exists(struct command##___delayed, f.__incomplete_filename)                \
		 ? (__u64)KREAD(command##___delayed, request, f.__incomplete_filename)             \
		 : (__u64)KREAD(command, request, f))

/* Before 5.16, statx has the name where the program has it. */
static __always_inline bool uring_is_user(__u64 name)
{
	return (__s64)name > 0;
}

/* Appends a name at `at`; returns its length without the NUL. */
static __always_inline __u32 uring_read_name(struct async_names *names, __u32 at, __u64 name)
{
	void *to = names->text + (at & (EVENT_ASYNC_PATH_BYTES - 1));
	long bytes;

	if (!name || name >= (__u64)-4095)
		return 0;
	if (uring_is_user(name))
		bytes = bpf_probe_read_user_str(to, EVENT_ASYNC_PATH_BYTES, (void *)name);
	else
		bytes = bpf_probe_read_kernel_str(to, EVENT_ASYNC_PATH_BYTES,
						  KREAD(filename, name, name));
	return bytes > 0 ? bytes - 1 : 0;
}

/* Keeps the names in a request, which the kernel frees before the request completes. Returns false
 * if they are cut or not kept. */
__noinline int uring_keep_names(struct async_key *key, __u32 shape)
{
	struct async_names *names;
	__u64 name = 0, name2 = 0;
	struct async_key at;
	void *request;
	bool whole;

	if (!key)
		return 0;
	at = *key;
	request = (void *)at.address;
	names = scratch_get();
	if (!names)
		return 0;
	if (shape == ASYNC_OPEN)
		name = COMMAND_NAME(io_open, request, filename);
	else if (shape == ASYNC_STATX)
		name = COMMAND_NAME(io_statx, request, filename);
	else if (shape == ASYNC_UNLINK)
		name = COMMAND_NAME(io_unlink, request, filename);
	else if (shape == ASYNC_MKDIR)
		name = COMMAND_NAME(io_mkdir, request, filename);
	else if (shape == ASYNC_SYMLINK)
		name = COMMAND_NAME(io_rename, request, newpath);
	else if (shape == ASYNC_XATTR) {
		if (bpf_core_type_exists(struct io_xattr))
			name = COMMAND_NAME(io_xattr, request, filename);
	} else {
		name = COMMAND_NAME(io_rename, request, oldpath);
		name2 = COMMAND_NAME(io_rename, request, newpath);
	}
	names->dir = 0;
	names->dir2 = 0;
	names->bytes = uring_read_name(names, 0, name);
	names->bytes2 = uring_read_name(names, names->bytes, name2);
	whole = (names->bytes || !uring_is_user(name)) &&
		names->bytes < EVENT_ASYNC_PATH_BYTES - 1 &&
		names->bytes2 < EVENT_ASYNC_PATH_BYTES - 1 &&
		!bpf_map_update_elem(&async_names, &at, names, BPF_ANY);
	scratch_put(names);
	return whole;
}

/* Keeps the directories that these names are relative to. */
__noinline int uring_keep_directories(struct async_key *key, struct task_state *state, __u32 shape)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct async_names *names;
	struct call_args args = {};
	struct async_key at;
	void *request;

	if (!key || !state)
		return 0;
	at = *key;
	request = (void *)at.address;
	names = bpf_map_lookup_elem(&async_names, &at);
	if (!names)
		return 0;
	if (shape == ASYNC_OPEN)
		args.at[1] = KREAD(io_open, request, dfd);
	else if (shape == ASYNC_STATX)
		args.at[1] = KREAD(io_statx, request, dfd);
	else if (shape == ASYNC_UNLINK)
		args.at[1] = KREAD(io_unlink, request, dfd);
	else if (shape == ASYNC_MKDIR)
		args.at[1] = KREAD(io_mkdir, request, dfd);
	else if (shape == ASYNC_SYMLINK)
		args.at[1] = bpf_core_type_exists(struct io_symlink)
				     ? KREAD(io_symlink, request, new_dfd)
				     : KREAD(io_rename, request, new_dfd);
	else if (shape == ASYNC_XATTR)
		args.at[1] = AT_FDCWD;
	else {
		args.at[1] = KREAD(io_rename, request, old_dfd);
		args.at[2] = KREAD(io_rename, request, new_dfd);
		names->dir2 = call_dir_id(state, task, &args, 2,
					  names->text[names->bytes & (EVENT_ASYNC_PATH_BYTES - 1)]);
	}
	names->dir = call_dir_id(state, task, &args, 1, names->text[0]);
	return 0;
}
