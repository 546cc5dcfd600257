/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes jobs as JSON, straight from the ledger. */
#include "monitor/service/jobs_json.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "capture/calls/wait_calls.h"
#include "capture/host/host.h"
#include "output/base/json.h"

/* --- members --- */

static void put_known(struct json *out, const char *name, bool known, uint64_t value)
{
	if (known)
		json_uint(out, name, value);
	else
		json_null(out, name);
}

/* Writes a text of arbitrary bytes; "" and NULL become null. */
static void put_text(struct json *out, const char *name, const char *text)
{
	json_literal(out, name, text && *text ? text : NULL);
}

/* --- counts --- */

static const struct {
	const char *name;
	size_t offset;
} count_members[] = {
	{ "count", offsetof(struct ledger_counts, count) },
	{ "errors", offsetof(struct ledger_counts, errors) },
	{ "bytes", offsetof(struct ledger_counts, bytes) },
	{ "fetched_bytes", offsetof(struct ledger_counts, fetched_bytes) },
	{ "created_bytes", offsetof(struct ledger_counts, created_bytes) },
	{ "read_for_write_bytes", offsetof(struct ledger_counts, read_for_write_bytes) },
	{ "major_faults", offsetof(struct ledger_counts, major_faults) },
	{ "time_ns", offsetof(struct ledger_counts, time_ns) },
};

static void put_counts(struct json *out, const struct ledger_counts *counts)
{
	for (size_t i = 0; i < sizeof(count_members) / sizeof(count_members[0]); i++)
		json_uint(out, count_members[i].name,
			  *(const uint64_t *)((const char *)counts + count_members[i].offset));
}

static void put_percentile(struct json *out, const char *name, const uint64_t *latencies,
			   unsigned int percent)
{
	uint64_t bound_ns = sums_percentile(latencies, percent);

	put_known(out, name, bound_ns != UINT64_MAX, bound_ns);
}

static void put_percentiles(struct json *out, const uint64_t *latencies)
{
	put_percentile(out, "p50_ns", latencies, 50);
	put_percentile(out, "p99_ns", latencies, 99);
}

/* Writes what was added in an interval, per second. */
static void put_rate(struct json *out, uint64_t interval_ns, struct ledger_counts added,
		     const uint64_t *latencies)
{
	if (!interval_ns) {
		json_null(out, "rate");
		return;
	}
	for (size_t i = 0; i < sizeof(count_members) / sizeof(count_members[0]); i++) {
		uint64_t *value = (uint64_t *)((char *)&added + count_members[i].offset);

		*value = (unsigned __int128)*value * 1000000000u / interval_ns;
	}
	json_begin(out, "rate");
	put_counts(out, &added);
	put_percentiles(out, latencies);
	json_end(out);
}

static void open_sums(struct json *out, const struct ledger_cell *cell)
{
	json_begin(out, NULL);
	json_literal(out, "op", ledger_op_names[cell->op]);
	json_literal(out, "method", ledger_method_name(cell->method));
}

/* Writes the count of each class. */
static void put_latencies(struct json *out, const uint64_t *latencies)
{
	if (!latencies) {
		json_null(out, "latencies");
		return;
	}
	json_begin_list(out, "latencies");
	for (unsigned int i = 0; i < LEDGER_LATENCIES; i++)
		json_uint(out, NULL, latencies[i]);
	json_end(out);
}

/* Writes sums by operation and method: totals and recent rates. */
static void put_methods(struct json *out, const struct ledger_sums *sums, const struct rates *rates,
			uint64_t job)
{
	json_begin_list(out, "methods");
	for (unsigned int i = 0; i < sums->count; i++) {
		const struct ledger_cell *cell = &sums->cells[i];
		uint64_t latencies[LEDGER_LATENCIES];
		struct ledger_counts added =
			rates_added(rates, job, cell->op, cell->method, latencies);

		open_sums(out, cell);
		put_counts(out, &cell->counts);
		put_percentiles(out, cell->latencies);
		put_latencies(out, cell->latencies);
		put_rate(out, rates_interval_ns(rates), added, cell->latencies ? latencies : NULL);
		json_end(out);
	}
	json_end(out);
}

/* The same without what is not kept for processes and files. */
static void put_sums(struct json *out, const struct ledger_sums *sums)
{
	json_begin_list(out, "methods");
	for (unsigned int i = 0; i < sums->count; i++) {
		open_sums(out, &sums->cells[i]);
		put_counts(out, &sums->cells[i].counts);
		json_end(out);
	}
	json_end(out);
}

static void put_throttled(struct json *out, const struct ledger_counts *throttled)
{
	json_begin(out, "throttled");
	json_uint(out, "count", throttled->count);
	json_uint(out, "time_ns", throttled->time_ns);
	json_end(out);
}

/* Writes the time of threads by state. */
static void put_threads(struct json *out, const uint64_t thread_ns[THREAD_STATE_COUNT])
{
	uint64_t all_ns = 0;

	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
		all_ns += thread_ns[state];
	if (!all_ns) {
		json_null(out, "threads");
		return;
	}
	json_begin(out, "threads");
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++)
		json_uint(out, thread_state_name(state), thread_ns[state]);
	json_end(out);
}

/* --- ranking --- */

struct ranked {
	uint64_t first, then; /* sort keys, both descending */
	const void *what;
};

/* Inserts one, keeping the `max` that rank highest, in order. */
static void rank(struct ranked *ranked, unsigned int *count, unsigned int max, struct ranked one)
{
	unsigned int at = *count;

	while (at && (ranked[at - 1].first < one.first ||
		      (ranked[at - 1].first == one.first && ranked[at - 1].then < one.then)))
		at--;
	if (at >= max)
		return;
	if (*count < max)
		++*count;
	memmove(&ranked[at + 1], &ranked[at], (*count - at - 1) * sizeof(*ranked));
	ranked[at] = one;
}

static void put_age(struct json *out, uint64_t start_ns, uint64_t now_ns)
{
	put_known(out, "age_ns", start_ns && start_ns <= now_ns, now_ns - start_ns);
}

/* --- operations in flight --- */

#define IN_FLIGHT_LISTED_MAX 8 /* listed for each process: the oldest */

static void put_in_flight(struct json *out, const struct ledger_in_flight *operation,
			  uint64_t now_ns)
{
	json_uint(out, "tid", operation->tid);
	put_text(out, "op", operation->op);
	put_text(out, "path", operation->path);
	put_age(out, operation->since_ns, now_ns);
	json_uint(out, "count", operation->count);
	json_flag(out, "before", operation->before);
}

static void put_in_flight_of_process(struct json *out, const struct ledger *ledger,
				     const struct ledger_process *process, uint64_t now_ns)
{
	size_t count;
	const struct ledger_in_flight *operations = ledger_in_flight(ledger, process, &count);

	json_begin_list(out, "in_flight");
	for (size_t i = 0; i < count && i < IN_FLIGHT_LISTED_MAX; i++) {
		json_begin(out, NULL);
		put_in_flight(out, &operations[i], now_ns);
		json_end(out);
	}
	json_end(out);
}

/* Writes how many operations a job's processes have in flight, and the oldest. */
static void put_in_flight_of_job(struct json *out, const struct ledger *ledger,
				 const struct ledger_job *job, uint64_t now_ns)
{
	const struct ledger_in_flight *oldest = NULL;
	const struct ledger_process *of = NULL;
	size_t all = 0;

	for (const struct ledger_process *process = job->processes; process;
	     process = process->next) {
		size_t count;
		const struct ledger_in_flight *first = ledger_in_flight(ledger, process, &count);

		if (process->end_ns || !count)
			continue;
		for (size_t i = 0; i < count; i++)
			all += first[i].count;
		if (!oldest || first->since_ns < oldest->since_ns) {
			oldest = first;
			of = process;
		}
	}
	json_begin(out, "in_flight");
	json_uint(out, "count", all);
	if (oldest) {
		json_begin(out, "oldest");
		json_uint(out, "pid", of->pid);
		put_in_flight(out, oldest, now_ns);
		json_end(out);
	} else {
		json_null(out, "oldest");
	}
	json_end(out);
}

/* --- lines of Python --- */

/* Writes for each state the line with the most time since they were last forgotten. */
static void put_lines(struct json *out, const struct ledger_process *process)
{
	json_begin_list(out, "lines");
	for (uint32_t state = 0; state <= SAMPLE_IO; state++) {
		const struct ledger_line *line = ledger_line(process, state);

		if (!line)
			continue;
		json_begin(out, NULL);
		json_literal(out, "state",
			     state == SAMPLE_IO ? SAMPLE_IO_NAME : thread_state_name(state));
		put_text(out, "file", line->file);
		put_known(out, "line", line->line, line->line);
		put_text(out, "function", line->function);
		json_uint(out, "time_ns", line->time_ns);
		json_end(out);
	}
	json_end(out);
}

static void put_process(struct json *out, const struct ledger *ledger,
			const struct ledger_process *process, uint64_t now_ns)
{
	json_begin(out, NULL);
	json_uint(out, "pid", process->pid);
	json_uint(out, "start_ns", process->start_ns);
	json_uint(out, "uid", process->uid);
	put_text(out, "program", process->program ? process->program->name : NULL);
	put_text(out, "command", process->command);
	put_known(out, "rank", process->rank >= 0, process->rank);
	put_age(out, process->start_ns, now_ns);
	put_in_flight_of_process(out, ledger, process, now_ns);
	put_threads(out, process->thread_ns);
	if (ledger_keeps_lines(ledger))
		put_lines(out, process);
	put_sums(out, &process->sums);
	json_end(out);
}

/* Returns how long threads have run, or waited to. */
static uint64_t ran_ns(const uint64_t thread_ns[THREAD_STATE_COUNT])
{
	return thread_ns[THREAD_CPU] + thread_ns[THREAD_RUNNABLE];
}

static void put_processes(struct json *out, const struct ledger *ledger,
			  const struct ledger_job *job, unsigned int max, uint64_t now_ns)
{
	struct ranked *ranked = malloc((max + 1) * sizeof(*ranked));
	unsigned int count = 0;

	if (!ranked) {
		out->out->error = out->out->error ? out->out->error : -ENOMEM;
		return;
	}
	for (const struct ledger_process *process = job->processes; process;
	     process = process->next)
		if (!process->end_ns)
			rank(ranked, &count, max,
			     (struct ranked) { sums_total(&process->sums).time_ns,
					       ran_ns(process->thread_ns), process });
	json_begin_list(out, "processes");
	for (unsigned int i = 0; i < count; i++)
		put_process(out, ledger, ranked[i].what, now_ns);
	json_end(out);
	free(ranked);
}

static void put_files(struct json *out, const struct ledger_job *job, const struct rates *rates,
		      unsigned int max)
{
	struct ranked ranked[LEDGER_FILES_MAX + 1];
	unsigned int count = 0;

	for (unsigned int i = 0; i < job->file_count; i++)
		if (job->files[i].path)
			rank(ranked, &count, number_min(max, LEDGER_FILES_MAX),
			     (struct ranked) { job->files[i].time_ns, 0, &job->files[i] });
	json_begin_list(out, "files");
	for (unsigned int i = 0; i < count; i++) {
		const struct ledger_file *file = ranked[i].what;

		json_begin(out, NULL);
		put_text(out, "path", file->path);
		json_uint(out, "dev", file->dev);
		json_uint(out, "ino", file->ino);
		put_sums(out, &file->sums);
		put_rate(out, rates_interval_ns(rates), rates_file(rates, job->id, file), NULL);
		json_end(out);
	}
	json_end(out);
	json_begin(out, "other_files");
	json_uint(out, "folded", job->other_file_count);
	put_sums(out, &job->other_files);
	json_end(out);
}

/* --- jobs --- */

static void put_programs(struct json *out, const struct ledger_job *job)
{
	json_begin_list(out, "programs");
	for (unsigned int i = 0; i <= LEDGER_COMMANDS_MAX; i++) {
		if (!job->commands[i].used)
			continue;
		json_begin(out, NULL);
		put_text(out, "name", job->commands[i].name);
		json_uint(out, "processes", job->commands[i].processes);
		put_sums(out, &job->commands[i].sums);
		json_end(out);
	}
	json_end(out);
}

static void put_job(struct json *out, const struct ledger *ledger, const struct ledger_job *job,
		    const struct rates *rates, uint64_t now_ns, const struct jobs_query *query)
{
	json_begin(out, NULL);
	json_uint(out, "id", job->id);
	for (size_t i = 0; i < ledger_label_count; i++)
		put_text(out, ledger_labels[i].name, ledger_labels[i].get(job));
	json_uint(out, "uid", job->uid);
	put_age(out, job->start_ns, now_ns);
	json_uint(out, "living", job->process_count);
	json_uint(out, "ended", job->ended_processes);
	put_in_flight_of_job(out, ledger, job, now_ns);
	put_throttled(out, &job->throttled);
	put_threads(out, job->thread_ns);
	put_methods(out, &job->sums, rates, job->id);
	put_programs(out, job);
	put_processes(out, ledger, job, query->processes, now_ns);
	put_files(out, job, rates, query->files);
	json_end(out);
}

static void put_node(struct json *out, const struct ledger_node *node, const struct rates *rates)
{
	json_begin(out, "node");
	json_uint(out, "processes_begun", node->processes_begun);
	json_uint(out, "processes_ended", node->processes_ended);
	json_uint(out, "jobs_ended", node->jobs_ended);
	json_uint(out, "jobs_folded", node->jobs_folded);
	json_uint(out, "uncertain_operations", node->uncertain_operations);
	json_uint(out, "unattributed_fetched_bytes", node->unattributed_fetched_bytes);
	json_uint(out, "unattributed_created_bytes", node->unattributed_created_bytes);
	put_throttled(out, &node->throttled);
	put_threads(out, node->thread_ns);
	put_methods(out, &node->sums, rates, RATES_NODE);
	json_end(out);
}

static bool matches(const struct ledger_job *job, const struct jobs_query *query)
{
	return (!query->job || job->id == query->job) &&
	       (!query->slurm_job || !strcmp(job->labels.ids.slurm_job, query->slurm_job));
}

static void put_jobs(struct json *out, const struct ledger *ledger, const struct rates *rates,
		     uint64_t now_ns, const struct jobs_query *query)
{
	unsigned int max = number_min(query->jobs, LEDGER_JOBS_MAX + 2);
	unsigned int count = 0, all = 0, reported = 0;
	struct ranked *ranked = malloc((max + 1) * sizeof(*ranked));

	if (!ranked) {
		out->out->error = out->out->error ? out->out->error : -ENOMEM;
		return;
	}
	for (const struct ledger_job *job = ledger_jobs(ledger); job; job = job->next) {
		if (!matches(job, query))
			continue;
		all++;
		rank(ranked, &count, max,
		     (struct ranked) { rates_total(rates, job->id).time_ns,
				       sums_total(&job->sums).time_ns, job });
	}
	json_begin_list(out, "jobs");
	for (; reported < count && out->out->used < JOBS_JSON_BYTES_MAX; reported++)
		put_job(out, ledger, ranked[reported].what, rates, now_ns, query);
	json_end(out);
	json_uint(out, "jobs_left_out", all - reported);
	free(ranked);
}

void jobs_json(struct sink *sink, struct ledger *ledger, const struct rates *rates,
	       const char *host, const struct jobs_query *query)
{
	struct json json = { .out = sink, .style = JSON_COMPACT }, *out = &json;
	uint64_t read_ns, readings, now_ns;

	json_begin(out, NULL);
	json_uint(out, "schema", JOBS_JSON_SCHEMA);
	put_text(out, "version", FAULTLINE_VERSION);
	put_text(out, "host", host);
	ledger_lock(ledger);
	now_ns = host_now_ns(); /* under the lock: later than any reading */
	json_uint(out, "time_unix_ns", host_unix_now_ns());
	readings = ledger_readings(ledger, &read_ns);
	json_uint(out, "readings", readings);
	put_known(out, "read_ns", readings, read_ns);
	put_known(out, "read_ns_ago", readings, now_ns - read_ns);
	put_known(out, "interval_ns", rates_interval_ns(rates), rates_interval_ns(rates));
	put_node(out, ledger_node(ledger), rates);
	put_jobs(out, ledger, rates, now_ns, query);
	ledger_unlock(ledger);
	json_end(out);
	sink_char(sink, '\n');
}
