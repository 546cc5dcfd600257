/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the critical path begins: at the main threads of the run, or of each rank. */
#include "analysis/critical_path/state.h"

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

/* Notes which process started which. Not known of a pid that several processes had. */
static void find_parents(struct critical_path *path)
{
	const struct process *processes = path->job->processes.processes;
	bool added;

	for (size_t i = 1; i < path->process_count; i++) {
		const uint64_t key = critical_path_key(processes[i].trace, processes[i].pid);
		uint64_t *parent =
			has_no_parent(&processes[i]) ? NULL : map_add(&path->parents, &key, &added);

		if (parent)
			*parent = added ? processes[processes[i].parent].pid : 0;
	}
}

void critical_path_begin(void *state, const struct job *job, struct arena *arena)
{
	struct critical_path *path = state;

	path->job = job;
	path->arena = arena;
	map_init_in(&path->numbers, arena, 1, 1);
	map_init_in(&path->expected, arena, 1, 1);
	map_init_in(&path->parents, arena, 1, 1);
	for (int i = 0; i < PATH_STACKS; i++)
		critical_path_stacks_init(&path->stacks[i], arena);
	find_roots(path);
	find_parents(path);
	critical_path_locks_begin(path);
}
