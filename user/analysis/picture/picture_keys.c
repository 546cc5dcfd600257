/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Weights and names of the subjects of pictures, by key. */
#include "analysis/picture/picture_keys.h"

#include <errno.h>
#include <string.h>

#include "analysis/devices/devices.h"
#include "analysis/files/files.h"
#include "analysis/phases/spans.h"
#include "analysis/processes/processes.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

/* --- weights --- */

static uint64_t weigh_operation(const struct results *results, uint32_t number)
{
	const struct operation *operation = &results->job->operations[number];

	/* Dirtied pages are reported with the faults and calls that dirtied them. */
	if (operation->family == TRACE_STORES)
		return 0;
	/* Operations that take no time count, too. */
	return number_add(operation->seen.thread_time_ns, operation->seen.count);
}

static uint64_t weigh_file(const struct results *results, uint32_t number)
{
	struct file_view view;

	if (!files_used(results, number, &view))
		return 0;
	return number_add(number_add(view.time_ns, view.fetched_bytes >> 20), 1);
}

static uint64_t weigh_process(const struct results *results, uint32_t number)
{
	return processes_tally(results, number, MEASURE_IO)->thread_time_ns;
}

static uint64_t weigh_span(const struct results *results, uint32_t number)
{
	uint64_t time_ns, count = spans_of_label(results, number, &time_ns);

	return number_add(time_ns, count);
}

static size_t count_operations(const struct results *results)
{
	return results->job->operation_count;
}

static size_t count_files(const struct results *results)
{
	return files_count(results);
}

static size_t count_processes(const struct results *results)
{
	return results->job->processes.count;
}

static size_t count_labels(const struct results *results)
{
	return results->job->labels.count;
}

/* --- names --- */

#define NAME_BYTES_MAX 4096

static int set_text(struct arena *arena, struct table_text *text, const char *bytes, size_t length)
{
	length = number_min(length, NAME_BYTES_MAX);
	*text = (struct table_text) { NULL, 0 };
	if (!bytes)
		return 0;
	*text = (struct table_text) { arena_text(arena, bytes, length), length };
	return text->bytes ? 0 : -ENOMEM;
}

static int set_string(struct arena *arena, struct table_text *text, struct trace_string from)
{
	return set_text(arena, text, from.length ? from.bytes : NULL, from.length);
}

static int name_operation(struct arena *arena, struct picture_name *name,
			  const struct results *results, uint64_t number)
{
	const struct operation *operation = &results->job->operations[number];
	int status = set_text(arena, &name->text, operation->name, strlen(operation->name));

	return status ? status
		      : set_text(arena, &name->more, operation->layer, strlen(operation->layer));
}

static int name_file(struct arena *arena, struct picture_name *name, const struct results *results,
		     uint64_t number)
{
	struct file_view view;

	if (!files_used(results, number, &view))
		return 0;
	if (view.known)
		units_device(name->dev, view.dev);
	name->host = view.host;
	name->ino = view.ino == TABLE_NO_UINT ? 0 : view.ino;
	name->instance = view.instance == TABLE_NO_UINT ? 0 : view.instance;
	return set_text(arena, &name->text, view.path.bytes, view.path.length);
}

static int name_process(struct arena *arena, struct picture_name *name,
			const struct results *results, uint64_t number)
{
	const struct job *job = results->job;
	const struct process *process = &job->processes.processes[number];

	name->host = job->traces[process->trace].header->host;
	name->pid = process->pid;
	name->rank = process->rank;
	name->start_ns = number_sub(process->start_ns, job->start_ns);
	return set_string(arena, &name->text, job_comm(job, number));
}

static int name_rank(struct arena *arena, struct picture_name *name, const struct results *results,
		     uint64_t number)
{
	name->rank = number;
	return 0;
}

static int name_label(struct arena *arena, struct picture_name *name, const struct results *results,
		      uint64_t number)
{
	const struct label *label = &results->job->labels.labels[number];
	int status = set_string(arena, &name->text, label->name);

	return status ? status : set_string(arena, &name->more, label->category);
}

static const char *host_named(const struct job *job, uint32_t host)
{
	for (size_t i = 0; i < job->trace_count; i++)
		if (job->traces[i].host == host)
			return job->traces[i].header->host;
	return NULL;
}

static int name_device(struct arena *arena, struct picture_name *name,
		       const struct results *results, uint64_t number)
{
	struct device_view view;

	if (devices_view(results, number, &view)) {
		units_device(name->dev, view.dev);
		name->host = host_named(results->job, view.host);
		name->instance = device_instance(view.device);
	}
	return 0;
}

static int name_total(struct arena *arena, struct picture_name *name, const struct results *results,
		      uint64_t number)
{
	const char *text = totals_group(number);

	return set_text(arena, &name->text, text, strlen(text));
}

const struct picture_key_rule picture_keys[PICTURE_KEYS] = {
	[PICTURE_BY_PART] = { 0 },
	[PICTURE_BY_OPERATION] = { 48, count_operations, weigh_operation, name_operation },
	[PICTURE_BY_FILE] = { 96, count_files, weigh_file, name_file },
	[PICTURE_BY_PROCESS] = { 48, count_processes, weigh_process, name_process },
	[PICTURE_BY_RANK] = { 48, NULL, NULL, name_rank },
	[PICTURE_BY_SPAN] = { 24, count_labels, weigh_span, name_label },
	[PICTURE_BY_DEVICE] = { PICTURE_DEVICES, NULL, NULL, name_device },
	[PICTURE_BY_ROWS] = { .name = name_total },
};
