/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Final file sizes: checks the files that a process still has open for writing when it exits, or
 * when the recording ends. Files that it closes are checked by the close (call_file.h).
 */
#pragma once

#include "core/file.h"

#define SIZES_FDS_MAX 65536

struct sizes_walk {
	struct task_state *state;
	__u64 files; /* array of file pointers in the descriptor table */
};

static long sizes_step(__u32 fd, struct sizes_walk *walk)
{
	struct address file;
	struct inode *inode;

	file.at = (__u64)KREAD_POINTER(walk->files + fd * sizeof(void *));
	if (!file.at || !(KREAD(file, file.at, f_mode) & FMODE_WRITE))
		return 0;
	inode = KREAD(file, file.at, f_inode);
	if (inode && inode_is_regular(inode))
		file_intern(walk->state, &file, file_classes, true);
	return 0;
}
LOOP_STEP(sizes_step)

/* `table` is the address of the process's descriptor table. Global, so it is verified once. */
__noinline int sizes_check(struct task_state *state, struct address *table)
{
	struct sizes_walk walk = { .state = state };
	__u32 count;

	if (!state || !table || !table->at)
		return 0;
	walk.files = KNUMBER(fdtable, table->at, fd);
	count = KREAD(fdtable, table->at, max_fds);
	LOOP(count > SIZES_FDS_MAX ? SIZES_FDS_MAX : count, sizes_step, &walk);
	return 0;
}

/* Checks the open files of the task's process. */
static __always_inline void sizes_check_task(struct task_state *state, struct task_struct *task)
{
	struct files_struct *files = TASK_POINTER(task, files);
	struct address table = {};

	if (!files)
		return;
	table.at = KNUMBER(files_struct, files, fdt);
	sizes_check(state, &table);
}
