/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the paths given to calls absolute. */
#pragma once

#include "analysis/events/event.h"

#define PATH_JOIN_BYTES 16384 /* more than twice the kernel's limit */

/*
 * Joins the path with string id `path` of a trace to the directory with file id `dir`: only the
 * path if it is absolute or the directory is unknown, only the directory if the path is empty.
 * Nothing is resolved: "..", "." and symbolic links stay as they are. Writes at most
 * PATH_JOIN_BYTES including the NUL, and returns the length without it; only hostile traces have
 * longer paths, which are cut.
 */
size_t path_join(const struct file_table *files, uint32_t trace, uint64_t dir, uint64_t path,
		 char out[PATH_JOIN_BYTES]);

/* The path that a call was given, by the ids in its row. */
struct path_argument {
	uint64_t dir, path;
	uint32_t trace;
};

/* Returns that of a TRACE_SYSCALL_PATH event. */
static inline struct path_argument path_argument_of(const struct event *event)
{
	return (struct path_argument) { .trace = event->block->trace,
					.dir = event_value(event, SYSCALL_PATH_DIR),
					.path = event_value(event, SYSCALL_PATH_PATH) };
}

/* Cache of what recent paths resolved to: paths recur. All zeros initially but for the arena. */
struct path_memory {
	struct arena *arena;
	struct path_slot {
		uint32_t path, dir, trace; /* narrow, as every call with a path looks here */
		uint32_t led_to;	   /* result plus 1; 0: free */
	} * slots;
};

/* Returns the cached result for a path, plus 1: 0, to be set, if it is unknown. NULL if out of
 * memory. */
uint32_t *path_memory_of(struct path_memory *memory, const struct path_argument *argument);
/* Prefetches the cache slot of an event's path, if it has one. */
void path_memory_fetch(const struct path_memory *memory, const struct event *event);

#define PATHS_AHEAD 32 /* events */

/* Calls `emit` for each event that `is_asked` accepts, in order, after prefetching the cache slots
 * of their paths, which are scattered. Returns the result of `emit`. */
static inline int path_memory_emit(const struct path_memory *memory, const struct event *events,
				   size_t count, bool (*is_asked)(const struct event *event),
				   int (*emit)(void *state, const struct event *event), void *state)
{
	const struct event *ahead[PATHS_AHEAD], *end = events + count;
	int status = 0;

	while (events < end && !status) {
		size_t some = 0;

		for (; events < end && some < PATHS_AHEAD; events++)
			if (is_asked(events)) {
				ahead[some++] = events;
				path_memory_fetch(memory, events);
			}
		for (size_t i = 0; i < some && !status; i++)
			status = emit(state, ahead[i]);
	}
	return status;
}

/* Returns the offset of the last component: 3 for "/a/b", 0 for "b". */
size_t path_base(const char *path, size_t length);
/* Returns the length of the directory part: "/a" for "/a/b", "/" for "/b", 0 for "b". */
size_t path_directory(const char *path, size_t length);
/* True if the path begins with `start`, or ends with `end`, byte for byte. */
bool path_begins(const char *path, size_t length, const char *start);
bool path_ends(const char *path, size_t length, const char *end);
