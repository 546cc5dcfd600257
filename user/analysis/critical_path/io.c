/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The time with I/O on the critical path. A wait inside an operation, such as one that locks the
 * file, is not I/O, and its row comes after that of the operation. So time is counted as it passes:
 * a heap has the threads on the path by when each begins or ends to count next.
 */
#include "analysis/critical_path/state.h"
#include "base/number.h"

#define FILES_MAX (1u << 24) /* further ones have no times of their own */
#define NEVER UINT64_MAX

static void add_file(struct critical_path *path, uint32_t file, unsigned int class,
		     uint64_t time_ns)
{
	if (file < FILES_MAX && ARENA_GROW(path->arena, path->files, path->file_room, file + 1))
		path->files[file][class] += time_ns;
}

/* Adds the time of a class up to now. */
static void count_class(struct critical_path *path, unsigned int class)
{
	struct path_io *io = &path->io[class];
	const uint64_t until_ns =
		io->threads ? path->now_ns : number_min(path->now_ns, io->other_end_ns);

	io->time_ns += number_sub(until_ns, io->counted_ns);
	io->counted_ns = path->now_ns;
}

void critical_path_io_other(struct critical_path *path, unsigned int class, uint32_t file,
			    uint64_t from_ns, uint64_t until_ns)
{
	add_file(path, file, class, until_ns - from_ns);
	count_class(path, class);
	path->io[class].other_end_ns = number_max(path->io[class].other_end_ns, until_ns);
}

/* --- threads by when they change --- */

static uint64_t change_at(const struct critical_path *path, size_t slot)
{
	return path->threads[path->changes[slot]].change_ns;
}

static void put(struct critical_path *path, size_t slot, uint32_t number)
{
	path->changes[slot] = number;
	path->threads[number].slot = slot;
}

static void set_change(struct critical_path *path, uint32_t number, uint64_t change_ns)
{
	size_t slot = path->threads[number].slot;

	if (!slot && change_ns == NEVER)
		return;
	if (!slot &&
	    !ARENA_GROW(path->arena, path->changes, path->change_room, path->change_count + 2))
		return;
	if (!slot)
		slot = ++path->change_count;
	path->threads[number].change_ns = change_ns;
	for (; slot > 1 && change_at(path, slot / 2) > change_ns; slot /= 2)
		put(path, slot, path->changes[slot / 2]);
	for (size_t child; (child = 2 * slot) <= path->change_count; slot = child) {
		if (child < path->change_count &&
		    change_at(path, child + 1) < change_at(path, child))
			child++;
		if (change_at(path, child) >= change_ns)
			break;
		put(path, slot, path->changes[child]);
	}
	put(path, slot, number);
}

/* --- operations of threads on the path --- */

void critical_path_io_stop(struct critical_path *path, uint32_t number)
{
	struct path_thread *thread = &path->threads[number];
	const uint64_t time_ns = path->now_ns - thread->counted_ns;

	if (!thread->counts)
		return;
	count_class(path, thread->op_class);
	path->io[thread->op_class].threads--;
	thread->counts = false;
	thread->io_ns += time_ns;
	add_file(path, thread->op_file, thread->op_class, time_ns);
}

void critical_path_io_resume(struct critical_path *path, uint32_t number)
{
	struct path_thread *thread = &path->threads[number];
	const uint64_t end_ns = number_min(thread->op_end_ns, thread->until_ns);
	uint64_t change_ns = NEVER;

	if (end_ns > path->now_ns && thread->wait_end_ns <= path->now_ns) {
		count_class(path, thread->op_class);
		path->io[thread->op_class].threads++;
		thread->counts = true;
		thread->counted_ns = path->now_ns;
		change_ns = end_ns;
	} else if (end_ns > thread->wait_end_ns && end_ns > path->now_ns) {
		change_ns = thread->wait_end_ns;
	}
	set_change(path, number, change_ns);
}

void critical_path_io_renew(struct critical_path *path, uint32_t number)
{
	critical_path_io_stop(path, number);
	critical_path_io_resume(path, number);
}

bool critical_path_io_is_only(const struct critical_path *path, uint32_t number, uint64_t until_ns)
{
	const struct path_thread *thread = &path->threads[number];
	const struct path_io *io = &path->io[thread->op_class];
	const size_t first = thread->slot == 1 ? 2 : 1, last = thread->slot == 1 ? 3 : 1;

	for (size_t slot = first; slot <= last && slot <= path->change_count; slot++)
		if (change_at(path, slot) < until_ns)
			return false;
	return io->threads == thread->counts && io->other_end_ns <= path->now_ns;
}

void critical_path_io_add(struct critical_path *path, uint32_t number, uint64_t time_ns)
{
	struct path_thread *thread = &path->threads[number];

	count_class(path, thread->op_class);
	path->io[thread->op_class].time_ns += time_ns;
	thread->io_ns += time_ns;
	add_file(path, thread->op_file, thread->op_class, time_ns);
}

void critical_path_io_advance(struct critical_path *path, uint64_t now_ns)
{
	while (path->change_count && change_at(path, 1) <= now_ns && change_at(path, 1) != NEVER) {
		path->now_ns = number_max(path->now_ns, change_at(path, 1));
		critical_path_io_renew(path, path->changes[1]);
	}
	path->now_ns = number_max(path->now_ns, now_ns);
}

void critical_path_io_end(struct critical_path *path)
{
	critical_path_io_advance(path, path->job->end_ns);
	for (unsigned int i = 0; i < IO_CLASS_COUNT; i++)
		count_class(path, i);
}
