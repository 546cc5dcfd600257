/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ids and names of a timeline's processes and threads. */
#include "output/timeline/chrome_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "output/timeline/chrome.h"
#include "base/utf8.h"

#define NAME_BYTES 160 /* longer command lines are cut: viewers show one line */
#define ELLIPSIS "\u2026"

void chrome_threads_init(struct chrome_threads *threads, struct job *job, struct sink *out)
{
	*threads = (struct chrome_threads) { .job = job, .out = out, .last = CHROME_NONE };
	map_init(&threads->numbers, 2, 1);
	map_init(&threads->pids, 1, 1);
}

void chrome_threads_free(struct chrome_threads *threads)
{
	free(threads->processes);
	free(threads->threads);
	map_free(&threads->numbers);
	map_free(&threads->pids);
}

static struct chrome_place place_in_use(const struct chrome_threads *threads, uint32_t process)
{
	uint64_t pid =
		threads->job->processes.processes[process].pid + threads->processes[process].moved;

	return (struct chrome_place) { pid, pid };
}

/* --- names --- */

static void open_metadata(struct chrome_threads *threads, const char *name,
			  struct chrome_place place)
{
	/* Every other event follows the names of its process. */
	sink_text(threads->out, threads->any ? ",\n" : "\n");
	threads->any = true;
	chrome_open(threads->out, chrome_text(name), chrome_text(""), 'M', place);
}

static void close_metadata(struct chrome_threads *threads, struct chrome_args *args)
{
	chrome_args_end(args);
	sink_char(threads->out, '}');
}

void chrome_metadata(struct chrome_threads *threads, const char *what, struct chrome_place place,
		     const char *member, struct trace_string value)
{
	struct chrome_args args;

	open_metadata(threads, what, place);
	args = chrome_args_begin(threads->out);
	chrome_add_text(&args, member, value);
	close_metadata(threads, &args);
}

void chrome_thread_name(struct chrome_threads *threads, uint32_t thread, struct trace_string name)
{
	chrome_metadata(threads, "thread_name", chrome_place_of(threads, thread), "name", name);
}

/* Writes a command line with spaces between arguments, cut at a character boundary. */
static void write_command(struct sink *text, struct trace_string command)
{
	size_t used = 0;

	while (command.length && !command.bytes[command.length - 1])
		command.length--;
	while (used < command.length) {
		struct glyph glyph = utf8_glyph(command.bytes + used, command.length - used);

		if (used + glyph.bytes > NAME_BYTES) {
			sink_text(text, ELLIPSIS);
			return;
		}
		if (command.bytes[used])
			sink_bytes(text, command.bytes + used, glyph.bytes);
		else
			sink_char(text, ' ');
		used += glyph.bytes;
	}
}

/* "rank 3: python3 train.py", "rank 3: python3 train.py (forked by 100)" */
static void write_process_name(struct chrome_threads *threads, const struct process *process,
			       struct chrome_args *args)
{
	struct trace_reader *reader = threads->job->traces[process->trace].reader;
	struct trace_string command = trace_reader_string(reader, process->command);
	struct sink text;

	sink_open_memory(&text);
	if (process->rank >= 0)
		sink_format(&text, "rank %" PRId64 ": ", process->rank);
	if (!command.length)
		command = trace_reader_string(reader, process->comm);
	if (command.length)
		write_command(&text, command);
	else
		sink_text(&text, "unknown");
	if (!process->executed && process->ppid)
		sink_format(&text, " (forked by %" PRIu32 ")", process->ppid);
	if (text.error)
		threads->out->error = text.error;
	else
		chrome_add_text(args, "name", (struct trace_string) { text.buffer, text.used });
	sink_close(&text);
}

static void write_labels(struct chrome_threads *threads, const struct process *process,
			 struct chrome_args *args)
{
	const char *host = threads->job->traces[process->trace].header->host;
	struct sink text;

	sink_open_memory(&text);
	if (process->rank >= 0)
		sink_format(&text, "rank %" PRId64 ", ", process->rank);
	sink_text(&text, "host ");
	sink_text(&text, host);
	sink_format(&text, ", pid %" PRIu32, process->pid);
	if (text.error)
		threads->out->error = text.error;
	else
		chrome_add_text(args, "labels", (struct trace_string) { text.buffer, text.used });
	sink_close(&text);
}

/* Processes without a rank, launchers for example, come first. */
static int64_t sort_index(const struct process *process)
{
	return process->rank < 0 ? -1 : process->rank < INT32_MAX ? process->rank : INT32_MAX;
}

static int name_process(struct chrome_threads *threads, uint32_t number)
{
	const struct process *process = &threads->job->processes.processes[number];
	struct trace_reader *reader = threads->job->traces[process->trace].reader;
	struct chrome_place place = place_in_use(threads, number);
	struct trace_string comm = trace_reader_string(reader, process->comm);
	struct chrome_args args;
	uint32_t thread;
	int status;

	open_metadata(threads, "process_name", place);
	args = chrome_args_begin(threads->out);
	write_process_name(threads, process, &args);
	close_metadata(threads, &args);
	open_metadata(threads, "process_labels", place);
	args = chrome_args_begin(threads->out);
	write_labels(threads, process, &args);
	close_metadata(threads, &args);
	open_metadata(threads, "process_sort_index", place);
	args = chrome_args_begin(threads->out);
	chrome_add_int(&args, "sort_index", sort_index(process));
	close_metadata(threads, &args);
	if (!comm.length)
		return 0;
	status = chrome_thread_find(threads, number, process->pid, &thread);
	if (!status)
		chrome_thread_name(threads, thread, comm);
	return status;
}

/* --- ids --- */

static int make_room(struct chrome_threads *threads, uint32_t process)
{
	size_t known = threads->process_room;

	if (!GROW(threads->processes, threads->process_room, (size_t)process + 1))
		return -ENOMEM;
	for (; known < threads->process_room; known++)
		threads->processes[known].thread = CHROME_NONE;
	return 0;
}

uint32_t chrome_thread_known(const struct chrome_threads *threads, uint32_t process, uint64_t tid)
{
	const uint64_t key[] = { process, tid };
	const uint64_t *found = map_find(&threads->numbers, key);

	if (process >= threads->process_room || !threads->processes[process].used)
		return CHROME_NONE;
	return found ? *found : CHROME_NONE;
}

static int add_thread(struct chrome_threads *threads, uint32_t process, uint64_t tid,
		      uint64_t *number)
{
	if (!GROW(threads->threads, threads->room, threads->count + 1))
		return -ENOMEM;
	threads->threads[threads->count] = (struct chrome_thread) {
		.tid = tid,
		.process = process,
		.next = threads->processes[process].thread,
		.top = CHROME_NONE,
		.aside = CHROME_NONE,
	};
	threads->processes[process].thread = threads->count;
	*number = threads->count++;
	return 0;
}

int chrome_thread_find(struct chrome_threads *threads, uint32_t process, uint64_t tid,
		       uint32_t *thread)
{
	uint64_t key[] = { process, tid }, *number;
	bool added, shared;
	int status;

	if (threads->last != CHROME_NONE && threads->threads[threads->last].process == process &&
	    threads->threads[threads->last].tid == tid) {
		*thread = threads->last;
		return 0;
	}
	if (make_room(threads, process))
		return -ENOMEM;
	shared = threads->count >= CHROME_THREADS_MAX && !map_find(&threads->numbers, key);
	if (shared)
		key[1] = CHROME_TID_SHARED;
	number = map_add(&threads->numbers, key, &added);
	if (!number)
		return -ENOMEM;
	if (added) {
		status = add_thread(threads, process, key[1], number);
		if (status)
			return status;
	}
	*thread = threads->last = *number;
	threads->threads[*thread].shared += shared;
	return 0;
}

void chrome_threads_emit_shared(struct chrome_threads *threads)
{
	for (uint32_t i = CHROME_THREADS_MAX; i < threads->count; i++) {
		char name[64];
		int length;

		if (!threads->threads[i].shared)
			continue;
		length = snprintf(name, sizeof(name), "%" PRIu64 " events of further threads",
				  threads->threads[i].shared);
		chrome_thread_name(threads, i, (struct trace_string) { name, length });
	}
}

static int use_process(struct chrome_threads *threads, uint32_t process)
{
	uint64_t pid = threads->job->processes.processes[process].pid, *before;
	bool added;

	if (make_room(threads, process))
		return -ENOMEM;
	before = map_add(&threads->pids, &pid, &added);
	if (!before)
		return -ENOMEM;
	threads->processes[process].moved = CHROME_PID_STEP * (*before)++;
	threads->processes[process].used = true;
	return name_process(threads, process);
}

struct chrome_place chrome_process_place(struct chrome_threads *threads, uint32_t process)
{
	if (process >= threads->process_room || !threads->processes[process].used) {
		int status = use_process(threads, process);

		if (status)
			threads->out->error = status;
		if (process >= threads->process_room)
			return (struct chrome_place) { 0 };
	}
	return place_in_use(threads, process);
}

struct chrome_place chrome_place_of(struct chrome_threads *threads, uint32_t thread)
{
	uint32_t process = threads->threads[thread].process;
	struct chrome_place place = chrome_process_place(threads, process);

	place.tid = threads->threads[thread].tid + threads->processes[process].moved;
	return place;
}
