/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loads traces as one job. */
#include "analysis/job/job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static const char *const openers[] = { "open",
				       "openat",
				       "openat2",
				       "creat",
				       "open_by_handle_at",
				       "io_uring_openat",
				       "io_uring_openat2",
				       NULL };
static const char *const replacers[] = {
	"rename", "renameat",	       "renameat2",	    "unlink", "unlinkat",
	"rmdir",  "io_uring_renameat", "io_uring_unlinkat", NULL
};
static const char *const resizers[] = { "truncate",	      "ftruncate",	    "fallocate",
					"io_uring_ftruncate", "io_uring_fallocate", NULL };
static const char *const advisers[] = { "fadvise64", "io_uring_fadvise", NULL };
static const char *const listers[] = { "getdents", "getdents64", NULL };
static const char *const lockers[] = { "flock",		  "fcntl_setlk",      "fcntl_setlkw",
				       "fcntl_ofd_setlk", "fcntl_ofd_setlkw", NULL };
static const char *const submitters[] = { "io_uring_enter", "io_submit", NULL };

const char *const device_use_names[DEVICE_USES] = { "read", "write", "discard", "flush" };

/* For requests to servers, after the layer's name. */
static enum device_use served_use(const char *name)
{
	static const struct {
		const char *name;
		enum device_use use;
	} rows[] = {
		{ "_read", DEVICE_READS },	 { "_read_plus", DEVICE_READS },
		{ "_write", DEVICE_WRITES },	 { "_fsync", DEVICE_FLUSHES },
		{ "_fsyncdir", DEVICE_FLUSHES }, { "_syncfs", DEVICE_FLUSHES },
		{ "_commit", DEVICE_FLUSHES },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].use;
	return DEVICE_USES;
}

static enum device_use use_of(const struct trace_operation *operation)
{
	static const char request[] = "request_";
	const char *name = operation->name;
	int use = 0;

	if (operation->family == TRACE_SERVED)
		return served_use(name + strcspn(name, "_"));
	if (strncmp(name, request, strlen(request)))
		return DEVICE_USES;
	while (use < DEVICE_USES && strcmp(name + strlen(request), device_use_names[use]))
		use++;
	return use;
}

void operation_describe(struct operation *operation, const struct trace_operation *from)
{
	operation->layer = from->layer;
	operation->name = from->name;
	operation->family = from->family;
	operation->opens = is_one_of(from->name, openers);
	operation->submits = is_one_of(from->name, submitters);
	operation->replaces = is_one_of(from->name, replacers);
	operation->resizes = is_one_of(from->name, resizers);
	operation->advises = is_one_of(from->name, advisers);
	operation->lists = is_one_of(from->name, listers);
	operation->locks = is_one_of(from->name, lockers);
	operation->closes = !strcmp(from->name, "close");
	operation->unmaps = !strcmp(from->name, "munmap");
	operation->polls = !strcmp(from->name, "io_uring_setup_sqpoll");
	if (!strcmp(from->layer, "async")) {
		operation->libaio = !strncmp(from->name, "libaio_", strlen("libaio_"));
		operation->uring = !operation->libaio;
	}
	operation->truncates = !strcmp(from->name, "ftruncate");
	operation->use = use_of(from);
}

/* Finds the number of an operation, adding it if new; -E2BIG if there are too many. */
static int add_operation(struct job *job, const struct trace_operation *from, uint16_t *number)
{
	struct operation *operation = job->operations;
	size_t i;

	for (i = 0; i < job->operation_count; i++, operation++)
		if (!strcmp(operation->name, from->name) && !strcmp(operation->layer, from->layer))
			break;
	if (i == JOB_OPERATIONS_MAX)
		return -E2BIG;
	if (i == job->operation_count) {
		operation_describe(operation, from);
		job->operation_count++;
	}
	*number = i;
	return 0;
}

/* Rows without an `op` column belong to the only operation of their family. If the header does not
 * name it, it is added after the header's own. */
static int add_implied(struct job *job, struct job_trace *trace, const struct trace_operation *from,
		       size_t spare, uint16_t *number)
{
	const struct trace_header *header = trace->header;

	for (size_t i = 0; i < header->operation_count; i++)
		if (header->operations[i].family == from->family) {
			*number = i;
			return 0;
		}
	*number = header->operation_count + spare;
	return add_operation(job, from, &trace->operations[*number]);
}

/* Operations that a header may omit. */
#define OPERATIONS_IMPLIED 5

static int load_operations(struct job *job, struct job_trace *trace)
{
	static const struct trace_operation fault = { "fault", "fault", TRACE_FILEFAULT };
	static const struct trace_operation pagecache = { "pagecache", "pagecache", TRACE_CACHE };
	static const struct trace_operation dirtied = { "fault", "dirtied", TRACE_STORES };
	static const struct trace_operation indirect = { "pagecache", "indirect", TRACE_INDIRECT };
	static const struct trace_operation throttled = { "pagecache", "balance_dirty_pages",
							  TRACE_DELAY };
	const struct trace_header *header = trace->header;
	int status = 0;

	if (header->operation_count > JOB_OPERATIONS_MAX)
		return -E2BIG;
	trace->operations =
		calloc(header->operation_count + OPERATIONS_IMPLIED, sizeof(*trace->operations));
	trace->seen = calloc(header->operation_count + OPERATIONS_IMPLIED, sizeof(*trace->seen));
	if (!trace->operations || !trace->seen)
		return -ENOMEM;
	for (size_t i = 0; i < header->operation_count && !status; i++)
		status = add_operation(job, &header->operations[i], &trace->operations[i]);
	if (!status)
		status = add_implied(job, trace, &fault, 0, &trace->fault);
	if (!status)
		status = add_implied(job, trace, &pagecache, 1, &trace->pagecache);
	if (!status)
		status = add_implied(job, trace, &indirect, 2, &trace->indirect);
	if (!status)
		status = add_implied(job, trace, &dirtied, 3, &trace->dirtied);
	if (!status)
		status = add_implied(job, trace, &throttled, 4, &trace->throttled);
	return status;
}

/* Traces of one boot share a host and a clock. */
static void place(struct job *job, uint32_t number)
{
	struct job_trace *trace = &job->traces[number];
	const struct trace_header *header = trace->header;

	trace->host = number;
	trace->clock = clock_shift_of(header->clock_monotonic_ns, header->clock_realtime_ns);
	for (uint32_t i = 0; i < number; i++) {
		const struct job_trace *other = &job->traces[i];

		if (header->boot_id[0] && !strcmp(header->boot_id, other->header->boot_id)) {
			trace->host = other->host;
			trace->clock = other->clock;
			return;
		}
	}
}

/* Takes start and end from the totals of a complete trace, otherwise from what was written. */
static void find_span(struct job_trace *trace)
{
	size_t blocks = trace_reader_block_count(trace->reader);
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < blocks && !trace->totals; i++) {
		const struct trace_block_info *info = trace_reader_block_info(trace->reader, i);

		start = number_min(info->start, start);
		end = number_max(info->end, end);
	}
	if (trace->totals) {
		start = trace->totals->start_ns;
		end = trace->totals->end_ns;
	} else {
		uint64_t flushed = trace_reader_flushed_ns(trace->reader);

		if (start == UINT64_MAX)
			start = end = trace->header->clock_monotonic_ns;
		end = number_max(flushed, end);
	}
	trace->start_ns = clock_shifted(trace->clock, start);
	trace->end_ns = clock_shifted(trace->clock, end);
}

unsigned int job_layer(const char *name)
{
#define BITS(id, name, also, ...) [LAYER_##id] = JOB_##id | (also),
	static const unsigned int bits[LAYER_COUNT] = { TRACE_LAYERS(BITS) };
#undef BITS

	for (size_t i = 0; i < LAYER_COUNT; i++)
		if (!strcmp(name, layer_names[i]))
			return bits[i];
	return 0;
}

const char *job_lacks_requests(const struct job *job)
{
	if (job->filtered & JOB_BLOCK)
		return "this filter excludes requests to block devices";
	return job->layers & JOB_BLOCK ? NULL : "requests to block devices were not recorded";
}

static unsigned int layers_of(const struct trace_header *header)
{
	unsigned int layers = 0;

	for (size_t i = 0; i < header->layer_count; i++)
		if (header->layers[i].on)
			layers |= job_layer(header->layers[i].name);
	for (size_t i = 0; i < header->operation_count; i++) {
		if (header->operations[i].family == TRACE_STORES && layers & JOB_FAULT)
			layers |= JOB_DIRTIED;
		if (header->operations[i].family == TRACE_DELAY && layers & JOB_PAGECACHE)
			layers |= JOB_THROTTLED;
	}
	if (layers & JOB_PAGECACHE && layers & JOB_BLOCK)
		layers |= JOB_READ_FOR_WRITE;
	return layers;
}

/* Finds whether any operations were aggregated, and whether all were. */
static void find_sums(struct job *job, const struct job_trace *trace)
{
	size_t blocks = trace_reader_block_count(trace->reader);
	bool all = trace->header->mode && !strcmp(trace->header->mode, "profile"), aggregated = all;

	for (size_t i = 0; i < blocks && !aggregated; i++)
		aggregated = trace_reader_block_info(trace->reader, i)->kind == TRACE_PROFILE;
	job->aggregated |= aggregated;
	job->all_aggregated &= all;
}

static int load_trace(struct job *job, uint32_t number, struct trace_error *error)
{
	struct job_trace *trace = &job->traces[number];
	int status = load_operations(job, trace);

	if (status == -E2BIG) {
		snprintf(error->text, sizeof(error->text), "more than %d kinds of operations",
			 JOB_OPERATIONS_MAX);
		return -EINVAL;
	}
	place(job, number);
	find_span(trace);
	trace->layers = layers_of(trace->header);
	find_sums(job, trace);
	job->layers |= trace->layers;
	job->many_hosts |= trace->host != job->traces[0].host;
	job->cut |= trace->header->flight.reason != NULL;
	if (trace->start_ns < job->start_ns)
		job->start_ns = trace->start_ns;
	if (trace->end_ns > job->end_ns)
		job->end_ns = trace->end_ns;
	if (!trace->totals)
		job->complete = false;
	for (size_t i = 0; trace->totals && i < trace->totals->kind_count; i++) {
		const struct trace_kind_total *kind = &trace->totals->kinds[i];

		job->lost = number_add(job->lost, kind->lost);
		if (!strcmp(kind->layer, "span"))
			job->lost_spans = number_add(job->lost_spans, kind->lost);
	}
	if (!status)
		status = file_table_load(&job->files, number, trace->host, error);
	if (!status)
		status = process_table_load(&job->processes, number, trace->reader, trace->clock,
					    error);
	if (!status)
		status = stack_table_load(&job->stacks, number, error);
	trace_reader_release(trace->reader); /* there may be a thousand traces */
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		job->lost = number_add(job->lost, trace_reader_damaged_rows(trace->reader, kind));
	return status;
}

void job_pass_over(struct job *job, uint32_t trace, size_t block, const struct trace_error *error)
{
	uint64_t rows = trace_reader_pass_over(job->traces[trace].reader, block, error);

	job->lost = number_add(job->lost, rows);
	job->damaged = number_add(job->damaged, rows);
}

int job_load(struct job *job, struct trace_reader *const *traces, const char *const *names,
	     size_t trace_count, struct trace_error *error)
{
	return job_load_within(job, traces, names, trace_count, JOB_MEMORY_BYTES, error);
}

int job_load_within(struct job *job, struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, uint64_t memory_bytes, struct trace_error *error)
{
	int status;

	*job = (struct job) { .trace_count = trace_count,
			      .memory_bytes = memory_bytes,
			      .complete = true,
			      .all_aggregated = true,
			      .start_ns = UINT64_MAX };
	job->traces = calloc(trace_count, sizeof(*job->traces));
	job->operations = calloc(JOB_OPERATIONS_MAX, sizeof(*job->operations));
	if (!job->traces || !job->operations)
		return -ENOMEM;
	for (size_t i = 0; i < trace_count; i++) {
		job->traces[i].reader = traces[i];
		job->traces[i].name = names[i];
		job->traces[i].header = trace_reader_header(traces[i]);
		job->traces[i].totals = trace_reader_totals(traces[i]);
	}
	status = file_table_init(&job->files, traces, trace_count);
	if (!status)
		status = process_table_init(&job->processes, trace_count);
	if (!status)
		status = labels_init(&job->labels, traces);
	if (!status)
		open_spans_init(&job->spans);
	if (!status)
		stack_table_init(&job->stacks, traces);
	job->files.max = memory_bytes / 2 / JOB_FILE_BYTES + 1;
	job->stacks.max = memory_bytes / 8 / JOB_STACK_BYTES + 1;
	job->processes.max = memory_bytes / 3 / JOB_PROCESS_BYTES + 1;
	for (uint32_t i = 0; i < trace_count && !status; i++) {
		status = load_trace(job, i, error);
		if (status && status != -ENOMEM)
			job_error(job, i, error);
	}
	if (!status)
		status = file_table_find_lost(&job->files);
	if (!job->aggregated)
		job->layers |= JOB_EVENTS;
	return status;
}

void job_free(struct job *job)
{
	for (size_t i = 0; job->traces && i < job->trace_count; i++) {
		free(job->traces[i].operations);
		free(job->traces[i].seen);
	}
	free(job->traces);
	free(job->operations);
	file_table_free(&job->files);
	process_table_free(&job->processes);
	labels_free(&job->labels);
	open_spans_free(&job->spans);
	stack_table_free(&job->stacks);
	*job = (struct job) { 0 };
}

struct trace_string job_comm(const struct job *job, uint32_t process)
{
	const struct process *named = &job->processes.processes[process];

	return trace_reader_string(job->traces[named->trace].reader, named->comm);
}

struct trace_string job_comm_at(const struct job *job, uint32_t process, uint64_t time_ns)
{
	return trace_reader_string(job->traces[job->processes.processes[process].trace].reader,
				   process_table_comm(&job->processes, process, time_ns));
}

#define CELL_BYTES 24 /* in a table, approximately */

size_t job_rows_max(const struct job *job, size_t columns)
{
	return job->memory_bytes / 8 / CELL_BYTES / (columns ? columns : 1) + 1;
}

static void add_total(struct trace_operation_total *sum, const struct trace_operation_total *more)
{
	sum->count += more->count;
	sum->errors += more->errors;
	sum->bytes += more->bytes;
	sum->thread_time_ns += more->thread_time_ns;
	sum->fetched_bytes += more->fetched_bytes;
	sum->created_bytes += more->created_bytes;
	sum->read_for_write_bytes += more->read_for_write_bytes;
	sum->submissions += more->submissions;
	if (sum->major_faults == TRACE_NOT_COUNTED || more->major_faults == TRACE_NOT_COUNTED)
		sum->major_faults = TRACE_NOT_COUNTED;
	else
		sum->major_faults += more->major_faults;
}

void job_add_operation(struct trace_operation_total *sum, const struct operation *operation)
{
	add_total(sum, &operation->seen);
	add_total(sum, &operation->unseen);
}

static struct trace_operation_total unseen_of(const struct trace_operation_total *kernel,
					      const struct trace_operation_total *seen)
{
	return (struct trace_operation_total) {
		.count = number_sub(kernel->count, seen->count),
		.errors = number_sub(kernel->errors, seen->errors),
		.bytes = number_sub(kernel->bytes, seen->bytes),
		.thread_time_ns = number_sub(kernel->thread_time_ns, seen->thread_time_ns),
		.fetched_bytes = number_sub(kernel->fetched_bytes, seen->fetched_bytes),
		.created_bytes = number_sub(kernel->created_bytes, seen->created_bytes),
		.read_for_write_bytes =
			number_sub(kernel->read_for_write_bytes, seen->read_for_write_bytes),
		.submissions = number_sub(kernel->submissions, seen->submissions),
		.major_faults = kernel->major_faults,
	};
}

void job_count_unseen(struct job *job)
{
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];

		for (size_t j = 0; j < trace->header->operation_count + OPERATIONS_IMPLIED; j++) {
			struct operation *operation = &job->operations[trace->operations[j]];
			struct trace_operation_total unseen;

			add_total(&operation->seen, &trace->seen[j]);
			if (!trace->totals || j >= trace->totals->operation_count)
				continue;
			unseen = unseen_of(&trace->totals->operations[j], &trace->seen[j]);
			if (trace->layers & JOB_ASYNC) /* these have their own rows */
				unseen.submissions = 0;
			add_total(&operation->unseen, &unseen);
		}
	}
}

uint64_t job_cpus(const struct job *job)
{
	uint64_t cpus = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		if (job->traces[i].host == i)
			cpus += job->traces[i].header->cpus;
	return cpus;
}

static double cpu_limit_of_host(const struct job *job, uint32_t host)
{
	double cpus = 0;

	for (size_t i = host; i < job->trace_count; i++) {
		const uint64_t cpu_milli = job->traces[i].header->cpu_milli;

		if (job->traces[i].host == host)
			cpus = fmax(cpus, cpu_milli ? cpu_milli / 1e3 : INFINITY);
	}
	return cpus;
}

double job_cpu_limit(const struct job *job)
{
	double cpus = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		if (job->traces[i].host == i)
			cpus += cpu_limit_of_host(job, i);
	return cpus;
}

uint64_t job_count_notes(const struct job *job, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->note_count; j++)
			if (!strcmp(totals->notes[j].name, name))
				count = number_add(count, totals->notes[j].count);
	}
	return count;
}

void job_error(const struct job *job, uint32_t trace, struct trace_error *error)
{
	char text[sizeof(error->text)];

	memcpy(text, error->text, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	snprintf(error->text, sizeof(error->text), "%.100s: %.150s", job->traces[trace].name, text);
}
