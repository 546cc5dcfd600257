/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses the service's JSON with json-c. Ignores members that are missing or of another type. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/sites.h"
#include "collections/grow.h"
#include "base/number.h"
#include "capture/calls/wait_calls.h"
#include "top/sample.h"

#define DEPTH_MAX 12
#define NAME_BYTES 1024

/* --- members --- */

static struct json_object *member(const struct json_object *object, const char *name)
{
	struct json_object *found;

	return json_object_is_type(object, json_type_object) &&
			       json_object_object_get_ex(object, name, &found)
		       ? found
		       : NULL;
}

static uint64_t number(const struct json_object *object, const char *name)
{
	struct json_object *found = member(object, name);

	return json_object_is_type(found, json_type_int) ? json_object_get_uint64(found) : 0;
}

/* NULL if absent. */
static const char *text(const struct json_object *object, const char *name)
{
	struct json_object *found = member(object, name);

	return json_object_is_type(found, json_type_string) ? json_object_get_string(found) : NULL;
}

static size_t list_length(const struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* NULL if absent. */
static struct json_object *list_item(const struct json_object *list, size_t at)
{
	return at < list_length(list) ? json_object_array_get_idx(list, at) : NULL;
}

/* --- sums --- */

/* Returns the index of a word among `count` names; -1 if absent. */
static int find_word(const char *word, const char *(*name)(int number), int count)
{
	for (int i = 0; word && i < count; i++)
		if (!strcmp(word, name(i)))
			return i;
	return -1;
}

static const char *op_name(int op)
{
	return ledger_op_names[op];
}

static const char *method_name(int method)
{
	return ledger_method_name(method);
}

static struct ledger_counts counts_of(const struct json_object *object)
{
	return (struct ledger_counts) {
		.count = number(object, "count"),
		.errors = number(object, "errors"),
		.bytes = number(object, "bytes"),
		.fetched_bytes = number(object, "fetched_bytes"),
		.created_bytes = number(object, "created_bytes"),
		.read_for_write_bytes = number(object, "read_for_write_bytes"),
		.time_ns = number(object, "time_ns"),
		.major_faults = number(object, "major_faults"),
	};
}

static int take_sums(struct ledger_sums *sums, const struct json_object *object)
{
	struct json_object *methods = member(object, "methods");

	for (size_t i = 0; i < list_length(methods); i++) {
		struct json_object *method = json_object_array_get_idx(methods, i);
		struct json_object *classes = member(method, "latencies");
		bool has_classes = list_length(classes) == LEDGER_LATENCIES;
		struct ledger_counts counts = counts_of(method);
		int op = find_word(text(method, "op"), op_name, LEDGER_OPS);
		int which = find_word(text(method, "method"), method_name, METHOD_NONE + 1);
		struct ledger_cell *cell;

		if (op < 0 || which < 0)
			continue; /* from a later version */
		cell = sums_cell(sums, op, which, has_classes);
		if (!cell)
			return -ENOMEM;
		sums_add(&cell->counts, &counts);
		for (size_t c = 0; has_classes && cell->latencies && c < LEDGER_LATENCIES; c++)
			cell->latencies[c] +=
				json_object_get_uint64(json_object_array_get_idx(classes, c));
	}
	return 0;
}

/* --- things --- */

static int add_thing(struct top_sample *sample, enum top_subject subject,
		     const struct json_object *object, const struct top_thing *thing)
{
	struct top_things *things = &sample->of[subject];
	struct top_thing *added;

	if (!GROW(things->all, things->room, things->count + 1))
		return -ENOMEM;
	added = &things->all[things->count++];
	*added = *thing;
	if (!added->name)
		added->name = "";
	return take_sums(&added->sums, object);
}

static void take_labels(struct top_thing *thing, const struct json_object *job)
{
	for (int i = 0; i < TOP_LABELS; i++)
		thing->labels[i] = text(job, top_label_names[i]);
}

/* Finds the task number of a Slurm step and returns its length; 0: the cgroup is not a task's. */
static int slurm_task(const char *cgroup, const char **task)
{
	const char *at = cgroup ? strstr(cgroup, "/task_") : NULL;

	*task = at ? at + strlen("/task_") : "";
	return strcspn(*task, "/");
}

/* Returns a readable name of a job. The text becomes a member of the object, which owns it. */
static const char *name_job(struct json_object *job)
{
	const char *slurm_job = text(job, "slurm_job"), *step = text(job, "slurm_step");
	const char *slurm_name = text(job, "slurm_name"), *namespace = text(job, "namespace");
	const char *pod = text(job, "pod"), *pod_uid = text(job, "pod_uid");
	const char *container = text(job, "container"), *id = text(job, "container_id");
	const char *task;
	int task_length = slurm_task(text(job, "cgroup"), &task);
	char name[NAME_BYTES];
	struct json_object *own;

	if (slurm_job)
		snprintf(name, sizeof(name), "slurm %s%s%s%s%.*s%s%s", slurm_job, step ? "." : "",
			 step ? step : "", task_length ? " task " : "", task_length, task,
			 slurm_name ? " " : "", slurm_name ? slurm_name : "");
	else if (pod)
		snprintf(name, sizeof(name), "pod %s%s%s%s%s", namespace ? namespace : "",
			 namespace ? "/" : "", pod, container ? " " : "",
			 container ? container : "");
	else if (container || id)
		snprintf(name, sizeof(name), "%s%s%scontainer %.*s", pod_uid ? "pod " : "",
			 pod_uid ? pod_uid : "", pod_uid ? " " : "",
			 container ? (int)sizeof(name) : 12, container ? container : id);
	else
		return text(job, "cgroup");
	own = json_object_new_string(name);
	if (!own || json_object_object_add(job, "name", own)) {
		json_object_put(own);
		return text(job, "cgroup");
	}
	return text(job, "name");
}

/* Takes the oldest operation in flight. The text is stored in the JSON object, which owns it. */
static void take_in_flight(struct top_thing *thing, struct json_object *operation)
{
	const char *op = text(operation, "op"), *path = text(operation, "path");
	struct json_object *own;
	char what[NAME_BYTES];

	if (!op)
		return;
	snprintf(what, sizeof(what), "%s%s%s", op, path ? " " : "", path ? path : "");
	own = json_object_new_string(what);
	if (!own || json_object_object_add(operation, "what", own)) {
		json_object_put(own);
		return;
	}
	thing->waits_ns = number(operation, "age_ns");
	thing->waits_in = text(operation, "what");
}

static void take_threads(struct top_thing *thing, const struct json_object *threads)
{
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
		thing->thread_ns[state] = number(threads, thread_state_name(state));
}

static struct table_text text_of(const char *text)
{
	return (struct table_text) { text, text ? strlen(text) : 0 };
}

static const char *state_name(int state)
{
	return state == SAMPLE_IO ? SAMPLE_IO_NAME : thread_state_name(state);
}

/* Takes where a line is. The text is stored in the JSON object, which owns it. */
static void take_line(struct top_thing *thing, struct json_object *line)
{
	int state = find_word(text(line, "state"), state_name, SAMPLE_IO + 1);
	char location[LOCATION_BYTES];
	struct json_object *own;

	if (state < 0)
		return; /* from a later version */
	site_locate(location, site_base_name(text_of(text(line, "file"))), number(line, "line"),
		    text_of(text(line, "function")));
	own = json_object_new_string(location);
	if (!own || json_object_object_add(line, "at", own)) {
		json_object_put(own);
		return;
	}
	thing->lines[state] = (struct top_line) { text(line, "at"), number(line, "time_ns") };
}

static void take_lines(struct top_sample *sample, struct top_thing *thing,
		       const struct json_object *lines)
{
	sample->lines |= json_object_is_type(lines, json_type_array);
	for (size_t i = 0; i < list_length(lines); i++)
		take_line(thing, json_object_array_get_idx(lines, i));
}

static int take_processes(struct top_sample *sample, const struct json_object *job,
			  const char *job_name)
{
	struct json_object *list = member(job, "processes");
	int status = 0;

	for (size_t i = 0; i < list_length(list) && !status; i++) {
		struct json_object *process = json_object_array_get_idx(list, i);
		const char *command = text(process, "command");
		struct top_thing thing = {
			.key = { number(process, "pid"), number(process, "start_ns") },
			.name = command ? command : text(process, "program"),
			.job = job_name,
			.user = text(job, "user"),
			.pid = number(process, "pid"),
		};

		take_labels(&thing, job);
		take_in_flight(&thing, list_item(member(process, "in_flight"), 0));
		take_threads(&thing, member(process, "threads"));
		take_lines(sample, &thing, member(process, "lines"));
		status = add_thing(sample, TOP_PROCESSES, process, &thing);
	}
	return status;
}

static int take_files(struct top_sample *sample, const struct json_object *job,
		      const char *job_name)
{
	struct json_object *list = member(job, "files");
	int status = 0;

	for (size_t i = 0; i < list_length(list) && !status; i++) {
		struct json_object *file = json_object_array_get_idx(list, i);
		struct top_thing thing = {
			.key = { number(job, "id"), number(file, "dev"), number(file, "ino") },
			.name = text(file, "path"),
			.job = job_name,
			.user = text(job, "user"),
		};

		take_labels(&thing, job);
		status = add_thing(sample, TOP_FILES, file, &thing);
	}
	sample->unreported[TOP_FILES] += number(member(job, "other_files"), "folded");
	return status;
}

static int take_job(struct top_sample *sample, struct json_object *job)
{
	struct top_thing thing = { .key = { number(job, "id") },
				   .name = name_job(job),
				   .user = text(job, "user") };
	size_t reported = list_length(member(job, "processes"));
	uint64_t living = number(job, "living");
	int status;

	take_labels(&thing, job);
	take_in_flight(&thing, member(member(job, "in_flight"), "oldest"));
	take_threads(&thing, member(job, "threads"));
	status = add_thing(sample, TOP_JOBS, job, &thing);
	if (!status)
		status = take_processes(sample, job, thing.name);
	if (!status)
		status = take_files(sample, job, thing.name);
	sample->unreported[TOP_PROCESSES] += number_sub(living, reported);
	return status;
}

static int take_document(struct top_sample *sample)
{
	struct json_object *jobs = member(sample->document, "jobs");
	int status = 0;

	/* Not by the wall clock, which may be set. */
	sample->time_ns = number(sample->document, "read_ns");
	sample->readings = number(sample->document, "readings");
	if (!json_object_is_type(jobs, json_type_array) ||
	    !number(sample->document, "time_unix_ns") || (sample->readings && !sample->time_ns))
		return -EINVAL;
	sample->unreported[TOP_JOBS] = number(sample->document, "jobs_left_out");
	status = take_sums(&sample->node, member(sample->document, "node"));
	for (size_t i = 0; i < list_length(jobs) && !status; i++)
		status = take_job(sample, json_object_array_get_idx(jobs, i));
	for (int subject = 0; subject < TOP_SUBJECTS; subject++) {
		struct top_things *things = &sample->of[subject];

		if (things->count)
			qsort(things->all, things->count, sizeof(*things->all), top_compare_keys);
	}
	return status;
}

int top_sample_parse(struct top_sample *sample, const char *json, size_t length)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	int status;

	*sample = (struct top_sample) { 0 };
	if (!tokener)
		return -ENOMEM;
	if (length <= INT32_MAX)
		sample->document = json_tokener_parse_ex(tokener, json ? json : "", length);
	json_tokener_free(tokener);
	status = sample->document ? take_document(sample) : -EINVAL;
	if (status)
		top_sample_free(sample);
	return status;
}
