/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The ledger: opening, closing and booking. */
#include "monitor/ledger/ledger_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/host.h"

#define FILE_NAMES_MIN 32768

int ledger_open(struct ledger **out, const struct ledger_options *options)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return -ENOMEM;
	ledger->options = *options;
	ledger->file_names = file_names_open(FILE_NAMES_MIN);
	if (!ledger->file_names) {
		free(ledger);
		return -ENOMEM;
	}
	pthread_mutex_init(&ledger->lock, NULL);
	*out = ledger;
	return 0;
}

void ledger_close(struct ledger *ledger)
{
	if (!ledger)
		return;
	ledger_forget_ended(ledger, UINT64_MAX);
	ledger_free_jobs(ledger);
	sums_free(&ledger->node.sums);
	sums_free(&ledger->node.folded_counts);
	sums_free(&ledger->node.folded_latencies);
	for (unsigned int i = 0; i < LEDGER_FILE_SYSTEMS_MAX; i++)
		sums_free(&ledger->node.file_systems[i].sums);
	free(ledger->node.devices);
	free(ledger->sources);
	ledger_forget_in_flight(ledger);
	arena_free(&ledger->lines);
	file_names_close(ledger->file_names);
	pthread_mutex_destroy(&ledger->lock);
	free(ledger);
}

void ledger_lock(struct ledger *ledger)
{
	pthread_mutex_lock(&ledger->lock);
}

bool ledger_lock_within(struct ledger *ledger, uint64_t max_ns)
{
	struct timespec until = host_after_ns(max_ns);

	if (!pthread_mutex_trylock(&ledger->lock))
		return true;
	if (!max_ns)
		return false;
	return !pthread_mutex_clocklock(&ledger->lock, CLOCK_MONOTONIC, &until);
}

void ledger_unlock(struct ledger *ledger)
{
	pthread_mutex_unlock(&ledger->lock);
}

const struct ledger_job *ledger_jobs(const struct ledger *ledger)
{
	return ledger->jobs;
}

const struct ledger_node *ledger_node(const struct ledger *ledger)
{
	return &ledger->node;
}

uint64_t ledger_readings(const struct ledger *ledger, uint64_t *last_ns)
{
	*last_ns = ledger->read_ns;
	return ledger->readings;
}

/* --- adding --- */

/* Adds to a program's counts or a job's latencies. A cell without series of its own is also added
 * to the folded sums. */
static void add_series(struct ledger *ledger, const struct ledger_job *job,
		       struct ledger_sums *sums, const struct ledger_added *added, bool latencies)
{
	const struct ledger_costs *costs = &ledger->options.costs;
	unsigned int cells = sums->count;
	struct ledger_cell *cell = ledger_put(sums, added, latencies);

	if (!cell)
		return;
	if (sums->count > cells)
		cell->folded = !ledger_take_series(
			ledger, job,
			latencies ? costs->latency : costs->cell(added->op, added->method),
			latencies);
	if (cell->folded)
		ledger_put(latencies ? &ledger->node.folded_latencies : &ledger->node.folded_counts,
			   added, latencies);
}

/* Finds the owner by `who` if the pid is unknown or incompletely known. */
static void find_by_who(struct ledger *ledger, const struct ledger_added *added,
			struct ledger_owner *owner)
{
	const struct ledger_who *who = added->who;
	bool whole = strcmp(who->cgroup, LEDGER_UNKNOWN) != 0;

	if (owner->process && owner->process->forked && whole)
		*owner = (struct ledger_owner) { 0 };
	if (!owner->job)
		*owner =
			ledger_find_begun(ledger, added->pid, who->start_ns, added->last_ns, whole);
	if (owner->job)
		return;
	owner->job = ledger_job_of(ledger, who->cgroup, who->uid, who->user, added->last_ns);
	if (owner->job)
		owner->command = ledger_command_of(owner->job, who->program, added->last_ns);
}

static struct ledger_owner find_owner(struct ledger *ledger, const struct ledger_added *added)
{
	struct ledger_owner owner = { 0 };

	if (added->pid)
		owner = ledger_find_owner(ledger, added->pid, added->start_ns, added->first_ns,
					  added->last_ns);
	if (added->who && !owner.several)
		find_by_who(ledger, added, &owner);
	if (!owner.job) {
		owner.job = ledger_unknown_job(ledger, added->last_ns);
		if (owner.job)
			owner.command =
				ledger_command_of(owner.job, LEDGER_UNKNOWN, added->last_ns);
	}
	return owner;
}

void ledger_add(struct ledger *ledger, const struct ledger_added *added)
{
	struct ledger_owner owner = find_owner(ledger, added);

	ledger_put(&ledger->node.sums, added, true);
	if (!owner.job || !strcmp(owner.job->labels.cgroup, LEDGER_UNKNOWN))
		ledger->node.uncertain_operations += added->counts.count;
	if (!owner.job)
		return;
	if (owner.job->last_ns < added->last_ns)
		owner.job->last_ns = added->last_ns;
	if (owner.command->last_ns < added->last_ns)
		owner.command->last_ns = added->last_ns;
	add_series(ledger, owner.job, &owner.job->sums, added, true);
	add_series(ledger, owner.job, &owner.command->sums, added, false);
	if (owner.process)
		ledger_put(&owner.process->sums, added, false);
	ledger_add_file(ledger, owner.job, added);
}

void ledger_add_throttled(struct ledger *ledger, const struct ledger_added *added)
{
	struct ledger_owner owner = find_owner(ledger, added);

	sums_add(&ledger->node.throttled, &added->counts);
	if (!owner.job)
		return;
	if (!owner.job->throttled.count)
		owner.job->throttled_folded = !ledger_take_series(
			ledger, owner.job, ledger->options.costs.throttled, false);
	sums_add(&owner.job->throttled, &added->counts);
	if (owner.job->throttled_folded)
		sums_add(&ledger->node.folded_throttled, &added->counts);
}

void ledger_add_span(struct ledger *ledger, uint32_t pid, uint64_t time_ns,
		     const struct ledger_span_name *name, uint64_t count, uint64_t lasted_ns)
{
	struct ledger_owner owner = ledger_find_owner(ledger, pid, 0, time_ns, time_ns);
	struct ledger_job *job = owner.job ? owner.job : ledger_unknown_job(ledger, time_ns);

	if (!job)
		return;
	ledger_put_span(ledger, job, time_ns, name, count, lasted_ns);
	if (job->last_ns < time_ns)
		job->last_ns = time_ns;
}

/* Takes a series when a job's threads are first in a state. */
static void add_states(struct ledger *ledger, struct ledger_job *job,
		       const uint64_t thread_ns[THREAD_STATE_COUNT])
{
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++) {
		if (!thread_ns[state])
			continue;
		if (!job->thread_ns[state] &&
		    !ledger_take_series(ledger, job, ledger->options.costs.thread_state, false))
			job->folded_states |= 1u << state;
		job->thread_ns[state] += thread_ns[state];
		if (job->folded_states & 1u << state)
			ledger->node.folded_thread_ns[state] += thread_ns[state];
		ledger->node.thread_ns[state] += thread_ns[state];
	}
}

void ledger_add_thread(struct ledger *ledger, uint32_t pid, uint64_t start_ns, uint64_t first_ns,
		       uint64_t last_ns, const uint64_t thread_ns[THREAD_STATE_COUNT])
{
	struct ledger_owner owner = ledger_find_owner(ledger, pid, start_ns, first_ns, last_ns);
	struct ledger_job *job = owner.job ? owner.job : ledger_unknown_job(ledger, last_ns);

	if (job)
		add_states(ledger, job, thread_ns);
	for (unsigned int state = 0; owner.process && state < THREAD_STATE_COUNT; state++)
		owner.process->thread_ns[state] += thread_ns[state];
}

size_t ledger_settle(struct ledger *ledger, uint64_t until_ns)
{
	ledger->readings++;
	ledger->read_ns = until_ns;
	ledger_forget_ended(ledger, until_ns);
	return ledger_retire(ledger, until_ns);
}
