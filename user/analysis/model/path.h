/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paths that calls were given, made absolute. Knows nothing of what the calls did.
 */
#ifndef FAULTLINE_PATH_H
#define FAULTLINE_PATH_H

#include "analysis/model/event.h"

#define PATH_JOIN_BYTES 16384 /* more than the kernel takes twice over */

/*
 * The path with string id `path` of a trace, seen from the directory with file id `dir`: as given
 * when it is absolute or the directory is not known, the directory's own when it is empty. Nothing
 * is resolved: "..", "." and symbolic links stay as they are. Writes at most PATH_JOIN_BYTES with a
 * NUL at the end, and returns the length without it; only a hostile trace has longer ones, which
 * are cut.
 */
size_t path_join(const struct file_table *files, uint32_t trace, uint64_t dir, uint64_t path,
		 char out[PATH_JOIN_BYTES]);

/* What a call asked for that named a path, by the ids in its row. */
struct path_asked {
	uint64_t dir, path;
	uint32_t trace;
};

/* That of an event of TRACE_SYSCALL_PATH. */
static inline struct path_asked path_asked_by(const struct event *event)
{
	return (struct path_asked) { .trace = event->block->trace,
				     .dir = event_value(event, SYSCALL_PATH_DIR),
				     .path = event_value(event, SYSCALL_PATH_PATH) };
}

/* The same names are asked for again and again: what some of them led to lately. All zeros at the
 * start. */
struct path_memory {
	struct path_slot {
		uint32_t path, dir, trace; /* narrow: what calls ask for is looked up each time */
		uint32_t led_to;	   /* plus 1; 0: free */
	} * slots;
};

/* Where what a path led to stands, plus 1: 0, to be set, if it is not known. NULL when memory is
 * out. */
uint32_t *path_memory_of(struct path_memory *memory, const struct path_asked *asked);
/* Has the processor fetch what is known of an event's path, if it names one. */
void path_memory_fetch(const struct path_memory *memory, const struct event *event);
void path_memory_free(struct path_memory *memory);

#define PATHS_AHEAD 32 /* events */

/* Tells of the events that are asked about, one after the other: what the memory has of their paths
 * is fetched ahead, as none is near another. Returns what `tell` returned. */
static inline int path_memory_tell(const struct path_memory *memory, const struct event *events,
				   size_t count, bool (*is_asked)(const struct event *event),
				   int (*tell)(void *state, const struct event *event), void *state)
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
			status = tell(state, ahead[i]);
	}
	return status;
}

/* Where its last part begins: 3 of "/a/b", 0 of "b". */
size_t path_base(const char *path, size_t length);
/* Length of the directory part of a path: "/a" for "/a/b", "/" for "/b", 0 for "b". */
size_t path_directory(const char *path, size_t length);
/* Whether it begins with `start`, byte by byte. */
bool path_begins(const char *path, size_t length, const char *start);

#endif
