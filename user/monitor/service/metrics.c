/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of metrics, and the items each has samples of. */
#include "monitor/service/metrics.h"

#include "trace/format/layers.h"

const char *const metric_fault_kinds[METRIC_FAULT_KINDS] = { "minor", "major", "major_in_call" };
const char *const metric_device_uses[LEDGER_DEVICE_USES] = { "read", "write", "discard", "flush" };
const char *const metric_calls[LEDGER_DEVICE_USES] = { "read", "write", "other", "flush" };

/* 1 us, 8 us, 66 us, 0.5 ms, 4.2 ms, 34 ms, 0.27 s, 2.1 s; class 0 ends at 64 ns. */
const uint8_t metric_bucket_classes[METRIC_BUCKETS] = { 5, 8, 11, 14, 17, 20, 23, 26 };

/* --- getters --- */

#define OF_CELL(name, field)                                                                       \
	static uint64_t cell_##name(const struct metric_item *item)                                \
	{                                                                                          \
		return item->cell->counts.field;                                                   \
	}
OF_CELL(count, count)
OF_CELL(errors, errors)
OF_CELL(bytes, bytes)
OF_CELL(time, time_ns)
OF_CELL(fetched, fetched_bytes)
OF_CELL(created, created_bytes)
OF_CELL(read_for_write, read_for_write_bytes)

static bool moves(const struct metric_item *item)
{
	return item->cell->op == LEDGER_READ || item->cell->op == LEDGER_WRITE;
}

static bool writes(const struct metric_item *item)
{
	return item->cell->op == LEDGER_WRITE && item->cell->method != METHOD_MMAP;
}

static bool is_mapped(const struct metric_item *item)
{
	return item->cell->method == METHOD_MMAP;
}

static uint64_t fault_count(const struct metric_item *item)
{
	const struct ledger_counts *counts = &item->cell->counts;

	return item->number == 0   ? counts->count - counts->major_faults
	       : item->number == 1 ? counts->major_faults
				   : counts->call_major_faults;
}

static uint64_t throttled_count(const struct metric_item *item)
{
	return item->throttled->count;
}

static uint64_t throttled_time(const struct metric_item *item)
{
	return item->throttled->time_ns;
}

static uint64_t span_count(const struct metric_item *item)
{
	return item->span ? item->span->count : item->source->node->folded_spans.count;
}

static uint64_t span_time(const struct metric_item *item)
{
	return item->span ? item->span->time_ns : item->source->node->folded_spans.time_ns;
}

static uint64_t thread_time(const struct metric_item *item)
{
	return item->thread_ns[item->number];
}

/* Sums a file system over all methods. */
static struct ledger_counts file_system_counts(const struct metric_item *item)
{
	const struct ledger_sums *sums = &item->file_system->sums;
	struct ledger_counts counts = { 0 };

	for (unsigned int i = 0; i < sums->count; i++)
		if (sums->cells[i].op == item->op)
			sums_add(&counts, &sums->cells[i].counts);
	return counts;
}

#define OF_FILE_SYSTEM(field)                                                                      \
	static uint64_t file_system_##field(const struct metric_item *item)                        \
	{                                                                                          \
		return file_system_counts(item).field;                                             \
	}
OF_FILE_SYSTEM(count)
OF_FILE_SYSTEM(bytes)
OF_FILE_SYSTEM(time_ns)

static bool file_system_moves(const struct metric_item *item)
{
	return item->op == LEDGER_READ || item->op == LEDGER_WRITE;
}

#define OF_DEVICE(field)                                                                           \
	static uint64_t device_##field(const struct metric_item *item)                             \
	{                                                                                          \
		return item->device->of[item->number].field;                                       \
	}
OF_DEVICE(count)
OF_DEVICE(bytes)
OF_DEVICE(time_ns)
OF_DEVICE(errors)

#define OF_CALLS(field)                                                                            \
	static uint64_t calls_##field(const struct metric_item *item)                              \
	{                                                                                          \
		return item->device->calls[item->number].field;                                    \
	}
OF_CALLS(count)
OF_CALLS(retransmits)
OF_CALLS(round_trip_ns)

static bool device_moves(const struct metric_item *item)
{
	return item->number != LEDGER_DEVICE_FLUSH;
}

static uint64_t layer_on(const struct metric_item *item)
{
	return item->source->facts.layers[item->number].on;
}

static uint64_t loss_count(const struct metric_item *item)
{
	return item->source->facts.losses[item->number].count;
}

static uint64_t one(const struct metric_item *item)
{
	return 1;
}

#define OF_SOURCE(name, expression)                                                                \
	static uint64_t name(const struct metric_item *item)                                       \
	{                                                                                          \
		return item->source->expression;                                                   \
	}
OF_SOURCE(anonymous_faults, facts.anonymous_faults)
OF_SOURCE(shmem_faults, facts.shmem_faults)
OF_SOURCE(bios_unseen, facts.bios_unseen)
OF_SOURCE(unattributed_fetched, node->unattributed_fetched_bytes)
OF_SOURCE(unattributed_created, node->unattributed_created_bytes)
OF_SOURCE(uncertain, node->uncertain_operations)
OF_SOURCE(jobs, job_count)
OF_SOURCE(jobs_ended, node->jobs_ended)
OF_SOURCE(processes, process_count)
OF_SOURCE(processes_begun, node->processes_begun)
OF_SOURCE(processes_unreported, node->processes_unreported + item->source->facts.not_followed)
OF_SOURCE(series, node->series_used)
OF_SOURCE(series_most, series_max)
OF_SOURCE(series_folded, node->series_folded)
OF_SOURCE(slots, facts.slots)
OF_SOURCE(slots_used, facts.use.most_used)
OF_SOURCE(slots_given_back, facts.use.given_back)
OF_SOURCE(slots_without, facts.use.other)
OF_SOURCE(readings, facts.readings)
OF_SOURCE(flight_requested, facts.flight.requested[item->number])
OF_SOURCE(flight_written, facts.flight.written)
OF_SOURCE(flight_failed, facts.flight.failed)
OF_SOURCE(flight_passed_over, facts.flight.passed_over)
OF_SOURCE(flight_last, facts.flight.last_unix_ns)
OF_SOURCE(own_cpu, cpu_ns)
OF_SOURCE(own_memory, resident_bytes)
OF_SOURCE(own_start, facts.start_unix_ns)

/* --- the table --- */

#define WITH_PAGECACHE (1u << LAYER_PAGECACHE)
#define WITH_FAULT (1u << LAYER_FAULT)
#define WITH_BLOCK (1u << LAYER_BLOCK)
#define WITH_NFS (1u << LAYER_NFS)
#define WITH_SPAN (1u << LAYER_SPAN)
#define WITH_THREAD (1u << LAYER_THREAD)

/* `number` is a getter, followed by an optional test of which items have the metric. */
#define ROW(type, name, unit, of, layers, help, number, has, ...)                                  \
	{                                                                                          \
		"faultline_" name, METRIC_##type, METRIC_##unit, METRIC_OF_##of, layers, help,     \
			number, has                                                                \
	}
#define COUNTER(name, unit, of, layers, help, ...)                                                 \
	ROW(COUNTER, name, unit, of, layers, help, __VA_ARGS__, NULL, NULL)
#define GAUGE(name, unit, of, layers, help, ...)                                                   \
	ROW(GAUGE, name, unit, of, layers, help, __VA_ARGS__, NULL, NULL)

const struct metric metrics[] = {
	COUNTER("io_operations", NUMBER, CELL, 0,
		"Completed operations; for method mmap, page faults on file mappings.", cell_count),
	COUNTER("io_bytes", BYTES, CELL, 0,
		"Bytes read or written; for method mmap, bytes fetched or dirtied by page faults.",
		cell_bytes, moves),
	COUNTER("io_seconds", SECONDS, CELL, 0, "Time in operations, summed over threads.",
		cell_time),
	COUNTER("io_errors", NUMBER, CELL, 0, "Operations that failed.", cell_errors),
	COUNTER("io_fetched_bytes", BYTES, CELL, WITH_PAGECACHE,
		"Bytes brought into the page cache to be read, readahead included.", cell_fetched,
		moves),
	COUNTER("io_created_bytes", BYTES, CELL, WITH_PAGECACHE,
		"Bytes newly cached by writes, to be written to storage later.", cell_created,
		writes),
	COUNTER("io_read_for_write_bytes", BYTES, CELL, WITH_PAGECACHE | WITH_BLOCK,
		"Bytes read from storage to complete partially written pages.", cell_read_for_write,
		writes),
	{ "faultline_io_latency_seconds", METRIC_HISTOGRAM, METRIC_SECONDS, METRIC_OF_LATENCY, 0,
	  "Duration of operations.", cell_count, NULL },
	COUNTER("page_faults", NUMBER, FAULT, WITH_FAULT,
		"Page faults on mapped files: minor, major (waited for storage), and major inside "
		"a call that populates pages, such as mlock.",
		fault_count),
	COUNTER("mmap_fetched_bytes", BYTES, CELL, WITH_FAULT | WITH_PAGECACHE,
		"Bytes brought into the page cache by access to mapped files.", cell_fetched,
		is_mapped),
	COUNTER("writers_throttled", NUMBER, JOB, WITH_PAGECACHE,
		"Times a writer was throttled because too many pages awaited writeback.",
		throttled_count),
	COUNTER("writers_throttled_seconds", SECONDS, JOB, WITH_PAGECACHE,
		"Time for which writers were throttled.", throttled_time),
	COUNTER("spans", NUMBER, SPAN, WITH_SPAN, "Ended spans of programs, by name.", span_count),
	COUNTER("span_seconds", SECONDS, SPAN, WITH_SPAN,
		"Time in spans of programs, open ones included, summed over threads.", span_time),
	COUNTER("thread_seconds", SECONDS, THREAD, WITH_THREAD,
		"Time of threads in each state, such as on a CPU or blocked on a lock.",
		thread_time),
	COUNTER("filesystem_operations", NUMBER, FILE_SYSTEM, 0,
		"Operations on files of a file system.", file_system_count),
	COUNTER("filesystem_bytes", BYTES, FILE_SYSTEM, 0,
		"Bytes read from or written to files of a file system.", file_system_bytes,
		file_system_moves),
	COUNTER("filesystem_seconds", SECONDS, FILE_SYSTEM, 0,
		"Time in operations on files of a file system, summed over threads.",
		file_system_time_ns),
	COUNTER("storage_requests", NUMBER, DEVICE, WITH_BLOCK,
		"Completed requests to a block device or to a " SERVED_MOUNT ".", device_count),
	COUNTER("storage_bytes", BYTES, DEVICE, WITH_BLOCK,
		"Bytes of requests to a block device, " SERVED_MOUNT ".", device_bytes,
		device_moves),
	COUNTER("storage_request_seconds", SECONDS, DEVICE, WITH_BLOCK,
		"Time of requests to a block device, " SERVED_MOUNT
		", from creation to completion.",
		device_time_ns),
	COUNTER("storage_errors", NUMBER, DEVICE, WITH_BLOCK,
		"Failed requests to a block device, " SERVED_MOUNT ".", device_errors),
	COUNTER("nfs_calls", NUMBER, CALLS, WITH_NFS,
		"Calls to the server of an NFS mount: read, write, flush (commit), other.",
		calls_count),
	COUNTER("nfs_retransmits", NUMBER, CALLS, WITH_NFS,
		"Times that a call was sent again, because no reply came in time or the connection "
		"broke.",
		calls_retransmits),
	COUNTER("nfs_round_trip_seconds", SECONDS, CALLS, WITH_NFS,
		"Time from sending a call, the last time if several, until its reply: on the link "
		"and in the server.",
		calls_round_trip_ns),
	COUNTER("anonymous_page_faults", NUMBER, SERVICE, WITH_FAULT,
		"Page faults on anonymous memory, on the whole node.", anonymous_faults),
	COUNTER("shmem_page_faults", NUMBER, SERVICE, WITH_FAULT,
		"Page faults on shared memory, on the whole node.", shmem_faults),
	COUNTER("unattributed_fetched_bytes", BYTES, SERVICE, WITH_PAGECACHE,
		"Bytes brought into the page cache that are not attributed to an operation.",
		unattributed_fetched),
	COUNTER("unattributed_created_bytes", BYTES, SERVICE, WITH_PAGECACHE,
		"Bytes newly cached by writes that are not attributed to an operation.",
		unattributed_created),
	COUNTER("storage_unseen_ends", NUMBER, SERVICE, WITH_BLOCK,
		"Parts of requests to block devices without a completion event; device and storage "
		"numbers exclude them.",
		bios_unseen),
	COUNTER("uncertain_operations", NUMBER, SERVICE, 0,
		"Operations whose owner is uncertain, counted as (unknown).", uncertain),
	COUNTER("events_lost", NUMBER, LOSS, 0,
		"Records lost because buffers were full. Operations are aggregated without "
		"records: none is lost, but names of their processes may be.",
		loss_count),
	GAUGE("layer_enabled", NUMBER, LAYER, 0, "Whether a kernel layer is watched.", layer_on),
	GAUGE("jobs", NUMBER, SERVICE, 0, "Jobs with series, including jobs that have just ended.",
	      jobs),
	COUNTER("jobs_ended", NUMBER, SERVICE, 0, "Jobs whose series were removed.", jobs_ended),
	GAUGE("processes", NUMBER, SERVICE, 0, "Processes being watched.", processes),
	COUNTER("processes_begun", NUMBER, SERVICE, 0, "Processes watched so far.",
		processes_begun),
	COUNTER("processes_unwatched", NUMBER, SERVICE, 0,
		"Processes and threads not watched for lack of room or memory.",
		processes_unreported),
	GAUGE("series", NUMBER, SERVICE, 0, "Series of jobs, file systems and devices.", series),
	GAUGE("series_limit", NUMBER, SERVICE, 0, "Maximum number of series (--max-series).",
	      series_most),
	COUNTER("series_folded", NUMBER, SERVICE, 0,
		"Series beyond the limit, folded into (other).", series_folded),
	GAUGE("slots", NUMBER, SERVICE, 0, "Slots for aggregates in the kernel (--profile-slots).",
	      slots),
	GAUGE("slots_used_peak", NUMBER, SERVICE, 0, "Most slots in use so far.", slots_used),
	COUNTER("slots_given_back", NUMBER, SERVICE, 0,
		"Slots reclaimed from their least active users.", slots_given_back),
	COUNTER("slots_missed_operations", NUMBER, SERVICE, 0,
		"Operations counted without their file, for lack of a slot.", slots_without),
	COUNTER("readings", NUMBER, SERVICE, 0, "Kernel map reads.", readings),
	COUNTER("flight_requests", NUMBER, CAUSE, 0,
		"Requests for a flight-recorder trace: by a user (request), --flight-slower or "
		"--flight-when.",
		flight_requested),
	COUNTER("flight_requests_refused", NUMBER, FLIGHT, 0,
		"Requests refused because they came too soon after a trace (--flight-every).",
		flight_passed_over),
	COUNTER("flight_traces", NUMBER, FLIGHT, 0, "Traces written by the flight recorder.",
		flight_written),
	COUNTER("flight_traces_failed", NUMBER, FLIGHT, 0,
		"Flight-recorder traces that could not be written.", flight_failed),
	GAUGE("flight_last_trace_time_seconds", SECONDS, FLIGHT, 0,
	      "Unix time of the flight recorder's last trace; 0: none yet.", flight_last),
	{ "faultline_build", METRIC_INFO, METRIC_NUMBER, METRIC_OF_SERVICE, 0,
	  "Version of the service.", one, NULL },
	{ "faultline_process_cpu_seconds", METRIC_COUNTER, METRIC_SECONDS, METRIC_OF_SERVICE, 0,
	  "CPU time used by the service itself.", own_cpu, NULL },
	{ "faultline_process_resident_memory_bytes", METRIC_GAUGE, METRIC_BYTES, METRIC_OF_SERVICE,
	  0, "Resident memory of the service itself, including the kernel's slots that it maps.",
	  own_memory, NULL },
	{ "faultline_process_start_time_seconds", METRIC_GAUGE, METRIC_SECONDS, METRIC_OF_SERVICE,
	  0, "Unix time at which the service started watching.", own_start, NULL },
};
const size_t metric_count = sizeof(metrics) / sizeof(metrics[0]);

/* --- costs in series --- */

static unsigned int cell_cost(enum ledger_op op, enum io_method method)
{
	const struct ledger_cell cell = { .op = op, .method = method };
	const struct metric_item item = { .cell = &cell };
	unsigned int series = 0;

	for (size_t i = 0; i < metric_count; i++) {
		const struct metric *metric = &metrics[i];

		if (metric->of == METRIC_OF_CELL)
			series += !metric->has || metric->has(&item);
		if (metric->of == METRIC_OF_FAULT && method == METHOD_MMAP)
			series += METRIC_FAULT_KINDS;
	}
	return series;
}

const struct ledger_costs metric_costs = {
	.cell = cell_cost,
	.latency = METRIC_BUCKETS + 3, /* the last bucket, count and sum */
	.throttled = 2,
	.span = 2,
	.thread_state = 1,
	.file_system = 3 * LEDGER_OPS,
	.device = 4 * LEDGER_DEVICE_USES,
	.calls = 3 * LEDGER_DEVICE_USES,
};

/* --- walks --- */

struct item_walk {
	const struct metric *metric;
	struct metric_item item;
	void (*take)(void *context, const struct metric_item *item);
	void *context;
};

static void take(struct item_walk *walk)
{
	if (!walk->metric->has || walk->metric->has(&walk->item))
		walk->take(walk->context, &walk->item);
}

/* Walks the cells with series of their own; `folded`: all cells. */
static void walk_cells(struct item_walk *walk, const struct ledger_sums *sums, bool folded)
{
	for (unsigned int i = 0; i < sums->count; i++) {
		walk->item.cell = &sums->cells[i];
		if (walk->item.cell->folded && !folded)
			continue;
		if (walk->metric->of != METRIC_OF_FAULT) {
			take(walk);
			continue;
		}
		for (unsigned int kind = 0; kind < METRIC_FAULT_KINDS && is_mapped(&walk->item);
		     kind++) {
			walk->item.number = kind;
			take(walk);
		}
	}
}

static void walk_commands(struct item_walk *walk)
{
	const struct metric_source *source = walk->item.source;

	for (const struct ledger_job *job = source->jobs; job; job = job->next)
		for (unsigned int i = 0; i <= LEDGER_COMMANDS_MAX; i++) {
			walk->item.job = job;
			walk->item.command = &job->commands[i];
			walk_cells(walk, &job->commands[i].sums, false);
		}
	walk->item.job = NULL;
	walk->item.command = NULL;
	walk_cells(walk, &source->node->folded_counts, true);
}

static void walk_latencies(struct item_walk *walk)
{
	const struct metric_source *source = walk->item.source;

	for (const struct ledger_job *job = source->jobs; job; job = job->next) {
		walk->item.job = job;
		walk_cells(walk, &job->sums, false);
	}
	walk->item.job = NULL;
	walk_cells(walk, &source->node->folded_latencies, true);
}

static void walk_jobs(struct item_walk *walk)
{
	const struct metric_source *source = walk->item.source;

	for (const struct ledger_job *job = source->jobs; job; job = job->next) {
		if (!job->throttled.count || job->throttled_folded)
			continue;
		walk->item.job = job;
		walk->item.throttled = &job->throttled;
		take(walk);
	}
	walk->item.job = NULL;
	walk->item.throttled = &source->node->folded_throttled;
	if (walk->item.throttled->count)
		take(walk);
}

static void walk_spans(struct item_walk *walk)
{
	const struct metric_source *source = walk->item.source;

	for (const struct ledger_job *job = source->jobs; job; job = job->next)
		for (unsigned int i = 0; job->spans && i <= LEDGER_SPANS_MAX; i++) {
			walk->item.job = job;
			walk->item.span = &job->spans[i];
			if (walk->item.span->last_ns && !walk->item.span->folded)
				take(walk);
		}
	walk->item.job = NULL;
	walk->item.span = NULL;
	if (source->node->folded_spans.time_ns)
		take(walk);
}

/* Takes the states that a job's threads have been in, except those in the mask. */
static void walk_states(struct item_walk *walk, const uint64_t *thread_ns, uint32_t except)
{
	walk->item.thread_ns = thread_ns;
	for (unsigned int state = 0; state < THREAD_STATE_COUNT; state++) {
		walk->item.number = state;
		if (thread_ns[state] && !(except & 1u << state))
			take(walk);
	}
}

static void walk_threads(struct item_walk *walk)
{
	const struct metric_source *source = walk->item.source;

	for (const struct ledger_job *job = source->jobs; job; job = job->next) {
		walk->item.job = job;
		walk_states(walk, job->thread_ns, job->folded_states);
	}
	walk->item.job = NULL;
	walk_states(walk, source->node->folded_thread_ns, 0);
}

static void walk_file_system(struct item_walk *walk, const struct ledger_file_system *system)
{
	walk->item.file_system = system;
	for (unsigned int op = 0; op < LEDGER_OPS; op++) {
		walk->item.op = op;
		if (file_system_counts(&walk->item).count)
			take(walk);
	}
}

static void walk_file_systems(struct item_walk *walk)
{
	const struct ledger_node *node = walk->item.source->node;

	for (unsigned int i = 0; i < node->file_system_count; i++)
		walk_file_system(walk, &node->file_systems[i]);
	if (node->file_system_count < LEDGER_FILE_SYSTEMS_MAX)
		walk_file_system(walk, &node->file_systems[LEDGER_FILE_SYSTEMS_MAX - 1]);
}

static void walk_devices(struct item_walk *walk)
{
	const struct ledger_node *node = walk->item.source->node;

	for (unsigned int i = 0; i < node->device_count; i++)
		for (unsigned int use = 0; use < LEDGER_DEVICE_USES; use++) {
			walk->item.device = &node->devices[i];
			walk->item.number = use;
			/* Discards of mounts are not counted. */
			if (use != LEDGER_DEVICE_DISCARD || node->devices[i].dev >> 20)
				take(walk);
		}
}

static void walk_numbers(struct item_walk *walk, unsigned int count)
{
	for (walk->item.number = 0; walk->item.number < count; walk->item.number++)
		take(walk);
}

static void walk_calls(struct item_walk *walk)
{
	const struct ledger_node *node = walk->item.source->node;

	for (unsigned int i = 0; i < node->device_count; i++) {
		walk->item.device = &node->devices[i];
		walk_numbers(walk, node->devices[i].has_calls ? LEDGER_DEVICE_USES : 0);
	}
}

static bool is_measured(const struct metric *metric, const struct metric_source *source)
{
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++)
		if (metric->layers & 1u << layer && !source->facts.layers[layer].on)
			return false;
	return true;
}

void metrics_each(const struct metric *metric, const struct metric_source *source,
		  void (*take_item)(void *context, const struct metric_item *item), void *context)
{
	struct item_walk walk = {
		.metric = metric,
		.item = { .source = source },
		.take = take_item,
		.context = context,
	};

	if (!is_measured(metric, source))
		return;
	switch (metric->of) {
	case METRIC_OF_SERVICE:
		take(&walk);
		break;
	case METRIC_OF_LAYER:
		walk_numbers(&walk, LAYER_COUNT);
		break;
	case METRIC_OF_LOSS:
		walk_numbers(&walk, source->facts.loss_count);
		break;
	case METRIC_OF_CELL:
	case METRIC_OF_FAULT:
		walk_commands(&walk);
		break;
	case METRIC_OF_LATENCY:
		walk_latencies(&walk);
		break;
	case METRIC_OF_JOB:
		walk_jobs(&walk);
		break;
	case METRIC_OF_SPAN:
		walk_spans(&walk);
		break;
	case METRIC_OF_THREAD:
		walk_threads(&walk);
		break;
	case METRIC_OF_FILE_SYSTEM:
		walk_file_systems(&walk);
		break;
	case METRIC_OF_DEVICE:
		walk_devices(&walk);
		break;
	case METRIC_OF_CALLS:
		walk_calls(&walk);
		break;
	case METRIC_OF_FLIGHT:
		if (source->facts.has_flight)
			take(&walk);
		break;
	case METRIC_OF_CAUSE:
		walk_numbers(&walk, source->facts.has_flight ? FLIGHT_CAUSES : 0);
		break;
	}
}
