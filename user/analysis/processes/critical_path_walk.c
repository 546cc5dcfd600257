/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Follows the critical path, in one pass over events in the order of their starts.
 *
 * A row of a wait has its end and the thread that ended it, so when a thread on the path begins to
 * wait, it is known until when the path is that other thread. So each thread needs only the moment
 * until which it is on the path, and the operation and the wait that it is in.
 */
#include "analysis/processes/critical_path_state.h"

#define THREADS_MAX 65536    /* others are never on the path: waiting for them is just a wait */
#define FILES_MAX (1u << 24) /* further ones have no times of their own */
#define STACKS_MAX 262144    /* further ones are not named */
#define DEPTH_MAX 64	     /* threads that wait for each other */
#define NO_THREAD UINT32_MAX

#define STACK_KEY_WORDS 3

static bool has_no_parent(const struct process *process)
{
	return process->parent == PROCESS_NONE || process->parent == PROCESS_UNKNOWN;
}

/* The process table may grow during the walk; nothing is known about the processes added then. */
static void find_roots(struct critical_path *path)
{
	const struct process_table *table = &path->job->processes;
	const struct process *processes = table->processes;
	bool ranked = false;

	path->root_pids = arena_alloc(path->arena, (table->count + 1) * sizeof(*path->root_pids));
	path->launchers = arena_alloc(path->arena, (table->count + 1) * sizeof(*path->launchers));
	if (!path->root_pids || !path->launchers)
		return;
	path->process_count = table->count;
	for (size_t i = 1; i < table->count; i++)
		ranked |= processes[i].rank >= 0;
	for (size_t i = 1; i < table->count; i++) {
		const bool above = has_no_parent(&processes[i]);

		if (ranked && processes[i].rank >= 0 &&
		    (above || processes[processes[i].parent].rank != processes[i].rank))
			path->root_pids[i] = processes[i].pid;
		else if (above)
			*(ranked ? &path->launchers[i] : &path->root_pids[i]) = processes[i].pid;
	}
}

void critical_path_begin(void *state, const struct job *job, struct arena *arena)
{
	struct critical_path *path = state;

	path->job = job;
	path->arena = arena;
	map_init_in(&path->numbers, arena, 1, 1);
	map_init_in(&path->expected, arena, 1, 1);
	map_init_in(&path->stack_numbers, arena, STACK_KEY_WORDS, 1);
	find_roots(path);
}

/* --- waits for threads --- */

static void enter(struct critical_path *path, uint32_t number, uint64_t from_ns, uint64_t until_ns,
		  int depth);

static bool is_on_path(const struct path_thread *thread, uint64_t time_ns)
{
	return thread->until_ns > time_ns;
}

static void add_file(struct critical_path *path, uint32_t file, unsigned int class,
		     uint64_t time_ns)
{
	if (file < FILES_MAX && ARENA_GROW(path->arena, path->files, path->file_room, file + 1))
		path->files[file][class] += time_ns;
}

/* Adds time of an operation that the run does, or may, wait for. Returns from when it counts in
 * io_ns; `until_ns` or later: not at all. */
static uint64_t add_waited(struct critical_path *path, unsigned int class, uint32_t file,
			   uint64_t from_ns, uint64_t until_ns)
{
	uint64_t *counted_ns = &path->io_end_ns[class];

	add_file(path, file, class, until_ns - from_ns);
	from_ns = most(from_ns, *counted_ns);
	if (until_ns > from_ns) {
		*counted_ns = until_ns;
		path->io_ns[class] += until_ns - from_ns;
	}
	return from_ns;
}

/* Adds time of its latest operation. */
static void add_io(struct critical_path *path, struct path_thread *thread, uint64_t from_ns,
		   uint64_t until_ns)
{
	until_ns = least(until_ns, thread->op_end_ns);
	thread->io_ns += until_ns - from_ns;
	thread->counted_from_ns =
		add_waited(path, thread->op_class, thread->op_file, from_ns, until_ns);
	thread->counted_until_ns = until_ns;
}

/* A wait inside an operation (locking a file, for example) counts as the wait: takes out what
 * add_io() added. */
static void remove_io(struct critical_path *path, struct path_thread *thread, uint64_t from_ns,
		      uint64_t until_ns)
{
	const uint64_t io_ns =
		least(clock_subtract(least(thread->op_end_ns, until_ns), from_ns), thread->io_ns);
	uint64_t *file_ns = thread->op_file < path->file_room
				    ? &path->files[thread->op_file][thread->op_class]
				    : NULL;

	thread->io_ns -= io_ns;
	path->io_ns[thread->op_class] -=
		least(clock_subtract(least(until_ns, thread->counted_until_ns),
				     most(from_ns, thread->counted_from_ns)),
		      path->io_ns[thread->op_class]);
	if (file_ns)
		*file_ns -= least(io_ns, *file_ns);
}

/* Adds a wait of a thread on the path. If it waits for a thread of the run, that thread enters the
 * path, unless it is there already: then the two wait for each other. */
static void add_wait(struct critical_path *path, uint32_t number, uint64_t from_ns,
		     uint64_t until_ns, int depth)
{
	struct path_thread *thread = &path->threads[number];
	const uint32_t waker = thread->waker;

	remove_io(path, thread, from_ns, until_ns);
	if (waker == NO_THREAD || waker == number || depth >= DEPTH_MAX ||
	    is_on_path(&path->threads[waker], from_ns)) {
		thread->waits_ns[thread->wait_state] += until_ns - from_ns;
		path->blocked_until_ns = most(path->blocked_until_ns, until_ns);
		return;
	}
	thread->passed_ns += until_ns - from_ns;
	enter(path, waker, from_ns, until_ns, depth + 1);
}

static void enter(struct critical_path *path, uint32_t number, uint64_t from_ns, uint64_t until_ns,
		  int depth)
{
	struct path_thread *thread = &path->threads[number];

	thread->until_ns = until_ns;
	thread->time_ns += until_ns - from_ns;
	if (!thread->stays++)
		thread->first_ns = until_ns - from_ns;
	if (thread->op_end_ns > from_ns)
		add_io(path, thread, from_ns, until_ns);
	if (thread->wait_end_ns > from_ns)
		add_wait(path, number, from_ns, least(thread->wait_end_ns, until_ns), depth);
}

/* --- threads --- */

static uint64_t key_of(const struct event *event, uint32_t tid)
{
	return (uint64_t)event->block->trace << 32 | tid;
}

/* Puts a new thread on the path if a thread there already waits for it. */
static void enter_expected(struct critical_path *path, uint32_t number, uint64_t key,
			   uint64_t start_ns)
{
	const uint32_t tid = path->threads[number].tid;
	const uint64_t *waiting = map_find(&path->expected, &key);
	struct path_thread *waiter = waiting ? &path->threads[*waiting] : NULL;
	const uint64_t end_ns = waiter ? least(waiter->wait_end_ns, waiter->until_ns) : 0;

	if (end_ns <= start_ns || (waiter->awaited_tid != tid && waiter->awaited_pid != tid) ||
	    is_on_path(&path->threads[number], start_ns))
		return;
	waiter->waker = number;
	waiter->awaited_tid = waiter->awaited_pid = 0;
	waiter->waits_ns[waiter->wait_state] -= end_ns - start_ns;
	waiter->passed_ns += end_ns - start_ns;
	enter(path, number, start_ns, end_ns, 0);
}

static uint32_t add_thread(struct critical_path *path, const struct event *event)
{
	const uint32_t number = path->count;
	const uint64_t start_ns = most(event->start, path->job->start_ns);
	struct path_thread *thread;

	if (path->count >= THREADS_MAX ||
	    !ARENA_GROW(path->arena, path->threads, path->room, path->count + 1))
		return NO_THREAD;
	thread = &path->threads[path->count++];
	*thread = (struct path_thread) {
		.process = event->process,
		.tid = event->thread,
		.trace = event->block->trace,
		.waker = NO_THREAD,
		.is_root = event->process < path->process_count &&
			   path->root_pids[event->process] == event->thread,
	};
	if (start_ns >= path->job->end_ns)
		return number;
	if (!thread->is_root) {
		enter_expected(path, number, key_of(event, event->thread), start_ns);
		return number;
	}
	path->root_count++;
	path->root_pids[event->process] = 0; /* it is there once */
	enter(path, number, start_ns, path->job->end_ns, 0);
	return number;
}

/* Returns NO_THREAD if there is no room, or it belongs to no known process. */
static uint32_t find_thread(struct critical_path *path, const struct event *event)
{
	const uint64_t key = key_of(event, event->thread);
	const size_t slot = (event->thread + 61 * event->block->trace) % RECENT;
	uint64_t *number;
	bool added;

	if (path->recent[slot].key == key + 1 &&
	    path->threads[path->recent[slot].number].process == event->process)
		return path->recent[slot].number;
	if (event->process == PROCESS_UNKNOWN)
		return NO_THREAD;
	number = map_add(&path->numbers, &key, &added);
	if (!number)
		return NO_THREAD;
	if (added || *number == NO_THREAD || path->threads[*number].process != event->process)
		*number = add_thread(path, event);
	if (*number == NO_THREAD)
		return NO_THREAD;
	path->recent[slot].key = key + 1;
	path->recent[slot].number = *number;
	return *number;
}

/* --- events --- */

/* Returns NO_THREAD if it has not been seen yet. */
static uint32_t thread_seen(const struct critical_path *path, const struct event *event,
			    uint32_t tid)
{
	const uint64_t key = key_of(event, tid);
	const uint64_t *found = tid ? map_find(&path->numbers, &key) : NULL;

	return found ? *found : NO_THREAD;
}

static void expect(struct critical_path *path, const struct event *event, uint32_t tid,
		   uint32_t number)
{
	const uint64_t key = key_of(event, tid);
	bool added;
	uint64_t *waiting = NULL;

	if (tid && path->expected.count < THREADS_MAX)
		waiting = map_add(&path->expected, &key, &added);
	if (waiting)
		*waiting = number;
}

/* Finds the thread that ends a wait. If it was not born when the wait began, as the feeder of a
 * multiprocessing queue, its process's main thread stands for it, which did the work so far. */
static void find_waker(struct critical_path *path, const struct event *event, uint32_t number)
{
	struct path_thread *thread = &path->threads[number];
	const uint32_t tid = event_value(event, WAIT_WAKER_TID);
	const uint32_t pid = event_value(event, WAIT_WAKER_PID);

	thread->waker = thread_seen(path, event, tid);
	if (thread->waker == NO_THREAD)
		thread->waker = thread_seen(path, event, pid);
	if (thread->waker != NO_THREAD && thread->waker != number)
		return;
	thread->waker = NO_THREAD;
	thread->awaited_tid = tid;
	thread->awaited_pid = pid;
	expect(path, event, tid, number);
	expect(path, event, pid, number);
}

static void take_wait(struct critical_path *path, const struct event *event, uint32_t number,
		      uint64_t start_ns, uint64_t end_ns)
{
	const struct job_trace *trace = &path->job->traces[event->block->trace];
	struct path_thread *thread = &path->threads[number];
	const unsigned int state = event_state_named(
		trace_reader_string(trace->reader, event_value(event, WAIT_STATE)));

	start_ns = most(start_ns, thread->wait_end_ns); /* waits of a thread do not overlap */
	if (end_ns <= start_ns)
		return;
	thread->wait_end_ns = end_ns;
	thread->wait_state = state < THREAD_STATE_COUNT ? state : THREAD_OTHER;
	thread->waker = NO_THREAD;
	thread->awaited_tid = thread->awaited_pid = 0;
	/* A timer ends sleep, whichever thread it happens to interrupt; and the thread that
	 * continues a stopped one did not make it wait. */
	if (state != THREAD_SLEEP && state != THREAD_STOPPED)
		find_waker(path, event, number);
	thread->all_waits_ns[thread->wait_state] += end_ns - start_ns;
	if (is_on_path(thread, start_ns))
		add_wait(path, number, start_ns, least(end_ns, thread->until_ns), 0);
}

/* Ranks wait for earlier work of the process that starts them. */
static bool is_launcher(const struct critical_path *path, const struct event *event)
{
	return event->process < path->process_count &&
	       path->launchers[event->process] == event->thread;
}

static void take_operation(struct critical_path *path, const struct event *event, uint32_t number,
			   uint64_t start_ns, uint64_t end_ns)
{
	struct path_thread *thread = &path->threads[number];
	const uint64_t from_ns = most(start_ns, thread->op_end_ns);

	if (end_ns <= from_ns) /* inside another, such as a fault in a call */
		return;
	thread->op_end_ns = end_ns;
	thread->op_class = event->class;
	thread->op_file = event->file;
	if (is_on_path(thread, from_ns))
		add_io(path, thread, from_ns, thread->until_ns);
	else if (is_launcher(path, event))
		add_waited(path, event->class, event->file, from_ns, end_ns);
	else if (path->blocked_until_ns > from_ns)
		add_waited(path, event->class, event->file, from_ns,
			   least(end_ns, path->blocked_until_ns));
}

/* Submitters do not wait for each asynchronous operation. */
static void take_async(struct critical_path *path, const struct event *event, uint32_t number,
		       uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t on_path_ns = path->threads[number].until_ns;

	end_ns = least(end_ns, most(on_path_ns, path->blocked_until_ns));
	if (end_ns > start_ns)
		add_waited(path, event->class, event->file, start_ns, end_ns);
}

static void take_sample(struct critical_path *path, const struct event *event, uint32_t number)
{
	const struct path_thread *thread = &path->threads[number];
	const bool cut = event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT;
	const uint64_t key[STACK_KEY_WORDS] = { (uint64_t)event->block->trace << 1 | cut,
						event_value(event, SAMPLE_STACK), number };
	uint64_t *place;
	bool added;

	if (!is_on_path(thread, event->start) || event_sample_state(path->job, event) != THREAD_CPU)
		return;
	place = map_find(&path->stack_numbers, key);
	added = !place;
	if (added && path->stack_count < STACKS_MAX &&
	    ARENA_GROW(path->arena, path->stacks, path->stack_room, path->stack_count + 1))
		place = map_add(&path->stack_numbers, key, &added);
	if (!place)
		return;
	if (added) {
		*place = path->stack_count;
		path->stacks[path->stack_count++] = (struct path_stack) {
			.trace = event->block->trace,
			.process = thread->process,
			.tid = thread->tid,
			.stack = key[1],
			.cut = cut,
		};
	}
	path->stacks[*place].time_ns =
		clock_add(path->stacks[*place].time_ns, event_value(event, SAMPLE_WEIGHT));
	path->stacks[*place].samples++;
}

static void take(struct critical_path *path, const struct event *event)
{
	const uint64_t start_ns = most(event->start, path->job->start_ns);
	const uint64_t end_ns = least(event->end, path->job->end_ns);
	const bool is_thread = event->flags & EVENT_THREAD;
	const bool is_operation =
		event->class != IO_NONE && event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC);
	uint32_t number;

	if (!is_thread && !is_operation)
		return;
	number = find_thread(path, event);
	if (number == NO_THREAD)
		return;
	if (event_is_sample(event)) {
		take_sample(path, event, number);
		return;
	}
	if (end_ns <= start_ns)
		return;
	path->threads[number].last_ns = most(path->threads[number].last_ns, end_ns);
	if (event_is_wait(event))
		take_wait(path, event, number, start_ns, end_ns);
	else if (event->flags & EVENT_ASYNC)
		take_async(path, event, number, start_ns, end_ns);
	else if (is_operation)
		take_operation(path, event, number, start_ns, end_ns);
}

int critical_path_events(void *state, const struct event *events, size_t count)
{
	struct critical_path *path = state;

	for (const struct event *event = events; event < events + count; event++)
		take(path, event);
	return arena_status(path->arena);
}
