/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes jobs as JSON, straight from the ledger. */
#include "monitor/service/jobs_json.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "output/base/json.h"

/* --- members --- */

/* Writes a comma before every member but the first of its object or list. */
static void separate(struct sink *out)
{
	char last = out->used ? out->buffer[out->used - 1] : '{';

	if (last != '{' && last != '[' && last != ':')
		sink_char(out, ',');
}

static void key(struct sink *out, const char *name)
{
	separate(out);
	sink_char(out, '"');
	sink_text(out, name);
	sink_text(out, "\":");
}

static void put_uint(struct sink *out, const char *name, uint64_t value)
{
	key(out, name);
	sink_uint(out, value);
}

static void put_null(struct sink *out, const char *name)
{
	key(out, name);
	sink_text(out, "null");
}

static void put_known(struct sink *out, const char *name, bool known, uint64_t value)
{
	if (known)
		put_uint(out, name, value);
	else
		put_null(out, name);
}

/* Writes a text of arbitrary bytes; "" and NULL become null. */
static void put_text(struct sink *out, const char *name, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (!length) {
		put_null(out, name);
		return;
	}
	key(out, name);
	if (json_text(out, text, length))
		return;
	separate(out);
	sink_format(out, "\"%s_hex\":", name);
	json_hex(out, text, length);
}

static void open_list(struct sink *out, const char *name)
{
	key(out, name);
	sink_char(out, '[');
}

static void open_object(struct sink *out)
{
	separate(out);
	sink_char(out, '{');
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

static void put_counts(struct sink *out, const struct ledger_counts *counts)
{
	for (size_t i = 0; i < sizeof(count_members) / sizeof(count_members[0]); i++)
		put_uint(out, count_members[i].name,
			 *(const uint64_t *)((const char *)counts + count_members[i].offset));
}

static void put_percentile(struct sink *out, const char *name, const uint64_t *latencies,
			   unsigned int percent)
{
	uint64_t bound_ns = sums_percentile(latencies, percent);

	put_known(out, name, bound_ns != UINT64_MAX, bound_ns);
}

static void put_percentiles(struct sink *out, const uint64_t *latencies)
{
	put_percentile(out, "p50_ns", latencies, 50);
	put_percentile(out, "p99_ns", latencies, 99);
}

/* Writes what was added in an interval, per second. */
static void put_rate(struct sink *out, uint64_t interval_ns, struct ledger_counts added,
		     const uint64_t *latencies)
{
	if (!interval_ns) {
		put_null(out, "rate");
		return;
	}
	for (size_t i = 0; i < sizeof(count_members) / sizeof(count_members[0]); i++) {
		uint64_t *value = (uint64_t *)((char *)&added + count_members[i].offset);

		*value = (unsigned __int128)*value * 1000000000u / interval_ns;
	}
	key(out, "rate");
	sink_char(out, '{');
	put_counts(out, &added);
	put_percentiles(out, latencies);
	sink_char(out, '}');
}

static void open_sums(struct sink *out, const struct ledger_cell *cell)
{
	open_object(out);
	key(out, "op");
	sink_format(out, "\"%s\"", ledger_op_names[cell->op]);
	key(out, "method");
	sink_format(out, "\"%s\"", ledger_method_name(cell->method));
}

/* Writes the count of each class. */
static void put_latencies(struct sink *out, const uint64_t *latencies)
{
	if (!latencies) {
		put_null(out, "latencies");
		return;
	}
	open_list(out, "latencies");
	for (unsigned int i = 0; i < LEDGER_LATENCIES; i++) {
		separate(out);
		sink_uint(out, latencies[i]);
	}
	sink_char(out, ']');
}

/* Writes sums by operation and method: totals and recent rates. */
static void put_methods(struct sink *out, const struct ledger_sums *sums, const struct rates *rates,
			uint64_t job)
{
	open_list(out, "methods");
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
		sink_char(out, '}');
	}
	sink_char(out, ']');
}

/* The same without what is not kept for processes and files. */
static void put_sums(struct sink *out, const struct ledger_sums *sums)
{
	open_list(out, "methods");
	for (unsigned int i = 0; i < sums->count; i++) {
		open_sums(out, &sums->cells[i]);
		put_counts(out, &sums->cells[i].counts);
		sink_char(out, '}');
	}
	sink_char(out, ']');
}

static void put_throttled(struct sink *out, const struct ledger_counts *throttled)
{
	key(out, "throttled");
	sink_char(out, '{');
	put_uint(out, "count", throttled->count);
	put_uint(out, "time_ns", throttled->time_ns);
	sink_char(out, '}');
}

/* --- ranking --- */

struct ranked {
	uint64_t first, then; /* sort keys, both descending */
	const void *what;
};

/* Inserts one, keeping the `most` that rank highest, in order. */
static void rank(struct ranked *ranked, unsigned int *count, unsigned int most, struct ranked one)
{
	unsigned int at = *count;

	while (at && (ranked[at - 1].first < one.first ||
		      (ranked[at - 1].first == one.first && ranked[at - 1].then < one.then)))
		at--;
	if (at >= most)
		return;
	if (*count < most)
		++*count;
	memmove(&ranked[at + 1], &ranked[at], (*count - at - 1) * sizeof(*ranked));
	ranked[at] = one;
}

static void put_age(struct sink *out, uint64_t start_ns, uint64_t now_ns)
{
	put_known(out, "age_ns", start_ns && start_ns <= now_ns, now_ns - start_ns);
}

/* --- operations in flight --- */

#define IN_FLIGHT_TOLD 8 /* listed for each process: the oldest */

static void put_in_flight(struct sink *out, const struct ledger_in_flight *operation,
			  uint64_t now_ns)
{
	put_uint(out, "tid", operation->tid);
	put_text(out, "op", operation->op);
	put_text(out, "path", operation->path);
	put_age(out, operation->since_ns, now_ns);
	key(out, "before");
	sink_text(out, operation->before ? "true" : "false");
}

static void put_in_flight_of_process(struct sink *out, const struct ledger *ledger,
				     const struct ledger_process *process, uint64_t now_ns)
{
	size_t count;
	const struct ledger_in_flight *operations = ledger_in_flight(ledger, process, &count);

	open_list(out, "in_flight");
	for (size_t i = 0; i < count && i < IN_FLIGHT_TOLD; i++) {
		open_object(out);
		put_in_flight(out, &operations[i], now_ns);
		sink_char(out, '}');
	}
	sink_char(out, ']');
}

/* Writes how many operations a job's processes have in flight, and the oldest. */
static void put_in_flight_of_job(struct sink *out, const struct ledger *ledger,
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
		all += count;
		if (!oldest || first->since_ns < oldest->since_ns) {
			oldest = first;
			of = process;
		}
	}
	key(out, "in_flight");
	sink_char(out, '{');
	put_uint(out, "count", all);
	key(out, "oldest");
	if (oldest) {
		sink_char(out, '{');
		put_uint(out, "pid", of->pid);
		put_in_flight(out, oldest, now_ns);
		sink_char(out, '}');
	} else {
		sink_text(out, "null");
	}
	sink_char(out, '}');
}

static void put_process(struct sink *out, const struct ledger *ledger,
			const struct ledger_process *process, uint64_t now_ns)
{
	open_object(out);
	put_uint(out, "pid", process->pid);
	put_uint(out, "start_ns", process->start_ns);
	put_uint(out, "uid", process->uid);
	put_text(out, "program", process->program ? process->program->name : NULL);
	put_text(out, "command", process->command);
	put_known(out, "rank", process->rank >= 0, process->rank);
	put_age(out, process->start_ns, now_ns);
	put_in_flight_of_process(out, ledger, process, now_ns);
	put_sums(out, &process->sums);
	sink_char(out, '}');
}

static void put_processes(struct sink *out, const struct ledger *ledger,
			  const struct ledger_job *job, unsigned int most, uint64_t now_ns)
{
	struct ranked *ranked = malloc((most + 1) * sizeof(*ranked));
	unsigned int count = 0;

	if (!ranked) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	for (const struct ledger_process *process = job->processes; process;
	     process = process->next)
		if (!process->end_ns)
			rank(ranked, &count, most,
			     (struct ranked) { sums_total(&process->sums).time_ns,
					       process->start_ns, process });
	open_list(out, "processes");
	for (unsigned int i = 0; i < count; i++)
		put_process(out, ledger, ranked[i].what, now_ns);
	sink_char(out, ']');
	free(ranked);
}

static void put_files(struct sink *out, const struct ledger_job *job, const struct rates *rates,
		      unsigned int most)
{
	struct ranked ranked[LEDGER_FILES_MAX + 1];
	unsigned int count = 0;

	for (unsigned int i = 0; i < LEDGER_FILES_MAX; i++)
		if (job->files[i].path)
			rank(ranked, &count, most < LEDGER_FILES_MAX ? most : LEDGER_FILES_MAX,
			     (struct ranked) { job->files[i].time_ns, 0, &job->files[i] });
	open_list(out, "files");
	for (unsigned int i = 0; i < count; i++) {
		const struct ledger_file *file = ranked[i].what;

		open_object(out);
		put_text(out, "path", file->path);
		put_uint(out, "dev", file->dev);
		put_uint(out, "ino", file->ino);
		put_sums(out, &file->sums);
		put_rate(out, rates_interval_ns(rates), rates_file(rates, job->id, file), NULL);
		sink_char(out, '}');
	}
	sink_char(out, ']');
	key(out, "other_files");
	sink_char(out, '{');
	put_uint(out, "folded", job->other_file_count);
	put_sums(out, &job->other_files);
	sink_char(out, '}');
}

/* --- jobs --- */

static void put_programs(struct sink *out, const struct ledger_job *job)
{
	open_list(out, "programs");
	for (unsigned int i = 0; i <= LEDGER_COMMANDS_MAX; i++) {
		if (!job->commands[i].used)
			continue;
		open_object(out);
		put_text(out, "name", job->commands[i].name);
		put_uint(out, "processes", job->commands[i].processes);
		put_sums(out, &job->commands[i].sums);
		sink_char(out, '}');
	}
	sink_char(out, ']');
}

static void put_job(struct sink *out, const struct ledger *ledger, const struct ledger_job *job,
		    const struct rates *rates, const struct jobs_about *about,
		    const struct jobs_asked *asked)
{
	open_object(out);
	put_uint(out, "id", job->id);
	for (size_t i = 0; i < ledger_label_count; i++)
		put_text(out, ledger_labels[i].name, ledger_labels[i].get(job));
	put_uint(out, "uid", job->uid);
	put_age(out, job->start_ns, about->now_ns);
	put_uint(out, "living", job->process_count);
	put_uint(out, "ended", job->ended_processes);
	put_in_flight_of_job(out, ledger, job, about->now_ns);
	put_throttled(out, &job->throttled);
	put_methods(out, &job->sums, rates, job->id);
	put_programs(out, job);
	put_processes(out, ledger, job, asked->processes, about->now_ns);
	put_files(out, job, rates, asked->files);
	sink_char(out, '}');
}

static void put_node(struct sink *out, const struct ledger_node *node, const struct rates *rates)
{
	key(out, "node");
	sink_char(out, '{');
	put_uint(out, "processes_begun", node->processes_begun);
	put_uint(out, "processes_ended", node->processes_ended);
	put_uint(out, "jobs_ended", node->jobs_ended);
	put_uint(out, "jobs_folded", node->jobs_folded);
	put_uint(out, "uncertain_operations", node->uncertain_operations);
	put_uint(out, "unattributed_fetched_bytes", node->unattributed_fetched_bytes);
	put_uint(out, "unattributed_created_bytes", node->unattributed_created_bytes);
	put_throttled(out, &node->throttled);
	put_methods(out, &node->sums, rates, RATES_NODE);
	sink_char(out, '}');
}

static bool is_asked(const struct ledger_job *job, const struct jobs_asked *asked)
{
	return (!asked->job || job->id == asked->job) &&
	       (!asked->slurm_job || !strcmp(job->labels.slurm_job, asked->slurm_job));
}

static void put_jobs(struct sink *out, const struct ledger *ledger, const struct rates *rates,
		     const struct jobs_about *about, const struct jobs_asked *asked)
{
	unsigned int most = asked->jobs < LEDGER_JOBS_MAX + 2 ? asked->jobs : LEDGER_JOBS_MAX + 2;
	unsigned int count = 0, all = 0, reported = 0;
	struct ranked *ranked = malloc((most + 1) * sizeof(*ranked));

	if (!ranked) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	for (const struct ledger_job *job = ledger_jobs(ledger); job; job = job->next) {
		if (!is_asked(job, asked))
			continue;
		all++;
		rank(ranked, &count, most,
		     (struct ranked) { rates_total(rates, job->id).time_ns,
				       sums_total(&job->sums).time_ns, job });
	}
	open_list(out, "jobs");
	for (; reported < count && out->used < JOBS_JSON_MOST_BYTES; reported++)
		put_job(out, ledger, ranked[reported].what, rates, about, asked);
	sink_char(out, ']');
	put_uint(out, "jobs_left_out", all - reported);
	free(ranked);
}

void jobs_json(struct sink *out, struct ledger *ledger, const struct rates *rates,
	       const struct jobs_about *about, const struct jobs_asked *asked)
{
	uint64_t read_ns, readings;

	sink_char(out, '{');
	put_uint(out, "schema", JOBS_JSON_SCHEMA);
	put_text(out, "version", FAULTLINE_VERSION);
	put_text(out, "host", about->host);
	put_uint(out, "time_unix_ns", about->now_unix_ns);
	ledger_lock(ledger);
	readings = ledger_readings(ledger, &read_ns);
	put_uint(out, "readings", readings);
	put_known(out, "read_ns_ago", readings && read_ns <= about->now_ns,
		  about->now_ns - read_ns);
	put_known(out, "interval_ns", rates_interval_ns(rates), rates_interval_ns(rates));
	put_node(out, ledger_node(ledger), rates);
	put_jobs(out, ledger, rates, about, asked);
	ledger_unlock(ledger);
	sink_text(out, "}\n");
}
