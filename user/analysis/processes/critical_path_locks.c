/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waits for file locks (flock, fcntl). While a thread waits for one, the path is what the holder
 * does, so the wait itself takes no time on it; but without the lock, the two would work at the
 * same time. So all calls that lock count that a thread on the path is in, except those of threads
 * that are there because another one waits for a lock.
 */
#include "analysis/processes/critical_path_state.h"

#include "trace/format/flags.h"

#define STACKS_MAX 262144 /* further ones are not named */
#define STACK_KEY_WORDS 3

void critical_path_stacks_init(struct path_stacks *stacks, struct arena *arena)
{
	map_init_in(&stacks->numbers, arena, STACK_KEY_WORDS, 1);
}

void critical_path_stacks_add(struct critical_path *path, struct path_stacks *stacks,
			      uint32_t number, uint64_t stack, bool cut, uint64_t time_ns)
{
	const struct path_thread *thread = &path->threads[number];
	const uint64_t key[STACK_KEY_WORDS] = { (uint64_t)thread->trace << 1 | cut, stack, number };
	uint64_t *place = map_find(&stacks->numbers, key);
	bool added = !place;

	if (added && stacks->count < STACKS_MAX &&
	    ARENA_GROW(path->arena, stacks->all, stacks->room, stacks->count + 1))
		place = map_add(&stacks->numbers, key, &added);
	if (!place)
		return;
	if (added) {
		*place = stacks->count;
		stacks->all[stacks->count++] = (struct path_stack) {
			.trace = thread->trace,
			.process = thread->process,
			.tid = thread->tid,
			.stack = stack,
			.cut = cut,
		};
	}
	stacks->all[*place].time_ns = clock_add(stacks->all[*place].time_ns, time_ns);
	stacks->all[*place].samples++;
}

void critical_path_locks_add(struct critical_path *path, const struct path_thread *thread,
			     uint64_t from_ns)
{
	const uint64_t end_ns = least(thread->op_end_ns, thread->until_ns);

	if (thread->op_locks)
		path->locks.time_ns += clock_subtract(end_ns, most(from_ns, thread->behind_ns));
}

bool critical_path_locks_wait(const struct path_thread *thread)
{
	return thread->op_locks && thread->wait_state == THREAD_LOCK &&
	       thread->op_end_ns > thread->wait_start_ns;
}

/* Adds what a thread did while another waited for it. */
static void add_held(struct critical_path *path, uint32_t number, uint64_t from_ns)
{
	const struct path_thread *thread = &path->threads[number];
	const uint64_t end_ns = least(thread->sample.end_ns, thread->holds_ns);

	from_ns = most(thread->sample.start_ns, from_ns);
	if (end_ns > from_ns)
		critical_path_stacks_add(path, &path->holders, number, thread->sample.stack,
					 thread->sample.cut, end_ns - from_ns);
}

void critical_path_locks_held(struct critical_path *path, const struct path_thread *waiter)
{
	struct path_thread *holder;
	uint64_t from_ns;

	if (waiter->waker == NO_THREAD || !critical_path_locks_wait(waiter))
		return;
	holder = &path->threads[waiter->waker];
	from_ns = most(waiter->wait_start_ns, holder->holds_ns);
	holder->holds_ns = most(holder->holds_ns, waiter->wait_end_ns);
	add_held(path, waiter->waker, from_ns);
}

void critical_path_locks_sample(struct critical_path *path, const struct event *event,
				uint32_t number)
{
	struct path_thread *thread = &path->threads[number];
	const unsigned int state = event_sample_state(path->job, event);
	const uint64_t stack = event_value(event, SAMPLE_STACK);
	const bool cut = event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT;
	bool exact;
	const uint64_t time_ns = event_sample_time(path->job, event, state, &exact);

	if (state == THREAD_LOCK ||
	    (state == SAMPLE_IO && path->job->operations[event->operation].locks))
		return;
	if (exact) {
		thread->sample.stack = stack;
		thread->sample.cut = cut;
		thread->sample.start_ns = event->start;
		thread->sample.end_ns = event->end;
		add_held(path, number, 0);
	} else if (event->start < thread->holds_ns) {
		critical_path_stacks_add(path, &path->holders, number, stack, cut, time_ns);
	}
}
