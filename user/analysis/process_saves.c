/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs write in their first threads, by process. A thread that writes beside the first one
 * is none of them, nor a process that was forked to write and runs no program of its own.
 */
#include "analysis/process_saves.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/habits.h"
#include "grow.h"

/* Files are written one after the other: calls on one of them, in a row. */
struct file_row {
	uint32_t file;
	uint64_t time_ns;
};

struct process_saving {
	struct process_save sums;
	struct file_row now, longest;
};

#define SAVING_MOST 65536 /* processes; of further ones nothing is told */

void process_saves_init(struct process_saves *saves, const struct job *job)
{
	*saves = (struct process_saves) { .job = job };
	map_init(&saves->numbers, 1, 1);
}

void process_saves_free(struct process_saves *saves)
{
	map_free(&saves->numbers);
	free(saves->all);
}

/* *saving is NULL when there are too many. */
static int find_saving(struct process_saves *saves, uint32_t process,
		       struct process_saving **saving)
{
	const uint64_t key = process;
	uint64_t *number = map_find(&saves->numbers, &key);
	bool added;

	*saving = NULL;
	if (!number && saves->count < SAVING_MOST) {
		if (!GROW(saves->all, saves->room, saves->count + 1))
			return -ENOMEM;
		number = map_add(&saves->numbers, &key, &added);
		if (!number)
			return -ENOMEM;
		*number = saves->count;
		saves->all[saves->count++] = (struct process_saving) {
			.sums.process = process,
			.now.file = FILE_NONE,
			.longest.file = FILE_NONE,
		};
	}
	if (number)
		*saving = &saves->all[*number];
	return 0;
}

/* A sync, or a write that is neither small nor a sync itself. */
static bool is_heavy(const struct event *event)
{
	return event->class == IO_SYNC ||
	       (event->class == IO_WRITE && event->bytes > HABIT_SMALL_WRITE_BYTES &&
		!(event_value(event, SYSCALL_FLAGS) & TRACE_OP_SYNC));
}

static bool is_save(const struct process_saves *saves, const struct event *event)
{
	const struct process *process = &saves->job->processes.processes[event->process];

	return event->flags & EVENT_CALL &&
	       !(event->flags & (EVENT_SECOND | EVENT_FAILED | EVENT_SUMMED)) && is_heavy(event) &&
	       event->process != PROCESS_UNKNOWN && event->thread == process->pid &&
	       (process->executed || process->parent == PROCESS_NONE) &&
	       !file_table_in_memory(&saves->job->files, event->file);
}

int process_saves_add(struct process_saves *saves, const struct event *event)
{
	uint64_t time_ns = event->end - event->start;
	struct process_saving *saving;
	int status;

	if (!is_save(saves, event))
		return 0;
	status = find_saving(saves, event->process, &saving);
	if (status || !saving)
		return status;
	if (event->class == IO_SYNC)
		saving->sums.syncs++;
	else
		saving->sums.writes++;
	saving->sums.bytes += event->bytes;
	saving->sums.time_ns += time_ns;
	if (saving->now.file != event->file)
		saving->now = (struct file_row) { event->file, 0 };
	saving->now.time_ns += time_ns;
	if (saving->now.time_ns >= saving->longest.time_ns)
		saving->longest = saving->now;
	return 0;
}

bool process_saves_view(const struct process_saves *saves, size_t number, struct process_save *save)
{
	if (number >= saves->count)
		return false;
	*save = saves->all[number].sums;
	save->file = saves->all[number].longest.file;
	return true;
}
