/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Saves and loads by process. Counts only a program's first thread: other threads, and processes
 * forked for saving that do not exec, do not block the program.
 */
#include "analysis/processes/process_waits.h"

#include "analysis/shared/finding_threshold.h"
#include "analysis/files/io_patterns.h"

/* A run of consecutive calls on one file. */
struct file_run {
	uint32_t file;
	uint64_t time_ns, end; /* end: of the last call, offset in the file */
	uint64_t start_ns, end_ns;
};

struct process_waiting {
	struct process_wait sums;
	struct file_run now, longest;
};

#define WAITING_MAX 65536 /* processes; further ones are left out */

void process_waits_init(struct process_waits *waits, struct arena *arena, const struct job *job,
			enum process_waits_for what)
{
	*waits = (struct process_waits) {
		.job = job,
		.arena = arena,
		.what = what,
		.small_bytes = what == PROCESS_SAVES ? IO_PATTERN_SMALL_WRITE_BYTES
						     : threshold(THRESHOLD_SMALL_READ),
	};
	map_init_in(&waits->numbers, arena, 1, 1);
}

/* Returns NULL if there is none and `make` is not set, or too many, or no memory. */
static struct process_waiting *find_waiting(struct process_waits *waits, uint32_t process,
					    bool make)
{
	const uint64_t key = process;
	const uint64_t *number = map_find(&waits->numbers, &key);
	struct process_waiting *waiting;
	bool added;

	if (number)
		return &waits->all[*number];
	if (!make || waits->count == WAITING_MAX)
		return NULL;
	waiting = MAP_ITEM(&waits->numbers, &key, waits->all, waits->room, waits->count, &added);
	if (waiting)
		*waiting = (struct process_waiting) {
			.sums.process = process,
			.now.file = FILE_NONE,
			.longest.file = FILE_NONE,
		};
	return waiting;
}

/* A call that may wait for data that was written. */
static bool is_end(const struct event *event)
{
	return event_overwrites(event) || event->flags & EVENT_CLOSES;
}

/* One of these, a sync, or a write that is not known to be O_SYNC. */
static bool is_save(const struct event *event)
{
	return event->class == IO_SYNC || is_end(event) ||
	       (event->class == IO_WRITE && (event->flags & EVENT_SUMMED ||
					     !(event_value(event, SYSCALL_FLAGS) & TRACE_OP_SYNC)));
}

/* Compares each call's size; for aggregated calls, the average. */
static bool is_small(const struct process_waits *waits, const struct event *event)
{
	return event->class != IO_SYNC && !is_end(event) &&
	       event->bytes / event_count(event) <= waits->small_bytes;
}

/* For aggregated calls, only if the process has no other thread. */
static bool is_first_thread(const struct process *process, const struct event *event)
{
	return event->flags & EVENT_SUMMED ? process->executed && !process->threads
					   : event->thread == process->pid;
}

static bool is_wait(const struct process_waits *waits, const struct event *event)
{
	const struct process *process = &waits->job->processes.processes[event->process];

	return (waits->what == PROCESS_SAVES ? is_save(event) : event->class == IO_READ) &&
	       event_count(event) && !is_small(waits, event) && event->process != PROCESS_UNKNOWN &&
	       is_first_thread(process, event) &&
	       (process->executed || process->parent == PROCESS_NONE) &&
	       !file_table_is_on(&waits->job->files, event->file, FILE_SYSTEM_IN_MEMORY);
}

static void add_to_run(struct process_waiting *waiting, const struct event *event)
{
	const uint64_t begins = event->offset < 0 ? 0 : event->offset;

	if (waiting->now.file != event->file || !waiting->sums.runs) {
		waiting->now = (struct file_run) { .file = event->file, .start_ns = event->start };
		waiting->sums.runs++;
	} else if (!(event->flags & EVENT_SUMMED) && begins < waiting->now.end) {
		waiting->sums.back++;
	}
	if (!waiting->sums.first_start_ns && !(event->flags & EVENT_SUMMED))
		waiting->sums.first_start_ns = event->start;
	waiting->now.end = begins + event->bytes;
	waiting->now.time_ns += event_time_ns(event);
	waiting->now.end_ns = event->end;
	if (waiting->now.time_ns >= waiting->longest.time_ns)
		waiting->longest = waiting->now;
}

void process_waits_take(struct process_waits *waits, const struct event *event)
{
	struct process_waiting *waiting;

	if (!(event->flags & EVENT_CALL) ||
	    event->flags & (EVENT_SECOND | EVENT_FAILED | EVENT_CLASSES) || !is_wait(waits, event))
		return;
	waiting = find_waiting(waits, event->process, !(event->flags & EVENT_CLOSES));
	if (!waiting || (event->flags & EVENT_CLOSES && event->file != waiting->now.file))
		return;
	if (event->class == IO_SYNC)
		waiting->sums.syncs += event_count(event);
	else if (!is_end(event))
		waiting->sums.calls += event_count(event);
	waiting->sums.bytes += event->bytes;
	waiting->sums.fetched_bytes +=
		event->flags & EVENT_DIRECT ? event->bytes : event->fetched_bytes;
	waiting->sums.time_ns += event_time_ns(event);
	if (event->class < IO_CLASS_COUNT)
		waiting->sums.class_ns[event->class] += event_time_ns(event);
	add_to_run(waiting, event);
}

bool process_waits_view(const struct process_waits *waits, size_t number, struct process_wait *wait)
{
	if (number >= waits->count)
		return false;
	*wait = waits->all[number].sums;
	wait->file = waits->all[number].longest.file;
	wait->run_ns = waits->all[number].longest.time_ns;
	if (!waits->job->aggregated) {
		wait->last_run_ns = waits->all[number].now.time_ns;
		wait->last_start_ns = waits->all[number].now.start_ns;
		wait->last_end_ns = waits->all[number].now.end_ns;
	}
	return true;
}
