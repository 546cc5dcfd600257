/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes the paths given to calls absolute. */
#include "analysis/events/path.h"

#include <string.h>

#define SLOTS 16384 /* a power of two */

static size_t append(char *out, size_t used, const char *bytes, size_t length)
{
	size_t room = PATH_JOIN_BYTES - 1 - used;

	if (length > room)
		length = room;
	memcpy(out + used, bytes, length);
	return used + length;
}

size_t path_join(const struct file_table *files, uint32_t trace, uint64_t dir, uint64_t path,
		 char out[PATH_JOIN_BYTES])
{
	struct trace_string given = trace_reader_string(files->traces[trace], path);
	size_t used = 0;

	if (!given.length || given.bytes[0] != '/') {
		uint32_t file = file_table_find(files, trace, dir);
		struct trace_string base = file_table_name(files, file);

		used = append(out, used, base.bytes, base.length);
		if (used && given.length && out[used - 1] != '/')
			used = append(out, used, "/", 1);
	}
	used = append(out, used, given.bytes, given.length);
	out[used] = '\0';
	return used;
}

size_t path_base(const char *path, size_t length)
{
	const char *slash = length ? memrchr(path, '/', length) : NULL;

	return slash ? slash + 1 - path : 0;
}

size_t path_directory(const char *path, size_t length)
{
	size_t base = path_base(path, length);

	return base > 1 ? base - 1 : base;
}

bool path_begins(const char *path, size_t length, const char *start)
{
	size_t start_length = strlen(start);

	return length >= start_length && !memcmp(path, start, start_length);
}

bool path_ends(const char *path, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	return length >= end_length && !memcmp(path + length - end_length, end, end_length);
}

static size_t slot_of(const struct path_argument *argument)
{
	return (argument->path * 31 + argument->dir) & (SLOTS - 1);
}

uint32_t *path_memory_of(struct path_memory *memory, const struct path_argument *argument)
{
	struct path_slot *slot;

	if (!memory->slots)
		memory->slots = arena_alloc(memory->arena, SLOTS * sizeof(*memory->slots));
	if (!memory->slots)
		return NULL;
	slot = &memory->slots[slot_of(argument)];
	if (slot->path != argument->path || slot->dir != argument->dir ||
	    slot->trace != argument->trace || argument->path > UINT32_MAX ||
	    argument->dir > UINT32_MAX) /* hostile: not cached */
		*slot = (struct path_slot) { argument->path, argument->dir, argument->trace, 0 };
	return &slot->led_to;
}

void path_memory_fetch(const struct path_memory *memory, const struct event *event)
{
	struct path_argument argument;

	if (!memory->slots || event_kind(event) != TRACE_SYSCALL_PATH)
		return;
	argument = path_argument_of(event);
	__builtin_prefetch(&memory->slots[slot_of(&argument)]);
}
