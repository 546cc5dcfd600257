/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Jobs and the programs they run: created on demand, retired some time after their last process
 * ended.
 */
#include "monitor/ledger/ledger_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- labels --- */

const struct job_names *ledger_job_names(const struct ledger_job *job)
{
	static const struct job_names none;

	return job->names ? job->names : &none;
}

static const char *get_container(const struct ledger_job *job)
{
	return job->labels.container[0] ? job->labels.container
					: ledger_job_names(job)->text[JOB_CONTAINER];
}

#define LABEL(name, of)                                                                            \
	static const char *get_##name(const struct ledger_job *job)                                \
	{                                                                                          \
		return (of);                                                                       \
	}
LABEL(cgroup, job->labels.cgroup)
LABEL(namespace, ledger_job_names(job)->text[JOB_NAMESPACE])
LABEL(pod, ledger_job_names(job)->text[JOB_POD])
LABEL(pod_uid, job->labels.ids.pod)
LABEL(container_id, job->labels.ids.container)
LABEL(image, ledger_job_names(job)->text[JOB_IMAGE])
LABEL(slurm_job, job->labels.ids.slurm_job)
LABEL(slurm_step, job->labels.slurm_step)
LABEL(slurm_name, ledger_job_names(job)->text[JOB_SLURM_NAME])
LABEL(slurm_user, ledger_job_names(job)->text[JOB_SLURM_USER])
LABEL(user, job->user)

/* namespace, pod, container and image are those of kube_pod_info and kube_pod_container_info. */
const struct ledger_label ledger_labels[] = {
	{ "cgroup", get_cgroup },
	{ "namespace", get_namespace },
	{ "pod", get_pod },
	{ "pod_uid", get_pod_uid },
	{ "container", get_container },
	{ "container_id", get_container_id },
	{ "image", get_image },
	{ "slurm_job", get_slurm_job },
	{ "slurm_step", get_slurm_step },
	{ "slurm_name", get_slurm_name },
	{ "slurm_user", get_slurm_user },
	{ "user", get_user },
};
const size_t ledger_label_count = sizeof(ledger_labels) / sizeof(ledger_labels[0]);

/* --- creating --- */

static struct ledger_job *make_job(struct ledger *ledger, const struct job_labels *labels,
				   uint32_t uid, uint64_t time_ns)
{
	struct ledger_job *job = calloc(1, sizeof(*job));
	struct ledger_command *rest;

	if (!job)
		return NULL;
	job->id = ++ledger->job_ids;
	job->labels = *labels;
	job->uid = uid;
	job->start_ns = time_ns;
	job->last_ns = time_ns;
	rest = &job->commands[LEDGER_COMMANDS_MAX];
	strcpy(rest->name, LEDGER_OTHER);
	rest->used = true;
	if (ledger->last_job)
		ledger->last_job->next = job;
	else
		ledger->jobs = job;
	ledger->last_job = job;
	ledger->job_count++;
	return job;
}

/* Returns one of the two stand-in jobs. */
static struct ledger_job *special_job(struct ledger *ledger, struct ledger_job **job,
				      const char *cgroup, uint64_t time_ns)
{
	struct job_labels labels = { 0 };

	if (!*job) {
		strcpy(labels.cgroup, cgroup);
		*job = make_job(ledger, &labels, UINT32_MAX, time_ns);
	}
	return *job;
}

struct ledger_job *ledger_unknown_job(struct ledger *ledger, uint64_t time_ns)
{
	return special_job(ledger, &ledger->unknown, LEDGER_UNKNOWN, time_ns);
}

static struct ledger_job **chain_of(struct ledger *ledger, const char *cgroup, uint32_t uid)
{
	uint32_t hash = uid;

	for (; *cgroup; cgroup++) /* FNV-1a */
		hash = (hash ^ (unsigned char)*cgroup) * 0x01000193u;
	return &ledger->job_chains[(hash * 0x9e3779b1u) >> (32 - JOB_CHAINS_LOG)];
}

struct ledger_job *ledger_job_of(struct ledger *ledger, const char *cgroup, uint32_t uid,
				 const char *user, uint64_t time_ns)
{
	struct ledger_job **chain, *job;
	struct job_labels labels;

	job_labels_of(cgroup, &labels);
	chain = chain_of(ledger, labels.cgroup, uid);
	for (job = *chain; job; job = job->chain)
		if (job->uid == uid && !strcmp(job->labels.cgroup, labels.cgroup))
			return job;
	if (ledger->job_count >= LEDGER_JOBS_MAX) {
		ledger->node.jobs_folded++;
		return special_job(ledger, &ledger->other, LEDGER_OTHER, time_ns);
	}
	job = make_job(ledger, &labels, uid, time_ns);
	if (!job)
		return NULL;
	if (user)
		snprintf(job->user, sizeof(job->user), "%s", user);
	else
		snprintf(job->user, sizeof(job->user), "%u", uid);
	job->chain = *chain;
	*chain = job;
	return job;
}

struct ledger_command *ledger_command_of(struct ledger_job *job, const char *name, uint64_t time_ns)
{
	struct ledger_command *free_one = NULL;

	for (unsigned int i = 0; i < LEDGER_COMMANDS_MAX && strcmp(name, LEDGER_OTHER) != 0; i++) {
		struct ledger_command *command = &job->commands[i];

		if (command->used && !strncmp(command->name, name, LEDGER_COMMAND_BYTES - 1))
			return command;
		if (!command->used && !free_one)
			free_one = command;
	}
	if (!free_one)
		return &job->commands[LEDGER_COMMANDS_MAX];
	snprintf(free_one->name, sizeof(free_one->name), "%s", name);
	free_one->used = true;
	free_one->last_ns = time_ns;
	return free_one;
}

/* --- naming --- */

#define NAMES_ASKED_MAX 6
#define NAMES_AGAIN_NS 1000000000ull /* after the first time; then twice as long each time */

static struct ledger_process *living(const struct ledger_job *job)
{
	struct ledger_process *process = job->processes;

	while (process && process->end_ns)
		process = process->next;
	return process;
}

void ledger_ask_names(struct ledger *ledger, uint64_t now_ns, ledger_ask_fn *ask, void *context)
{
	for (struct ledger_job *job = ledger->jobs; job; job = job->next) {
		const struct ledger_process *process = living(job);

		if (job->names_asked >= NAMES_ASKED_MAX || now_ns < job->names_due_ns ||
		    !job_names_lack(&job->labels.ids, ledger_job_names(job)))
			continue;
		if (!ask(context, job, process ? process->pid : 0))
			break;
		job->names_due_ns = now_ns + (NAMES_AGAIN_NS << job->names_asked++);
	}
}

void ledger_name_job(struct ledger *ledger, uint64_t id, const struct job_names *names)
{
	static const struct job_names none;
	struct ledger_job *job = ledger->jobs;

	while (job && job->id != id)
		job = job->next;
	if (!job || !memcmp(names, &none, sizeof(none)))
		return;
	if (!job->names)
		job->names = calloc(1, sizeof(*job->names));
	if (!job->names)
		return;
	for (int i = 0; i < JOB_NAMES; i++)
		if (!job->names->text[i][0])
			memcpy(job->names->text[i], names->text[i], JOB_NAME_BYTES);
	for (struct ledger_process *process = job->processes; process; process = process->next)
		if (ledger->joined && !process->end_ns)
			ledger->joined(ledger->joined_context, process, job);
}

/* --- retiring --- */

static void retire_command(struct ledger *ledger, struct ledger_command *command)
{
	ledger_give_back(ledger, &command->sums, false);
	sums_free(&command->sums);
	*command = (struct ledger_command) { 0 };
}

static void free_job(struct ledger *ledger, struct ledger_job *job)
{
	ledger_give_back(ledger, &job->sums, true);
	if (job->throttled.count && !job->throttled_folded)
		ledger->node.series_used -= ledger->options.costs.throttled;
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
		if (job->thread_ns[state] && !(job->folded_states & 1u << state))
			ledger->node.series_used -= ledger->options.costs.thread_state;
	ledger_free_spans(ledger, job);
	for (unsigned int i = 0; i <= LEDGER_COMMANDS_MAX; i++)
		retire_command(ledger, &job->commands[i]);
	for (unsigned int i = 0; i < job->file_count; i++) {
		free(job->files[i].path);
		sums_free(&job->files[i].sums);
	}
	free(job->files);
	sums_free(&job->other_files);
	sums_free(&job->sums);
	free(job->names);
	free(job);
}

void ledger_free_jobs(struct ledger *ledger)
{
	struct ledger_job *next;

	for (struct ledger_job *job = ledger->jobs; job; job = next) {
		next = job->next;
		while (job->processes) {
			struct ledger_process *process = job->processes;

			job->processes = process->next;
			sums_free(&process->sums);
			free(process->command);
			free(process);
		}
		free_job(ledger, job);
	}
	ledger->jobs = ledger->last_job = NULL;
}

static void retire_commands(struct ledger *ledger, struct ledger_job *job, uint64_t until_ns)
{
	for (unsigned int i = 0; i < LEDGER_COMMANDS_MAX; i++) {
		struct ledger_command *command = &job->commands[i];

		if (command->used && !command->processes &&
		    ledger_has_exited(ledger, command->last_ns, until_ns))
			retire_command(ledger, command);
	}
}

/* Removes a job from its hash chain. */
static void leave_chain(struct ledger *ledger, const struct ledger_job *job)
{
	struct ledger_job **link = chain_of(ledger, job->labels.cgroup, job->uid);

	while (*link != job)
		link = &(*link)->chain;
	*link = job->chain;
}

size_t ledger_retire(struct ledger *ledger, uint64_t until_ns)
{
	struct ledger_job **link = &ledger->jobs, *job, *before = NULL;
	size_t retired = 0;

	while ((job = *link)) {
		/* The stand-in jobs stay. */
		if (job == ledger->unknown || job == ledger->other || job->processes ||
		    !ledger_has_exited(ledger, job->last_ns, until_ns)) {
			if (job != ledger->unknown)
				retire_commands(ledger, job, until_ns);
			ledger_retire_spans(ledger, job, until_ns);
			before = job;
			link = &job->next;
			continue;
		}
		*link = job->next;
		leave_chain(ledger, job);
		if (ledger->last_job == job)
			ledger->last_job = before;
		free_job(ledger, job);
		ledger->job_count--;
		ledger->node.jobs_ended++;
		retired++;
	}
	return retired;
}
