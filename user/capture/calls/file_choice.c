/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Applies the globs of --include and --exclude to records and slots. */
#include "capture/calls/file_choice.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "collections/grow.h"
#include "trace/format/thread_states.h"

void file_choice_init(struct file_choice *choice, const struct file_globs *globs,
		      unsigned int page_bytes)
{
	memset(choice, 0, sizeof(*choice));
	choice->globs = *globs;
	choice->sums.page_bytes = page_bytes;
}

void file_choice_free(struct file_choice *choice)
{
	free(choice->files);
}

static bool is_any(const char *const *globs, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(globs[i], path, FNM_NOESCAPE))
			return true;
	return false;
}

static bool is_other_path(const struct file_choice *choice, const char *path)
{
	const struct file_globs *globs = &choice->globs;

	return is_any(globs->exclude, globs->exclude_count, path) ||
	       (globs->include_count && !is_any(globs->include, globs->include_count, path));
}

static void set(struct file_choice *choice, uint32_t id, uint8_t value)
{
	const uint32_t at = id % FILE_CHOICE_FILES, shift = at % 4 * 2;

	if (at / 4 < choice->room)
		choice->files[at / 4] = (choice->files[at / 4] & ~(3 << shift)) | value << shift;
}

/* Makes room for ids up to this one, in place of the oldest. */
static void advance(struct file_choice *choice, uint32_t id)
{
	const uint32_t ahead = (id - choice->latest) & FILE_CHOICE_ID_MASK;

	if (ahead > FILE_CHOICE_ID_MASK / 2)
		return; /* it is an older one */
	if (ahead >= FILE_CHOICE_FILES) {
		memset(choice->files, 0, choice->room);
		choice->latest = id;
	}
	while (choice->latest != id) {
		choice->latest = (choice->latest + 1) & FILE_CHOICE_ID_MASK;
		set(choice, choice->latest, FILE_CHOICE_UNKNOWN);
	}
}

void file_choice_name(struct file_choice *choice, uint32_t id, const char *path)
{
	if (!GROW(choice->files, choice->room, id % FILE_CHOICE_FILES / 4 + 1))
		return;
	advance(choice, id);
	if (((choice->latest - id) & FILE_CHOICE_ID_MASK) < FILE_CHOICE_FILES)
		set(choice, id, is_other_path(choice, path) ? FILE_CHOICE_LEFT : FILE_CHOICE_KEPT);
}

/* A call without a file may still name a path, of a file that is missing or was not opened. */
static bool is_other_call(const struct file_choice *choice, const struct event_syscall *call,
			  const char *text, size_t path_bytes)
{
	char path[EVENT_PATH_BYTES + 1];

	if (call->file || !path_bytes || path_bytes >= sizeof(path))
		return file_choice_leaves(choice, call->file);
	memcpy(path, text, path_bytes);
	path[path_bytes] = '\0';
	return is_other_path(choice, path);
}

static struct file_choice_left *left_of(struct file_choice *choice, uint32_t tid)
{
	return &choice->left[tid % FILE_CHOICE_THREADS];
}

/* A sample of a call on a path has no path: it comes right after its call, from the same CPU. */
static bool is_other_sample(struct file_choice *choice, const struct event_sample *sample)
{
	const struct file_choice_left *left = left_of(choice, sample->header.tid);

	return file_choice_leaves(choice, sample->file) ||
	       (sample->state == SAMPLE_IO && left->tid == sample->header.tid &&
		left->start_ns == sample->header.time_ns);
}

static bool is_other_record(struct file_choice *choice, const struct event_header *record)
{
	const struct event_syscall_path *path = (const void *)record;
	const struct event_async *async = (const void *)record;

	switch (record->kind) {
	case RECORD_SYSCALL:
		return file_choice_leaves(choice, ((const struct event_syscall *)record)->file);
	case RECORD_SYSCALL_PATH:
		return is_other_call(choice, &path->call, path->text, path->path_bytes);
	case RECORD_ASYNC:
		return is_other_call(choice, &async->call, async->text, async->path_bytes);
	case RECORD_VFS:
		return file_choice_leaves(choice, ((const struct event_vfs *)record)->file);
	case RECORD_PAGECACHE:
		return file_choice_leaves(choice, ((const struct event_pagecache *)record)->file);
	case RECORD_THROTTLE:
		return file_choice_leaves(choice, ((const struct event_throttle *)record)->file);
	case RECORD_SAMPLE:
		return is_other_sample(choice, (const void *)record);
	default:
		return false;
	}
}

/* Dirtied pages count as a separate operation. */
static void add_dirtied(struct file_choice *choice, uint64_t pages)
{
	struct trace_operation_total *total = &choice->sums.totals[OP_DIRTIED];

	total->count += pages != 0;
	total->bytes += pages * choice->sums.page_bytes;
}

bool file_choice_leaves_record(struct file_choice *choice, const struct event_header *record)
{
	if (!is_other_record(choice, record))
		return false;
	if (record->kind == RECORD_SYSCALL_PATH)
		*left_of(choice, record->tid) =
			(struct file_choice_left) { record->time_ns, record->tid };
	choice->records[record->kind]++;
	choice->operations += record->kind != RECORD_SAMPLE; /* of an operation counted elsewhere */
	op_sums_add_record(&choice->sums, record);
	if (record->kind == RECORD_SYSCALL || record->kind == RECORD_SYSCALL_PATH)
		add_dirtied(choice, ((const struct event_syscall *)record)->dirtied_pages);
	return true;
}

bool file_choice_leaves_slot(struct file_choice *choice, const struct lane_slot *slot)
{
	const bool fault = slot->call.op == OP_FAULT;

	if (!file_choice_leaves(choice, slot->call.file))
		return false;
	choice->records[fault ? RECORD_FAULT : RECORD_SYSCALL]++;
	choice->operations++;
	op_sums_add_slot(&choice->sums, slot);
	if (fault)
		add_dirtied(choice, slot->fault.dirtied_pages);
	return true;
}

bool file_choice_leaves_profile(struct file_choice *choice, const struct profile_slot *added)
{
	if (!file_choice_leaves(choice, added->key.file))
		return false;
	choice->operations += added->sums.count;
	op_sums_add_profile(&choice->sums, added);
	return true;
}
