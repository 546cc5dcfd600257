/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of jobs: those with the most time individually, all others together; and the file systems
 * they are on.
 */
#include "monitor/ledger/ledger_state.h"

#include <stdlib.h>
#include <string.h>

/* --- names --- */

/* Returns the number of the last slot, which is not counted. It stands for file systems without a
 * slot and for unknown ones, such as those of files whose names were dropped. */
static uint32_t other_file_system(struct ledger *ledger)
{
	strcpy(ledger->node.file_systems[LEDGER_FILE_SYSTEMS_MAX - 1].type, LEDGER_OTHER);
	return LEDGER_FILE_SYSTEMS_MAX - 1;
}

/* Returns the number of a file system. */
static uint32_t find_file_system(struct ledger *ledger, const struct ledger_file_name *name)
{
	struct ledger_node *node = &ledger->node;
	struct ledger_file_system *system;
	uint32_t i;

	for (i = 0; i < node->file_system_count; i++) {
		system = &node->file_systems[i];
		if (system->dev == name->dev &&
		    !strncmp(system->type, name->filesystem, sizeof(system->type)))
			return i;
	}
	if (i == LEDGER_FILE_SYSTEMS_MAX - 1 ||
	    !ledger_take_series(ledger, NULL, ledger->options.costs.file_system, false))
		return other_file_system(ledger);
	system = &node->file_systems[node->file_system_count++];
	system->dev = name->dev;
	memcpy(system->type, name->filesystem, strnlen(name->filesystem, sizeof(system->type)));
	return i;
}

void ledger_name_file(struct ledger *ledger, const struct ledger_file_name *name)
{
	size_t bytes = name->path_bytes, cut = 0;
	struct file_name known = {
		.id = name->id,
		.dev = name->dev,
		.generation = name->generation,
		.instance = name->instance,
		.ino = name->ino,
	};

	if (bytes >= LEDGER_PATH_BYTES)
		cut = bytes - (LEDGER_PATH_BYTES - 1);
	known.file_system = find_file_system(ledger, name);
	known.path = strndup(name->path + cut, bytes - cut);
	file_names_set(ledger->file_names, &known);
}

/* --- the files of a job --- */

static bool is_file(const struct ledger_file *file, const struct file_name *name)
{
	return file->path && file->ino == name->ino && file->dev == name->dev &&
	       file->generation == name->generation && file->instance == name->instance;
}

/* Folds a file into the others, which frees its slot. */
static void fold(struct ledger_job *job, struct ledger_file *file)
{
	if (!file->path)
		return;
	sums_merge(&job->other_files, &file->sums);
	job->other_file_count++;
	sums_free(&file->sums);
	free(file->path);
	*file = (struct ledger_file) { 0 };
}

/* Returns a new slot; NULL if there are enough, or out of memory. */
static struct ledger_file *new_slot(struct ledger_job *job)
{
	struct ledger_file *files;

	if (job->file_count == LEDGER_FILES_MAX)
		return NULL;
	files = realloc(job->files, (job->file_count + 1) * sizeof(*files));
	if (!files)
		return NULL;
	job->files = files;
	files[job->file_count] = (struct ledger_file) { 0 };
	return &files[job->file_count++];
}

/* Returns the file's slot: its own, else a free one, else that of the file with the least time;
 * NULL if out of memory. */
static struct ledger_file *find_file(struct ledger_job *job, const struct file_name *name)
{
	struct ledger_file *slot = NULL, *added;

	for (unsigned int i = 0; i < job->file_count; i++) {
		struct ledger_file *file = &job->files[i];

		if (is_file(file, name))
			return file;
		if (!slot || (slot->path && (!file->path || file->time_ns < slot->time_ns)))
			slot = file;
	}
	added = slot && !slot->path ? NULL : new_slot(job);
	slot = added ? added : slot;
	if (!slot)
		return NULL;
	fold(job, slot);
	slot->path = strdup(name->path);
	if (!slot->path)
		return NULL;
	slot->ino = name->ino;
	slot->dev = name->dev;
	slot->generation = name->generation;
	slot->instance = name->instance;
	return slot;
}

void ledger_add_file(struct ledger *ledger, struct ledger_job *job,
		     const struct ledger_added *added)
{
	const struct file_name *name;
	struct ledger_file *file;
	uint32_t system;

	if (!added->file)
		return;
	name = file_names_find(ledger->file_names, added->file);
	system = name ? name->file_system : other_file_system(ledger);
	ledger_put(&ledger->node.file_systems[system].sums, added, false);
	file = name ? find_file(job, name) : NULL;
	if (!file) {
		ledger_put(&job->other_files, added, false);
		return;
	}
	file->time_ns += added->counts.time_ns;
	ledger_put(&file->sums, added, false);
}

void ledger_add_unattributed(struct ledger *ledger, uint64_t fetched_bytes, uint64_t created_bytes)
{
	ledger->node.unattributed_fetched_bytes += fetched_bytes;
	ledger->node.unattributed_created_bytes += created_bytes;
}
