/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waits for file locks (flock, fcntl). While a thread waits for one, the path is what the holder
 * does, so the wait itself takes no time on it; but without the lock, the two would work at the
 * same time. That would save the wait of the most delayed branch. A branch is a child of the main
 * thread's process with all its descendants, or the main thread itself. Its waits count only while
 * that main thread waits for something.
 */
#include "analysis/critical_path/state.h"

#include "base/number.h"
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
	uint64_t *index = map_find(&stacks->numbers, key);
	bool added = !index;

	if (added && stacks->count < STACKS_MAX &&
	    ARENA_GROW(path->arena, stacks->all, stacks->room, stacks->count + 1))
		index = map_add(&stacks->numbers, key, &added);
	if (!index)
		return;
	if (added) {
		*index = stacks->count;
		stacks->all[stacks->count++] = (struct path_stack) {
			.trace = thread->trace,
			.process = thread->process,
			.tid = thread->tid,
			.stack = stack,
			.cut = cut,
		};
	}
	stacks->all[*index].time_ns = number_add(stacks->all[*index].time_ns, time_ns);
	stacks->all[*index].samples++;
}

void critical_path_stacks_take(struct critical_path *path, struct path_stacks *stacks,
			       uint32_t number, uint64_t stack, bool cut, uint64_t time_ns)
{
	const uint64_t key[STACK_KEY_WORDS] = { (uint64_t)path->threads[number].trace << 1 | cut,
						stack, number };
	const uint64_t *index = map_find(&stacks->numbers, key);

	if (index)
		stacks->all[*index].time_ns = number_sub(stacks->all[*index].time_ns, time_ns);
}

void critical_path_locks_begin(struct critical_path *path)
{
	const struct process *processes = path->job->processes.processes;

	path->branches =
		arena_alloc(path->arena, (path->process_count + 1) * sizeof(*path->branches));
	if (!path->branches)
		path->process_count = 0;
	for (size_t i = 0; i < path->process_count; i++) {
		struct path_branch *branch = &path->branches[i];
		const uint32_t parent = processes[i].parent;

		branch->root = branch->main = NO_THREAD;
		if (path->root_pids[i]) {
			branch->root = branch->top = i;
		} else if (i && parent < i) {
			branch->root = path->branches[parent].root;
			branch->top = branch->root == parent ? i : path->branches[parent].top;
		}
	}
}

static uint64_t overlap_ns(uint64_t from_a, uint64_t until_a, uint64_t from_b, uint64_t until_b)
{
	return number_sub(number_min(until_a, until_b), number_max(from_a, from_b));
}

void critical_path_locks_add(struct critical_path *path, uint32_t number, uint64_t from_ns)
{
	const struct path_thread *thread = &path->threads[number], *main;
	struct path_branch *branch;
	uint32_t of_root;

	if (!thread->op_locks || thread->process >= path->process_count)
		return;
	branch = &path->branches[path->branches[thread->process].top];
	if (branch->root == NO_THREAD)
		return;
	of_root = path->branches[branch->root].main;
	from_ns = number_max(from_ns, branch->until_ns);
	branch->until_ns = number_max(branch->until_ns, thread->op_end_ns);
	if (of_root == number) {
		branch->locks_ns += number_sub(thread->op_end_ns, from_ns);
	} else if (of_root != NO_THREAD) {
		main = &path->threads[of_root];
		branch->locks_ns += overlap_ns(from_ns, thread->op_end_ns, main->wait_start_ns,
					       main->wait_end_ns);
	}
	if (branch->is_listed ||
	    !ARENA_GROW(path->arena, path->locking, path->locking_room, path->locking_count + 1))
		return;
	branch->is_listed = true;
	path->locking[path->locking_count++] = branch - path->branches;
}

void critical_path_locks_main_waits(struct critical_path *path, uint32_t number)
{
	const struct path_thread *main = &path->threads[number];
	/* Its own call counts as a whole. */
	const bool main_locks = main->op_locks && main->op_end_ns > path->now_ns;
	size_t left = 0;

	for (size_t i = 0; i < path->locking_count; i++) {
		struct path_branch *branch = &path->branches[path->locking[i]];

		branch->is_listed = branch->until_ns > path->now_ns;
		if (!branch->is_listed)
			continue;
		path->locking[left++] = path->locking[i];
		if (branch->root == main->process &&
		    !(main_locks && path->locking[i] == main->process))
			branch->locks_ns += overlap_ns(path->now_ns, branch->until_ns,
						       main->wait_start_ns, main->wait_end_ns);
	}
	path->locking_count = left;
}

uint64_t critical_path_locks_ns(const struct critical_path *path)
{
	uint64_t max_ns = 0;

	for (size_t i = 0; i < path->process_count; i++)
		max_ns = number_max(max_ns, path->branches[i].locks_ns);
	return max_ns;
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
	const uint64_t end_ns = number_min(thread->sample.end_ns, thread->holds_ns);

	from_ns = number_max(thread->sample.start_ns, from_ns);
	if (end_ns > from_ns)
		critical_path_stacks_add(path, &path->stacks[PATH_LOCKED], number,
					 thread->sample.stack, thread->sample.cut,
					 end_ns - from_ns);
}

void critical_path_locks_held(struct critical_path *path, const struct path_thread *waiter)
{
	struct path_thread *holder;
	uint64_t from_ns;

	if (waiter->waker == NO_THREAD || !critical_path_locks_wait(waiter))
		return;
	holder = &path->threads[waiter->waker];
	from_ns = number_max(waiter->wait_start_ns, holder->holds_ns);
	holder->holds_ns = number_max(holder->holds_ns, waiter->wait_end_ns);
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
		critical_path_stacks_add(path, &path->stacks[PATH_LOCKED], number, stack, cut,
					 time_ns);
	}
}
