/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables "slowest" and "span_latency": the results of chain.c by operation and by span. */

#include "analysis/devices/chain_state.h"
#include "base/number.h"
#include "base/units.h"

#define SLOWEST 10 /* default number of rows */

struct slowest_row {
	struct chain_line chain;
	const struct job *job;
	const struct chain_operation *operation;
	const char *name;
	uint64_t start_ns, pid, tid, offset, bytes;
	struct table_text path;
};

struct bio_line {
	const char *op;
	char dev[UNITS_TEXT];
	uint64_t request, bytes, queue_ns, service_ns;
	int64_t start_ns; /* negative if the bio was queued before the operation began */
};

static void get_bio_dev(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column)
{
	table_set_literal(table, cell, ((const struct bio_line *)row)->dev);
}

static const struct table_column bio_columns[] = {
	COLUMN(bio_line, op, "op", NONE, FACT, "kind of block I/O"),
	{ "dev", "number", UNIT_NONE, KIND_FACT, "major:minor of the device", .get = get_bio_dev },
	COLUMN(bio_line, request, "request", NONE, FACT,
	       "number of the request that contains the bio"),
	COLUMN(bio_line, start_ns, "queued", NS, MOMENT,
	       "when the bio was queued, since the start of the operation"),
	COLUMN(bio_line, bytes, "bytes", BYTES, FACT, "bytes moved by the bio"),
	COLUMN(bio_line, queue_ns, "queue", NS, FACT, "time until the driver received the bio"),
	COLUMN(bio_line, service_ns, "service", NS, FACT,
	       "time from the driver's receipt to completion"),
};

static void get_requests(struct table *table, struct cell *cell, const void *row,
			 const struct table_column *column)
{
	const struct slowest_row *line = row;
	const struct chain_operation *operation = line->operation;
	struct table *list = table_set_table(table, cell, TABLE_LIST);

	table_add_columns(list, TABLE_COLUMNS(bio_columns));
	for (size_t i = 0; i < CHAIN_BIOS_KEPT && i < operation->time.bios; i++) {
		const struct chain_bio *bio = &operation->kept[i];
		uint64_t issued = number_min(bio->issued, bio->end);
		struct bio_line of = {
			.op = line->job->operations[bio->operation].name,
			.request = bio->request,
			.start_ns = bio->start - operation->start,
			.bytes = bio->bytes,
			.queue_ns = bio->queue_unknown ? TABLE_NO_UINT : issued - bio->start,
			.service_ns = bio->end - issued,
		};

		units_device(of.dev, bio->dev);
		table_add(list, &of);
	}
}

static const struct table_column first_columns[] = {
	COLUMN_AS("op", slowest_row, name, "operation", NONE, FACT,
		  "kernel name of the call, or kind of fault"),
	COLUMN(slowest_row, start_ns, "at", NS, MOMENT,
	       "start of the operation, since the start of the run"),
	COLUMN(slowest_row, pid, "pid", NONE, FACT, "process ID"),
	COLUMN(slowest_row, tid, NULL, NONE, FACT, "thread ID"),
	COLUMN(slowest_row, offset, NULL, NONE, FACT,
	       "offset of the operation in the file, in bytes"),
	COLUMN(slowest_row, bytes, "bytes", BYTES, SUM,
	       "bytes moved by the operation; null for faults"),
	COLUMN_AS("time_ns", slowest_row, chain.time.time_ns, "time", NS, DURATION,
		  "duration of the operation"),
};

static const struct table_column last_columns[] = {
	COLUMN_AS("bios", slowest_row, chain.time.bios, "bios", COUNT, SUM,
		  "bios of the operation: contiguous parts of files in its requests"),
	{ "requests", NULL, UNIT_NONE, KIND_FACT,
	  "first 16 bios of the operation: op, dev, request, start_ns (since its start), bytes, "
	  "queue_ns, service_ns",
	  .get = get_requests },
	COLUMN(slowest_row, path, "file", PATH, FACT,
	       "path of the file, or path argument of a call without a file (one that creates, "
	       "removes or does not find it)"),
};

/* The text is valid until `joined` is reused. */
static struct table_text path_of(const struct job *job, const struct chain_operation *operation,
				 char joined[PATH_JOIN_BYTES])
{
	const struct path_argument *argument = &operation->argument;
	struct trace_string path = file_table_name(&job->files, operation->file);

	if (argument->path)
		return (struct table_text) { joined,
					     path_join(&job->files, argument->trace, argument->dir,
						       argument->path, joined) };
	return (struct table_text) { path.bytes, path.length };
}

static void conclude(const struct results *results, struct table *table)
{
	const struct job *job = results->job;
	size_t count;
	const struct chain_operation *slowest = chain_slowest(results, &count);
	size_t max = job->slowest ? job->slowest : SLOWEST;
	char joined[PATH_JOIN_BYTES];

	if (table_absent_if(table, !slowest, "requests to block devices were not recorded"))
		return;
	table_add_columns(table, TABLE_COLUMNS(first_columns));
	chain_add_columns(table);
	table_add_columns(table, TABLE_COLUMNS(last_columns));
	for (size_t i = 0; i < count && i < max; i++) {
		const struct chain_operation *operation = &slowest[i];
		bool known = operation->process != PROCESS_UNKNOWN;
		struct slowest_row line = {
			.chain = chain_line(&operation->time, chain_queue_unknown(results)),
			.job = job,
			.operation = operation,
			.name = job->operations[operation->operation].name,
			.start_ns = number_sub(operation->start, job->start_ns),
			.pid = known ? job->processes.processes[operation->process].pid
				     : TABLE_NO_UINT,
			.tid = operation->thread,
			.offset =
				operation->offset < 0 ? TABLE_NO_UINT : (uint64_t)operation->offset,
			.bytes = event_moves_bytes(job->operations[operation->operation].family)
					 ? operation->bytes
					 : TABLE_NO_UINT,
			.path = path_of(job, operation, joined),
		};

		table_add(table, &line);
	}
}

const struct analysis analysis_slowest = {
	.name = "slowest",
	.title = "Slowest operations",
	.meaning = "the slowest operations (10, or --slowest N), with their time split into "
		   "device, queue and other",
	.shown = "op,time_ns,path,device_ns,queue_ns,other_ns,start_ns,pid,bytes,bios",
	.shape = TABLE_LIST,
	.conclude = conclude,
	.merging = { .sorted = "-time_ns", .top = true, .many = "operations" },
};

/* --- by span --- */

struct span_line {
	struct chain_line chain;
	struct table_text name, category;
};

static const struct table_column first_span_columns[] = {
	COLUMN(span_line, name, "span", NONE, KEY, "name of the span"),
	COLUMN(span_line, category, "category", NONE, KEY, "category of the span"),
	COLUMN_AS("count", span_line, chain.time.count, "operations", COUNT, SUM,
		  "calls and faults in the span that had requests of their own in flight"),
	COLUMN_AS("time_ns", span_line, chain.time.time_ns, "time", NS, THREAD,
		  "time of these operations, summed over threads"),
};

static const struct table_column last_span_columns[] = {
	COLUMN_AS("bytes", span_line, chain.time.bytes, "bytes", BYTES, SUM,
		  "bytes moved by their requests"),
};

static void conclude_spans(const struct results *results, struct table *table)
{
	const struct job *job = results->job;
	size_t count;
	const struct chain_time *labels = chain_of_labels(results, &count);

	if (table_absent_if(table, (job->layers & (JOB_PARTS | JOB_SPAN)) != (JOB_PARTS | JOB_SPAN),
			    "requires the layers block and span"))
		return;
	table_add_columns(table, TABLE_COLUMNS(first_span_columns));
	chain_add_columns(table);
	table_add_columns(table, TABLE_COLUMNS(last_span_columns));
	for (size_t i = 0; i < count; i++) {
		const struct label *label = &job->labels.labels[i];
		struct span_line line = { .chain = chain_line(&labels[i],
							      chain_queue_unknown(results)) };

		if (!labels[i].count)
			continue;
		line.name = (struct table_text) { label->name.bytes, label->name.length };
		line.category =
			(struct table_text) { label->category.bytes, label->category.length };
		table_add(table, &line);
	}
}

static void numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct chain *chain = filled;

	chain_times_numbers(chain->labels, chain->label_room, numbers, count);
}

static void at(const void *filled, void *state, uint64_t number, uint64_t now_ns,
	       uint64_t values[SAMPLED_MAX])
{
	const struct chain *chain = state;

	chain_times_at(chain->labels, chain->label_room, number, values);
}

static const struct sampled sampled = { CHAIN_SAMPLED, .numbers = numbers, .at = at };

const struct analysis analysis_chain_spans = {
	.name = "span_latency",
	.title = "Waiting for storage, by span",
	.meaning = "time of operations split into device, queue and other, by span",
	.shown = "name,time_ns,device_ns,queue_ns,other_ns,count,bytes,category",
	.by = "time_ns",
	.shape = TABLE_LIST,
	.conclude = conclude_spans,
	.sampled = &sampled,
	.merging = { .sorted = "-time_ns", .many = "spans" },
};
