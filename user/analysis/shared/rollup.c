/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The roll-up, and the keys by which events are grouped. */
#include "analysis/shared/rollup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/events/path.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"
#include "base/units.h"

/* --- groups --- */

void rollup_init(struct rollup *rollup, struct arena *arena, const struct job *job,
		 const struct rollup_key *key, unsigned int options)
{
	*rollup = (struct rollup) {
		.job = job,
		.arena = arena,
		.key = key,
		.options = options,
		.paths.arena = arena,
	};
	map_init_in(&rollup->numbers, arena, 1, 1);
	map_init_in(&rollup->devices, arena, 1, 1);
}

bool rollup_make_room(struct rollup *rollup, size_t count)
{
	if (!ARENA_GROW(rollup->arena, rollup->groups, rollup->room, count))
		return false;
	if (count > rollup->count)
		rollup->count = count;
	return true;
}

struct tally *rollup_make_tally(struct rollup *rollup, uint32_t number, unsigned int measure)
{
	struct rollup_group *group = &rollup->groups[number];
	struct tally *tallies;
	size_t count = 0;

	if (group->place[measure])
		return &group->tallies[group->place[measure] - 1];
	for (int i = 0; i < MEASURES; i++)
		count += group->place[i] != 0;
	tallies = arena_resize(rollup->arena, group->tallies, count * sizeof(*tallies),
			       (count + 1) * sizeof(*tallies));
	if (!tallies)
		return NULL;
	group->tallies = tallies;
	group->place[measure] = count + 1;
	return &tallies[count];
}

int rollup_event(void *into, const struct event *event)
{
	struct rollup *rollup = into;
	uint32_t group;

	if (event->class == IO_NONE)
		return 0;
	group = rollup->key->group_of(rollup, event);
	if (group != ROLLUP_NONE && rollup_make_room(rollup, (size_t)group + 1))
		rollup_add(rollup, group, event);
	return arena_status(rollup->arena);
}

void rollup_add_series(struct rollup *rollup, uint32_t group, const struct event_series *series)
{
	const struct event *event = series->events;
	struct tally *tally = rollup_tally_of(rollup, group, rollup_measure(rollup, event));

	if (tally)
		event_series_add(tally, series);
	if (!rollup_has_time(rollup, event))
		return;
	tally = rollup_tally_of(rollup, group, MEASURE_IO);
	if (tally)
		event_series_add_time(tally, series);
}

bool rollup_used(const struct rollup *rollup, uint32_t group)
{
	return group < rollup->count && rollup->groups[group].tallies;
}

const struct tally *rollup_tally(const struct rollup *rollup, uint32_t number, unsigned int measure)
{
	static const struct tally empty;
	const struct rollup_group *group;

	if (number >= rollup->count)
		return &empty;
	group = &rollup->groups[number];
	if (!group->place[measure])
		return &empty;
	return &group->tallies[group->place[measure] - 1];
}

/* --- groups found by number or text --- */

static void add_name(struct rollup *rollup, uint64_t number, const char *bytes, size_t length)
{
	const char *kept = bytes ? arena_text(rollup->arena, bytes, length) : NULL;

	if (ARENA_GROW(rollup->arena, rollup->names, rollup->name_room, rollup->name_count + 1))
		rollup->names[rollup->name_count++] = (struct rollup_name) { kept, length, number };
}

/* Returns the group of a number, or of a text with that hash: texts with the same 64-bit hash,
 * under a seed of this run, are taken as equal. */
static uint32_t find_group(struct rollup *rollup, uint64_t number, const char *bytes, size_t length)
{
	uint64_t *found = map_find(&rollup->numbers, &number);
	bool added;

	if (found)
		return *found;
	if (rollup->name_count == ROLLUP_GROUPS_MAX) {
		rollup->others++;
		return ROLLUP_GROUPS_MAX;
	}
	found = map_add(&rollup->numbers, &number, &added);
	if (!found)
		return ROLLUP_NONE;
	*found = rollup->name_count;
	add_name(rollup, number, bytes, length);
	return *found;
}

static uint32_t find_text_group(struct rollup *rollup, const char *bytes, size_t length)
{
	return find_group(rollup, map_hash_bytes(&rollup->numbers, bytes, length), bytes, length);
}

/* Returns the cached group of a file or process; makes room for `count` of them. */
static uint32_t *known_group(struct rollup *rollup, uint32_t number, size_t count)
{
	return ARENA_GROW(rollup->arena, rollup->known, rollup->known_count, count)
		       ? &rollup->known[number]
		       : NULL;
}

static struct table_text name_of_text(struct rollup *rollup, uint32_t group)
{
	const struct rollup_name *name = &rollup->names[group];

	if (group >= rollup->name_count || !name->bytes)
		return (struct table_text) { NULL, 0 };
	return (struct table_text) { name->bytes, name->length };
}

static struct table_text name_of_number(struct rollup *rollup, uint32_t group)
{
	int length;

	if (group >= rollup->name_count)
		return (struct table_text) { NULL, 0 };
	length = snprintf(rollup->text, sizeof(rollup->text), "%" PRId64,
			  (int64_t)rollup->names[group].number);
	return (struct table_text) { rollup->text, length };
}

/* --- the keys --- */

static uint32_t group_of_job(struct rollup *rollup, const struct event *event)
{
	return 0;
}

static struct table_text name_of_job(struct rollup *rollup, uint32_t group)
{
	return (struct table_text) { "all", 3 };
}

static uint32_t group_of_method(struct rollup *rollup, const struct event *event)
{
	return event->method == METHOD_NONE ? ROLLUP_NONE : event->method;
}

static struct table_text name_of_method(struct rollup *rollup, uint32_t group)
{
	const char *name = method_names[group];

	return (struct table_text) { name, strlen(name) };
}

static uint32_t group_of_process(struct rollup *rollup, const struct event *event)
{
	return event->process;
}

static struct table_text name_of_process(struct rollup *rollup, uint32_t group)
{
	int length;

	if (group == PROCESS_UNKNOWN)
		return (struct table_text) { NULL, 0 };
	length = snprintf(rollup->text, sizeof(rollup->text), "%" PRIu32,
			  rollup->job->processes.processes[group].pid);
	return (struct table_text) { rollup->text, length };
}

static uint32_t group_of_file(struct rollup *rollup, const struct event *event)
{
	return event->file == FILE_NONE ? ROLLUP_NONE : event->file;
}

static struct table_text name_of_file(struct rollup *rollup, uint32_t group)
{
	return trace_text(file_table_name(&rollup->job->files, group));
}

#define NAME_LOST "(name lost)"

/* Activity on a directory itself, such as listing it, counts for that directory, not for its
 * parent. */
static uint32_t find_directory(struct rollup *rollup, uint32_t number)
{
	struct trace_string path = file_table_path(&rollup->job->files, number);

	if (file_table_is_lost(&rollup->job->files, number))
		return find_text_group(rollup, NAME_LOST, strlen(NAME_LOST));
	if (!S_ISDIR(rollup->job->files.files[number].mode))
		path.length = path_directory(path.bytes, path.length);
	return find_text_group(rollup, path.bytes, path.length);
}

static uint32_t find_device(struct rollup *rollup, uint32_t number)
{
	const struct file *file = &rollup->job->files.files[number];
	const char *host = rollup->job->traces[file->trace].header->host;
	const uint64_t key = (uint64_t)file->host << 32 | file->dev;
	char text[256 + 2 * UNITS_TEXT], device[UNITS_TEXT];
	int length = 0;
	uint64_t *first;
	bool added;

	if (rollup->job->many_hosts)
		length = snprintf(text, sizeof(text), "%.255s ", host);
	length += snprintf(text + length, sizeof(text) - length, "%s",
			   units_device(device, file->dev));
	first = map_add(&rollup->devices, &key, &added);
	if (first && added)
		*first = file->instance;
	else if (first && *first != file->instance) /* a later one with that number */
		length += snprintf(text + length, sizeof(text) - length, " (instance %u)",
				   file->instance);
	return find_text_group(rollup, text, length);
}

static uint32_t find_filesystem(struct rollup *rollup, uint32_t number)
{
	struct trace_string type = file_table_filesystem(&rollup->job->files, number);

	return find_text_group(rollup, type.bytes, type.length);
}

static uint32_t find_program(struct rollup *rollup, uint32_t number)
{
	struct trace_string comm = job_comm(rollup->job, number);

	return find_text_group(rollup, comm.bytes, comm.length);
}

static uint32_t find_rank(struct rollup *rollup, uint32_t number)
{
	int64_t rank = rollup->job->processes.processes[number].rank;

	return rank < 0 ? ROLLUP_NONE : find_group(rollup, rank, NULL, 0);
}

static uint32_t find_host(struct rollup *rollup, uint32_t number)
{
	uint32_t trace = rollup->job->processes.processes[number].trace;
	const char *host = rollup->job->traces[trace].header->host;

	return find_text_group(rollup, host, strlen(host));
}

/* Finds the group once per file or process. */
static uint32_t find_once(struct rollup *rollup, uint32_t number, size_t count,
			  uint32_t (*find)(struct rollup *, uint32_t))
{
	uint32_t *known = known_group(rollup, number, count);

	if (!known)
		return ROLLUP_NONE;
	if (!*known)
		*known = find(rollup, number) + 1;
	return *known - 1;
}

#define GROUP_OF_FILES(what)                                                                       \
	static uint32_t group_of_##what(struct rollup *rollup, const struct event *event)          \
	{                                                                                          \
		if (event->file == FILE_NONE)                                                      \
			return ROLLUP_NONE;                                                        \
		return find_once(rollup, event->file, rollup->job->files.count, find_##what);      \
	}

#define GROUP_OF_PROCESSES(what)                                                                   \
	static uint32_t group_of_##what(struct rollup *rollup, const struct event *event)          \
	{                                                                                          \
		return find_once(rollup, event->process, rollup->job->processes.count,             \
				 find_##what);                                                     \
	}

GROUP_OF_FILES(device)
GROUP_OF_FILES(filesystem)
GROUP_OF_PROCESSES(rank)
GROUP_OF_PROCESSES(host)

/* Work before the last exec belongs to the program that the process ran at the time. */
static uint32_t group_of_program(struct rollup *rollup, const struct event *event)
{
	const struct process_table *table = &rollup->job->processes;
	uint32_t earlier = table->processes[event->process].earlier;
	struct trace_string comm;

	if (!earlier || event->start >= table->programs[earlier - 1].until_ns)
		return find_once(rollup, event->process, table->count, find_program);
	comm = job_comm_at(rollup->job, event->process, event->start);
	return find_text_group(rollup, comm.bytes, comm.length);
}

/* Finds the directory searched by a call with a path that ended without a file. Cached, because the
 * same few paths recur. */
static uint32_t group_of_path(struct rollup *rollup, const struct event *event)
{
	const struct path_argument argument = path_argument_of(event);
	uint32_t *known = path_memory_of(&rollup->paths, &argument);
	char path[PATH_JOIN_BYTES];

	if (!known)
		return ROLLUP_NONE;
	if (!*known) {
		size_t length = path_join(&rollup->job->files, argument.trace, argument.dir,
					  argument.path, path);

		*known = find_text_group(rollup, path, path_directory(path, length)) + 1;
	}
	return *known - 1;
}

static uint32_t group_of_directory(struct rollup *rollup, const struct event *event)
{
	if (event->file != FILE_NONE)
		return find_once(rollup, event->file, rollup->job->files.count, find_directory);
	if (event_kind(event) == TRACE_SYSCALL_PATH && event_value(event, SYSCALL_PATH_PATH))
		return group_of_path(rollup, event);
	return ROLLUP_NONE;
}

/* Groups events by the second of the run in which they began. */
static uint32_t group_of_second(struct rollup *rollup, const struct event *event)
{
	return find_group(rollup, number_sub(event->start, rollup->job->start_ns) / 1000000000,
			  NULL, 0);
}

/* Groups events by the innermost open span. */
static uint32_t group_of_span(struct rollup *rollup, const struct event *event)
{
	const struct job *job = rollup->job;
	uint32_t label;

	if (event->flags & EVENT_SUMMED)
		return ROLLUP_NONE; /* its span is unknown */
	label = open_spans_label(&job->spans, &job->processes, event->process, event->thread);
	return label == SPAN_NONE ? ROLLUP_NONE : label;
}

static struct table_text name_of_span(struct rollup *rollup, uint32_t group)
{
	struct trace_string name = rollup->job->labels.labels[group].name;

	return (struct table_text) { name.bytes, name.length };
}

const struct rollup_key rollup_keys[] = {
	{ "job", "all I/O in one group", group_of_job, name_of_job, NULL },
	{ "method", "the access method", group_of_method, name_of_method, "(moves no bytes)" },
	{ "process", "the process, by its pid", group_of_process, name_of_process, NULL },
	{ "program", "the program, by its name in the kernel (comm)", group_of_program,
	  name_of_text, NULL },
	{ "rank", "the rank", group_of_rank, name_of_number, "(no rank)" },
	{ "host", "the host", group_of_host, name_of_text, NULL },
	{ "file", "the file", group_of_file, name_of_file, "(no file)" },
	{ "directory", "the directory: itself, of the file, or of the requested path",
	  group_of_directory, name_of_text, "(no directory)" },
	{ "device", "the device of the file, as major:minor", group_of_device, name_of_text,
	  "(no device)" },
	{ "filesystem", "the file system type of the file", group_of_filesystem, name_of_text,
	  "(no file system)" },
	{ "second", "the second of the run in which the operation began", group_of_second,
	  name_of_number, NULL },
	{ "span", "the innermost application span", group_of_span, name_of_span, "(no span)" },
	{ 0 },
};

const struct rollup_key *rollup_find_key(const char *name)
{
	for (const struct rollup_key *key = rollup_keys; key->name; key++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

struct table_text rollup_name(struct rollup *rollup, uint32_t group)
{
	return rollup->key->name_of(rollup, group);
}
