/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Follows the critical path, in one pass over events in the order of their starts.
 *
 * A row of a wait has its end and the thread that ended it, so when a thread on the path begins to
 * wait, it is known until when the path is that other thread. So each thread needs only the moment
 * until which it is on the path, and the operation and the wait that it is in.
 */
#include "analysis/critical_path/state.h"
#include "base/number.h"

#define THREADS_MAX 65536 /* others are never on the path: waiting for them is just a wait */
#define EXPECTED_MAX (4 * THREADS_MAX)
#define DEPTH_MAX 64 /* threads that wait for each other */

/* --- waits for threads --- */

static void enter(struct critical_path *path, uint32_t number, uint64_t from_ns, uint64_t until_ns,
		  int depth);

static bool is_on_path(const struct path_thread *thread, uint64_t time_ns)
{
	return thread->until_ns > time_ns;
}

/* Adds time of a thread's latest wait at the stack that was sampled, or takes it back. */
static void add_at_stack(struct critical_path *path, uint32_t number, uint64_t time_ns, bool back)
{
	const struct path_thread *thread = &path->threads[number];
	const struct path_sample *waited = &thread->waited;
	struct path_stacks *stacks = &path->stacks[thread->wait_state];

	if (waited->start_ns > thread->wait_start_ns || waited->end_ns <= thread->wait_start_ns)
		return;
	if (back)
		critical_path_stacks_take(path, stacks, number, waited->stack, waited->cut,
					  time_ns);
	else
		critical_path_stacks_add(path, stacks, number, waited->stack, waited->cut, time_ns);
}

static void add_own_wait(struct critical_path *path, uint32_t number, uint64_t time_ns)
{
	struct path_thread *thread = &path->threads[number];

	thread->waits_ns[thread->wait_state] += time_ns;
	if (critical_path_locks_wait(thread))
		path->locks_blocked_ns += time_ns;
	add_at_stack(path, number, time_ns, false);
}

static void take_own_wait(struct critical_path *path, uint32_t number, uint64_t time_ns)
{
	struct path_thread *thread = &path->threads[number];

	thread->waits_ns[thread->wait_state] -= time_ns;
	if (critical_path_locks_wait(thread))
		path->locks_blocked_ns -= time_ns;
	add_at_stack(path, number, time_ns, true);
}

#define EXITS_NS 1000000 /* a process closes its files that long before its end, or after it */

/* Whether a thread waits for another one's process to end: in wait(2), or for a pipe that closes
 * then, as in Python's Process.join. */
static bool is_join(const struct critical_path *path, const struct path_thread *waiter,
		    const struct path_thread *waker)
{
	const struct process *process = &path->job->processes.processes[waker->process];

	return waiter->wait_state == THREAD_CHILD ||
	       (waiter->wait_state == THREAD_PIPE && process->ended && waker->tid == process->pid &&
		process->end_ns <= waiter->wait_end_ns + EXITS_NS);
}

static void enter_waker(struct critical_path *path, const struct path_thread *waiter,
			uint32_t number, uint64_t from_ns, uint64_t until_ns, int depth)
{
	struct path_thread *thread = &path->threads[number];

	if (is_join(path, waiter, thread)) {
		thread->joins++;
		thread->joined_ns += until_ns - from_ns;
		thread->joined_until_ns = until_ns;
	}
	enter(path, number, from_ns, until_ns, depth);
}

/* Adds a wait of a thread on the path. If it waits for a thread of the run, that thread enters the
 * path, unless it is there already: then the two wait for each other. */
static void add_wait(struct critical_path *path, uint32_t number, uint64_t from_ns,
		     uint64_t until_ns, int depth)
{
	struct path_thread *thread = &path->threads[number];
	const uint32_t waker = thread->waker;

	thread->is_passed = false;
	if (waker == NO_THREAD || waker == number || depth >= DEPTH_MAX ||
	    is_on_path(&path->threads[waker], from_ns)) {
		add_own_wait(path, number, until_ns - from_ns);
		path->blocked_until_ns = number_max(path->blocked_until_ns, until_ns);
		return;
	}
	thread->is_passed = true;
	thread->passed_ns += until_ns - from_ns;
	enter_waker(path, thread, waker, from_ns, until_ns, depth + 1);
}

static void enter(struct critical_path *path, uint32_t number, uint64_t from_ns, uint64_t until_ns,
		  int depth)
{
	struct path_thread *thread = &path->threads[number];

	thread->until_ns = until_ns;
	thread->time_ns += until_ns - from_ns;
	if (!thread->stays++)
		thread->first_ns = until_ns - from_ns;
	critical_path_io_renew(path, number);
	if (thread->wait_end_ns > from_ns)
		add_wait(path, number, from_ns, number_min(thread->wait_end_ns, until_ns), depth);
}

/* --- threads --- */

/* Takes back from a thread that has ended what it was given of a wait. Returns false if it did
 * something in that time, so it has not ended. */
static bool take_back(struct critical_path *path, uint32_t number, uint64_t from_ns,
		      uint64_t until_ns)
{
	struct path_thread *thread = &path->threads[number];

	if (thread->last_ns > from_ns || thread->until_ns != until_ns)
		return false;
	thread->until_ns = from_ns;
	thread->time_ns -= until_ns - from_ns;
	if (thread->joined_until_ns == until_ns) {
		thread->joined_ns -= until_ns - from_ns;
		thread->joined_until_ns = from_ns;
	}
	if (thread->stays == 1)
		thread->first_ns -= until_ns - from_ns;
	critical_path_io_renew(path, number);
	return true;
}

/* If a thread already waits for a new one, the rest of that wait is the new one's. */
static void enter_expected(struct critical_path *path, uint32_t number, uint64_t key,
			   uint64_t start_ns)
{
	const uint32_t tid = path->threads[number].tid;
	const uint64_t *waiting = map_find(&path->expected, &key);
	struct path_thread *waiter = waiting ? &path->threads[*waiting] : NULL;
	uint64_t end_ns;

	if (!waiter || waiter->wait_end_ns <= start_ns ||
	    (waiter->awaited_tid != tid && waiter->awaited_pid != tid))
		return;
	start_ns = number_max(start_ns, waiter->wait_start_ns);
	end_ns = number_min(waiter->wait_end_ns, waiter->until_ns);
	if (end_ns > start_ns && waiter->is_passed &&
	    !take_back(path, waiter->waker, start_ns, end_ns))
		return;
	waiter->awaited_tid = waiter->awaited_pid = 0;
	waiter->waker = number;
	if (end_ns <= start_ns) /* it may enter the path later */
		return;
	if (!waiter->is_passed) {
		take_own_wait(path, waiter - path->threads, end_ns - start_ns);
		waiter->passed_ns += end_ns - start_ns;
		waiter->is_passed = true;
	}
	enter_waker(path, waiter, number, start_ns, end_ns, 0);
}

static uint32_t add_thread(struct critical_path *path, const struct event *event)
{
	const uint32_t number = path->count;
	const uint64_t start_ns = number_max(event->start, path->job->start_ns);
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
		.is_root = event->thread && event->process < path->process_count &&
			   path->root_pids[event->process] == event->thread,
	};
	if (start_ns >= path->job->end_ns)
		return number;
	if (!thread->is_root) {
		enter_expected(path, number, critical_path_key(event->block->trace, event->thread),
			       start_ns);
		return number;
	}
	path->root_count++;
	path->root_pids[event->process] = 0; /* it is there once */
	path->branches[event->process].main = number;
	enter(path, number, start_ns, path->job->end_ns, 0);
	return number;
}

/* Returns NO_THREAD if there is no room, or it belongs to no known process. */
static uint32_t find_thread(struct critical_path *path, const struct event *event)
{
	const uint64_t key = critical_path_key(event->block->trace, event->thread);
	const size_t slot = (event->thread + 61 * event->block->trace) % RECENT;
	uint64_t *number;
	bool added = false;

	if (path->recent[slot].key == key + 1 &&
	    path->threads[path->recent[slot].number].process == event->process)
		return path->recent[slot].number;
	if (event->process == PROCESS_UNKNOWN)
		return NO_THREAD;
	if (path->count < THREADS_MAX)
		number = map_add(&path->numbers, &key, &added);
	else
		number = map_find(&path->numbers, &key);
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
	const uint64_t key = critical_path_key(event->block->trace, tid);
	const uint64_t *found = tid ? map_find(&path->numbers, &key) : NULL;

	return found ? *found : NO_THREAD;
}

static void expect(struct critical_path *path, uint32_t number, uint32_t tid)
{
	const uint64_t key = critical_path_key(path->threads[number].trace, tid);
	bool added;
	uint64_t *waiting = tid ? map_add(&path->expected, &key, &added) : NULL;

	if (waiting)
		*waiting = number;
}

/* Adds the threads that a thread awaits. Once there are too many, only those are kept that a thread
 * still awaits, which are at most two for each. */
static void expect_wakers(struct critical_path *path, uint32_t number)
{
	expect(path, number, path->threads[number].awaited_tid);
	expect(path, number, path->threads[number].awaited_pid);
	if (path->expected.count < EXPECTED_MAX)
		return;
	map_free(&path->expected);
	for (size_t i = 0; i < path->count; i++) {
		if (path->threads[i].wait_end_ns <= path->now_ns)
			continue;
		expect(path, i, path->threads[i].awaited_tid);
		expect(path, i, path->threads[i].awaited_pid);
	}
}

/* Returns the main thread of the nearest process that was seen among those that started a process,
 * or their parents; NO_THREAD if there is none. */
static uint32_t starter_of(const struct critical_path *path, const struct event *event,
			   uint32_t pid)
{
	uint32_t found = NO_THREAD;

	for (int i = 0; i < DEPTH_MAX && pid && found == NO_THREAD; i++) {
		const uint64_t key = critical_path_key(event->block->trace, pid);
		const uint64_t *parent = map_find(&path->parents, &key);

		pid = parent ? *parent : 0;
		found = thread_seen(path, event, pid);
	}
	return found;
}

/* Finds the thread that ends a wait. If it was not born when the wait began, the main thread of its
 * process stands for it until then (the feeder of a multiprocessing queue), or of the process that
 * started that one (a command of a shell script): it did the work so far. One that seems to have
 * ended may be another that had the same number. */
static void find_waker(struct critical_path *path, const struct event *event, uint32_t number)
{
	struct path_thread *thread = &path->threads[number];
	const uint32_t tid = event_value(event, WAIT_WAKER_TID);
	const uint32_t pid = event_value(event, WAIT_WAKER_PID);

	uint32_t waker = thread_seen(path, event, tid);

	if (waker == NO_THREAD)
		waker = thread_seen(path, event, pid);
	thread->waker = waker == NO_THREAD ? starter_of(path, event, pid) : waker;
	if (thread->waker == number)
		thread->waker = NO_THREAD;
	if (waker != NO_THREAD && waker != number && path->threads[waker].last_ns > event->start)
		return;
	thread->awaited_tid = tid;
	thread->awaited_pid = pid;
	expect_wakers(path, number);
}

/*
 * A thread may wait for a lock in pieces, most of which end by a timer: in Python, for the global
 * interpreter lock, 5 ms each. The next thread that ends such a wait held it before, too. `own_ns`:
 * the part of this piece that was the thread's own.
 */
static void join_pieces(struct critical_path *path, uint32_t number, uint64_t own_ns)
{
	struct path_thread *thread = &path->threads[number];

	if (thread->wait_state != THREAD_LOCK)
		return;
	if (thread->waker == NO_THREAD && !thread->awaited_tid)
		thread->pieces_ns += own_ns;
	if (!thread->is_passed)
		return;
	thread->waits_ns[THREAD_LOCK] -= thread->pieces_ns;
	add_at_stack(path, number, thread->pieces_ns, true);
	thread->passed_ns += thread->pieces_ns;
	path->threads[thread->waker].time_ns += thread->pieces_ns;
	thread->pieces_ns = 0;
}

static void take_wait(struct critical_path *path, const struct event *event, uint32_t number,
		      uint64_t start_ns, uint64_t end_ns)
{
	const struct job_trace *trace = &path->job->traces[event->block->trace];
	struct path_thread *thread = &path->threads[number];
	const unsigned int state = event_state_named(
		trace_reader_string(trace->reader, event_value(event, WAIT_STATE)));
	uint64_t own_ns;

	start_ns = number_max(start_ns, thread->wait_end_ns); /* waits of a thread do not overlap */
	if (end_ns <= start_ns)
		return;
	thread->wait_start_ns = start_ns;
	thread->wait_end_ns = end_ns;
	thread->is_passed = false;
	thread->wait_state = state < THREAD_STATE_COUNT ? state : THREAD_OTHER;
	thread->waker = NO_THREAD;
	thread->awaited_tid = thread->awaited_pid = 0;
	/* A timer ends sleep, whichever thread it happens to interrupt; and the thread that
	 * continues a stopped one did not make it wait. */
	if (state != THREAD_SLEEP && state != THREAD_STOPPED)
		find_waker(path, event, number);
	thread->all_waits_ns[thread->wait_state] += end_ns - start_ns;
	critical_path_io_renew(path, number);
	critical_path_locks_held(path, thread);
	if (thread->is_root)
		critical_path_locks_main_waits(path, number);
	own_ns = thread->waits_ns[thread->wait_state];
	if (is_on_path(thread, start_ns))
		add_wait(path, number, start_ns, number_min(end_ns, thread->until_ns), 0);
	join_pieces(path, number, thread->waits_ns[thread->wait_state] - own_ns);
}

/* Ranks wait for earlier work of the process that starts them. */
static bool is_launcher(const struct critical_path *path, const struct event *event)
{
	return event->thread && event->process < path->process_count &&
	       path->launchers[event->process] == event->thread;
}

static void take_operation(struct critical_path *path, const struct event *event, uint32_t number,
			   uint64_t start_ns, uint64_t end_ns)
{
	struct path_thread *thread = &path->threads[number];
	const uint64_t from_ns = number_max(start_ns, thread->op_end_ns);

	if (end_ns <= from_ns) /* inside another, such as a fault in a call */
		return;
	critical_path_io_stop(path, number);
	thread->op_end_ns = end_ns;
	thread->op_class = event->class;
	thread->op_file = event->file;
	thread->op_locks = path->job->operations[event->operation].locks;
	critical_path_io_resume(path, number);
	critical_path_locks_add(path, number, from_ns);
	if (is_on_path(thread, from_ns))
		return;
	if (is_launcher(path, event))
		critical_path_io_other(path, event->class, event->file, from_ns, end_ns);
	else if (path->blocked_until_ns > from_ns)
		critical_path_io_other(path, event->class, event->file, from_ns,
				       number_min(end_ns, path->blocked_until_ns));
}

/* Submitters do not wait for each asynchronous operation. */
static void take_async(struct critical_path *path, const struct event *event, uint32_t number,
		       uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t on_path_ns = path->threads[number].until_ns;

	end_ns = number_min(end_ns, number_max(on_path_ns, path->blocked_until_ns));
	if (end_ns > start_ns)
		critical_path_io_other(path, event->class, event->file, start_ns, end_ns);
}

static void add_sample(struct critical_path *path, const struct event *event, uint32_t number,
		       struct path_stacks *stacks)
{
	critical_path_stacks_add(path, stacks, number, event_value(event, SAMPLE_STACK),
				 event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT,
				 event_value(event, SAMPLE_WEIGHT));
}

/* Whether a thread on a CPU is in a call that operates on files, not on its memory. */
static bool is_in_call(const struct job *job, const struct event *event)
{
	struct event_unseen as[2];

	return event_unseen(&job->operations[event->operation], as) && as[0].class != IO_NONE &&
	       as[0].class != IO_MMAP_READ && as[0].class != IO_MMAP_WRITE;
}

static void take_sample(struct critical_path *path, const struct event *event, uint32_t number)
{
	const unsigned int state = event_sample_state(path->job, event);

	critical_path_locks_sample(path, event, number);
	if (state < THREAD_STATE_COUNT && state != THREAD_CPU)
		path->threads[number].waited = (struct path_sample) {
			.stack = event_value(event, SAMPLE_STACK),
			.start_ns = event->start,
			.end_ns = event->end,
			.cut = event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT,
		};
	if (!is_on_path(&path->threads[number], event->start) || state != THREAD_CPU)
		return;
	add_sample(path, event, number, &path->stacks[THREAD_CPU]);
	if (is_in_call(path->job, event))
		add_sample(path, event, number, &path->stacks[PATH_IN_CALLS]);
	if (path->threads[number].joined_until_ns > event->start)
		add_sample(path, event, number, &path->stacks[PATH_JOINED]);
}

static bool is_of_path(const struct event *event)
{
	return event->flags & EVENT_THREAD ||
	       (event->class != IO_NONE && event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC));
}

static void take(struct critical_path *path, const struct event *event)
{
	const uint64_t start_ns = number_max(event->start, path->job->start_ns);
	const uint64_t end_ns = number_min(event->end, path->job->end_ns);
	uint32_t number;

	if (!is_of_path(event))
		return;
	critical_path_io_advance(path, number_min(start_ns, path->job->end_ns));
	number = find_thread(path, event);
	if (number == NO_THREAD)
		return;
	if (event_is_sample(event)) {
		take_sample(path, event, number);
		return;
	}
	if (end_ns <= start_ns)
		return;
	path->threads[number].last_ns = number_max(path->threads[number].last_ns, end_ns);
	if (event_is_wait(event))
		take_wait(path, event, number, start_ns, end_ns);
	else if (event->flags & EVENT_ASYNC)
		take_async(path, event, number, start_ns, end_ns);
	else if (event->class != IO_NONE)
		take_operation(path, event, number, start_ns, end_ns);
}

int critical_path_events(void *state, const struct event *events, size_t count)
{
	struct critical_path *path = state;

	for (const struct event *event = events; event < events + count; event++)
		take(path, event);
	return arena_status(path->arena);
}

/* Takes the events of a series between its first and its last one, if they are all of one thread
 * and on one file, and nothing else happens: the usual case in long traces. Returns false if not.
 */
static bool take_alike(struct critical_path *path, const struct event_series *series)
{
	const struct event *first = series->events, *last = first + series->count - 1;
	const uint32_t number = find_thread(path, first);
	struct path_thread *thread = number == NO_THREAD ? NULL : &path->threads[number];
	const bool is_counted = thread && is_on_path(thread, first->start);
	uint64_t from_ns, end_ns, time_ns = 0;

	if (!thread || first->start < path->job->start_ns || first->flags & EVENT_ASYNC ||
	    path->job->operations[first->operation].locks || thread->wait_end_ns > first->start)
		return false;
	end_ns = thread->op_end_ns;
	for (const struct event *event = first + 1; event < last; event++) {
		if (event->thread != first->thread || event->file != first->file)
			return false;
		from_ns = number_max(event->start, end_ns);
		if (event->end > from_ns) {
			time_ns += event->end - from_ns;
			end_ns = event->end;
		}
	}
	if (end_ns > last->start || last->start > path->job->end_ns)
		return false;
	if (is_counted && (thread->until_ns < end_ns || thread->op_class != first->class ||
			   thread->op_file != first->file ||
			   !critical_path_io_is_only(path, number, last->start)))
		return false;
	if (!is_counted && (is_launcher(path, first) || path->blocked_until_ns > first->start))
		return false;
	critical_path_io_advance(path, last->start);
	thread->op_end_ns = end_ns;
	thread->last_ns = number_max(thread->last_ns, end_ns);
	if (is_counted)
		critical_path_io_add(path, number, time_ns);
	return true;
}

int critical_path_series(void *state, const struct event_series *series)
{
	struct critical_path *path = state;
	const size_t count = series->count;

	if (!is_of_path(series->events))
		return 0;
	take(path, &series->events[0]);
	if (!take_alike(path, series))
		critical_path_events(path, series->events + 1, count - 2);
	take(path, &series->events[count - 1]);
	return arena_status(path->arena);
}
