/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The registry of exported tables, and the pass that fills them. */
#include "output/tables/relations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/events/span_args.h"
#include "analysis/order/walk.h"
#include "collections/grow.h"
#include "output/tables/relation_report.h"
#include "trace/format/layers.h"

#define REPORT_SHARE 0.15 /* of the work, for progress */

#define EVENTS(kind) .schema = &trace_schemas[kind], .kinds = 1ull << kind

/* Tables that are not only rows of events, by their place in the registry. */
enum { SPANS = 10, FILES, PROCESSES, STACKS };

/* In the order in which tables are listed. */
static const struct {
	const char *name, *meaning;
	uint64_t kinds;
	const struct trace_schema *schema;	/* its columns, or NULL; and */
	const struct relation_columns *columns; /* more of them, or NULL */
	const char *table;			/* table of the report, or NULL */
} registry[] = {
	{ "calls", "system calls, io_uring and libaio operations, and VFS operations",
	  .kinds = 1ull << TRACE_SYSCALL | 1ull << TRACE_SYSCALL_PATH | 1ull << TRACE_ASYNC |
		   1ull << TRACE_VFS,
	  .schema = &trace_schemas[TRACE_ASYNC], .columns = &relation_calls },
	{ "faults", "page faults on file mappings", EVENTS(TRACE_FAULT),
	  .columns = &relation_faults },
	{ "requests", "requests to block devices", EVENTS(TRACE_REQUEST),
	  .columns = &relation_device },
	{ "bios", "parts of requests, each for one file", EVENTS(TRACE_BIO),
	  .columns = &relation_device },
	{ "pagecache", "unattributed page-cache fill", EVENTS(TRACE_PAGECACHE),
	  .columns = &relation_process_span },
	{ "throttles", "pauses imposed on writers", EVENTS(TRACE_THROTTLE),
	  .columns = &relation_process_span },
	{ "waits", "waits of threads for 1 ms or longer, other than for storage",
	  EVENTS(TRACE_WAIT), .columns = &relation_process_span },
	{ "thread_times", "times of threads in each state, by interval", EVENTS(TRACE_THREAD_TIME),
	  .columns = &relation_process },
	{ "samples", "samples of stacks, each with the time that it represents",
	  EVENTS(TRACE_SAMPLE), .columns = &relation_process_span },
	{ "moments", "instants marked by the application", EVENTS(TRACE_INSTANT),
	  .columns = &relation_process_span },
	[SPANS] = { "spans", "spans of the application, in order of their ends",
		    .kinds = CURSOR_SPAN_KINDS, .columns = &relation_spans },
	[FILES] = { "files", "files", .columns = &relation_files },
	[PROCESSES] = { "processes", "processes", .columns = &relation_processes },
	[STACKS] = { "stacks", "stacks of samples: a line, and the stack of its caller",
		     .columns = &relation_stacks },
	{ "remote", "requests to the servers of " SERVED_MOUNTS, EVENTS(TRACE_REMOTE),
	  .columns = &relation_device },
	{ "operations", "exact totals by operation, lost events included", .table = "operations" },
	{ "ranks", "compute and I/O by rank", .table = "ranks" },
	{ "findings", "findings of the report", .table = "findings" },
	{ "meta", "metadata of the run, of the recording and of losses", .table = "trace" },
};
#define COUNT (sizeof(registry) / sizeof(registry[0]))
_Static_assert(COUNT <= RELATIONS_MAX, "writers have room for RELATIONS_MAX tables");

/* Keys of the counters used where a program gives no numbers. */
enum { COUNT_EPOCHS, COUNT_STEPS };

struct relations {
	const struct relation_writer *writer;
	void *to;
	const struct relation_options *options;
	struct report *report;
	struct job job;
	struct row_resolver *resolver;
	struct relation relations[COUNT];
	bool wanted[COUNT];
	int of_kind[TRACE_KIND_COUNT]; /* the wanted table for rows of a kind, or -1 */
	struct relation_row row;
	struct sink made;
	struct relation_span *spans; /* by slot */
	size_t span_room;
	struct map counts; /* rank (or process), COUNT_* -> number so far */
	uint64_t refused;
	struct {
		const struct loaded_block *block;
		uint32_t row;
		uint64_t start;
	} last; /* row of the last call */
};

uint64_t relations_kinds(void)
{
	uint64_t kinds = 0;

	for (size_t i = 0; i < COUNT; i++)
		kinds |= registry[i].kinds;
	return kinds;
}

void relations_names(char *list, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < COUNT && used < size; i++)
		used += snprintf(list + used, size - used, "%s%s", i ? ", " : "", registry[i].name);
}

bool relations_has(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(registry[i].name, name))
			return true;
	return false;
}

static bool is_wanted(const struct relation_options *options, size_t number)
{
	return !options->only || !strcmp(options->only, registry[number].name);
}

/* A report needs a pass of its own, with all of its analyses. */
static bool needs_report(const struct relation_options *options)
{
	for (size_t i = 0; i < COUNT; i++)
		if (registry[i].table && is_wanted(options, i))
			return true;
	return false;
}

/* --- rows --- */

static int write_row(struct relations *all, unsigned int number, unsigned int layers)
{
	const struct relation *relation = &all->relations[number];
	struct cell cells[RELATION_COLUMNS_MAX];

	for (size_t i = 0; i < relation->column_count; i++) {
		const struct relation_column *column = &relation->columns[i];

		cells[i] = (struct cell) { .type = CELL_NULL };
		if ((layers & column->needs) == column->needs)
			column->get(&all->row, column, &cells[i]);
	}
	return all->made.error ? all->made.error : all->writer->row(all->to, number, cells);
}

/* A call that yields two events is one row. */
static bool is_second(struct relations *all, const struct event *event)
{
	bool second = event->flags & EVENT_SECOND && event->flags & (EVENT_CALL | EVENT_ASYNC) &&
		      event->block == all->last.block && event->row == all->last.row &&
		      event->start == all->last.start;

	all->last.block = event->block;
	all->last.row = event->row;
	all->last.start = event->start;
	return second;
}

/* Page-cache events come without their process. */
static int find_process(struct relations *all, const struct event *event)
{
	all->row.process = event->process;
	if (!(event->flags & EVENT_PAGECACHE))
		return 0;
	return process_table_find(&all->job.processes, event->block->trace,
				  event_value(event, PAGECACHE_PID), event->start,
				  &all->row.process);
}

static uint64_t span_around(struct relations *all, const struct event *event)
{
	uint32_t thread = event->thread, slot;
	bool inherited;

	if (!all->job.spans.open)
		return 0;
	if (event->flags & EVENT_PAGECACHE)
		thread = event_value(event, PAGECACHE_TID);
	slot = open_spans_find(&all->job.spans, &all->job.processes, all->row.process, thread,
			       &inherited);
	return slot == SPAN_NONE ? 0 : all->job.spans.slots[slot].serial;
}

static int take_events(void *state, const struct event *events, size_t count)
{
	struct relations *all = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		int number = all->of_kind[event_kind(event)];
		struct resolved_row resolved;

		if (event_is_sample(event)) /* gives the table of stacks its rows */
			stack_tree_find(&all->row.stacks, event->block->trace,
					event_value(event, SAMPLE_STACK));
		if (number < 0 || event->flags & EVENT_SPAN_CHANGE || is_second(all, event))
			continue;
		row_resolve(all->resolver, event, &resolved);
		all->row.event = event;
		all->row.resolved = &resolved;
		status = find_process(all, event);
		all->row.span = status ? 0 : span_around(all, event);
		if (!status)
			status =
				write_row(all, number, all->job.traces[event->block->trace].layers);
	}
	return status;
}

/* --- spans --- */

/* Returns how many the rank (or the process without a rank) had so far. */
static int next_number(struct relations *all, uint32_t process, uint64_t what, int64_t *number)
{
	int64_t rank = all->job.processes.processes[process].rank;
	const uint64_t key[] = { rank >= 0 ? (uint64_t)rank : process, rank >= 0, what };
	bool added;
	uint64_t *count = map_add(&all->counts, key, &added);

	if (!count)
		return -ENOMEM;
	*number = (*count)++;
	return 0;
}

static bool is_called(const struct label *label, const char *word)
{
	size_t length;

	return label_is(label, word) ||
	       (label->category.length == strlen(word) &&
		!memcmp(label->category.bytes, word, label->category.length)) ||
	       (label_is_loop_body(label, &length) && length == strlen(word) &&
		!memcmp(label->name.bytes, word, length));
}

/* The number from the span's arguments, its index among spans of that name, or `around`. */
static int number_span(struct relations *all, uint32_t slot, const struct event *event,
		       uint64_t what, int64_t around, int64_t *number)
{
	static const char *const words[] = { [COUNT_EPOCHS] = "epoch", [COUNT_STEPS] = "step" };
	const struct span *span = &all->job.spans.slots[slot];

	if (span_args_int(&all->job, event, words[what], number))
		return 0;
	if (is_called(&all->job.labels.labels[span->label], words[what]))
		return next_number(all, span->process, what, number);
	*number = around;
	return 0;
}

static int span_begun(void *state, uint32_t slot, const struct event *event)
{
	struct relations *all = state;
	uint32_t parent = open_spans_parent(&all->job.spans, slot);
	struct relation_span *span;
	int64_t epoch = TABLE_NO_INT, step = TABLE_NO_INT;
	int status;

	if (!GROW(all->spans, all->span_room, all->job.spans.room))
		return -ENOMEM;
	if (parent != SPAN_NONE) {
		epoch = all->spans[parent].epoch;
		step = all->spans[parent].step;
	}
	span = &all->spans[slot];
	span->name = event_value(event, SPAN_BEGIN_NAME);
	span->category = event_value(event, SPAN_BEGIN_CATEGORY);
	span->args = event_value(event, SPAN_BEGIN_ARGS);
	span->flags = event_value(event, SPAN_BEGIN_FLAGS);
	status = number_span(all, slot, event, COUNT_EPOCHS, epoch, &span->epoch);
	return status ? status : number_span(all, slot, event, COUNT_STEPS, step, &span->step);
}

static int span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct relations *all = state;
	const struct span *span = &all->job.spans.slots[slot];

	if (!all->wanted[SPANS] ||
	    !filter_wants(all->options->filter, &all->job.processes.processes[span->process],
			  all->row.base_ns, span->begin_ns, span->end_ns))
		return 0;
	all->row.number = slot;
	all->row.process = span->process;
	all->row.of = &all->spans[slot];
	return write_row(all, SPANS, ~0u);
}

static int span_refused(void *state, const struct event *event)
{
	struct relations *all = state;

	all->refused++;
	return 0;
}

/* --- the pass --- */

static void emit_walk(void *context, double done)
{
	const struct relation_options *options = context;

	options->progress(options->context, REPORT_SHARE + (1 - REPORT_SHARE) * done);
}

static void emit_report(void *context, double done)
{
	const struct relation_options *options = context;

	options->progress(options->context, REPORT_SHARE * done);
}

static int write_events(struct relations *all, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = take_events,
						 .span_begun = span_begun,
						 .span_ended = span_ended,
						 .span_refused = span_refused };
	const struct walk_consumer consumer = { &calls, all };
	struct walk walk = {
		.cursor = { .kinds = CURSOR_SPAN_KINDS, .whole_rows = true },
		.consumers = &consumer,
		.consumer_count = 1,
		.progress = all->options->progress ? emit_walk : NULL,
		.context = (void *)all->options,
	};
	bool any = all->wanted[SPANS];
	int status;

	for (int i = 0; i < TRACE_KIND_COUNT; i++) {
		any |= all->of_kind[i] >= 0;
		walk.cursor.kinds |= all->of_kind[i] >= 0 ? 1ull << i : 0;
	}
	if (all->wanted[STACKS]) {
		any = true;
		walk.cursor.kinds |= 1ull << TRACE_SAMPLE;
	}
	/* A filter's window moves the job's ends; times are relative to the start of the run. */
	all->row.base_ns = all->job.start_ns;
	status = filter_start(&walk.filter, all->options->filter, &all->job, error);
	filter_set_cursor(walk.filter, &walk.cursor);
	if (!status)
		status = row_resolver_open(&all->resolver, &all->job);
	/* Processes without a recorded fork appear with their events. */
	if (!status && (any || all->wanted[PROCESSES]))
		status = walk_run(&all->job, &walk, error);
	filter_close(walk.filter);
	return status;
}

static int write_things(struct relations *all, unsigned int number, size_t count)
{
	int status = 0;

	for (size_t i = 0; all->wanted[number] && i < count && !status; i++) {
		all->row.number = i;
		status = write_row(all, number, ~0u);
	}
	return status;
}

static int write_report(struct relations *all)
{
	const struct relation_meta more[] = {
		{ "relations_version", NULL, RELATIONS_VERSION },
		{ "recorded_by", all->job.traces[0].header->tool, 0 },
		{ "spans_without_room", NULL, all->refused },
		{ "span_ends_without_begin", NULL, all->job.spans.unmatched_ends },
	};
	int status = 0;

	for (size_t i = 0; i < COUNT && !status; i++) {
		const struct relation *relation = &all->relations[i];

		if (!all->wanted[i] || !relation->table)
			continue;
		if (!strcmp(registry[i].table, "trace"))
			status = relation_meta_rows(relation, all->writer, all->to, i, &all->made,
						    more, sizeof(more) / sizeof(more[0]));
		else
			status =
				relation_report_rows(relation, all->writer, all->to, i, &all->made);
	}
	return status;
}

/* --- entry point --- */

/* Reports an absent table: it has no columns, so the writer sees no difference from one without
 * rows. */
static void emit_absent(const struct relations *all, const struct relation *relation)
{
	const struct table *table = relation->table;

	if (table && table->absent && all->options->absent)
		all->options->absent(all->options->context, relation->name,
				     table->note ? table->note : "not recorded");
}

static int begin_all(struct relations *all)
{
	int status = 0;

	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		all->of_kind[i] = -1;
	for (size_t i = 0; i < COUNT && !status; i++) {
		struct relation *relation = &all->relations[i];

		all->wanted[i] = is_wanted(all->options, i);
		relation->name = registry[i].name;
		relation->meaning = registry[i].meaning;
		relation->kinds = registry[i].kinds;
		if (registry[i].schema)
			relation_add_schema(relation, registry[i].schema);
		if (registry[i].columns)
			relation_add_columns(relation, registry[i].columns);
		else if (!all->wanted[i])
			continue;
		else if (!strcmp(registry[i].table, "trace"))
			relation_make_meta(relation, report_table(all->report, registry[i].table));
		else
			relation_make_report(relation,
					     report_table(all->report, registry[i].table));
		for (int kind = 0; kind < TRACE_KIND_COUNT && i != SPANS; kind++)
			if (all->wanted[i] && relation->kinds >> kind & 1)
				all->of_kind[kind] = i;
		if (!all->wanted[i])
			continue;
		emit_absent(all, relation);
		status = all->writer->begin(all->to, i, relation);
	}
	return status;
}

static int write_all(struct relations *all, struct trace_error *error)
{
	int status;

	stack_tree_init(&all->row.stacks, &all->job.stacks);
	status = write_events(all, error);
	if (!status)
		status = write_things(all, FILES, all->job.files.count);
	if (!status)
		status = write_things(all, PROCESSES, all->job.processes.count);
	if (!status && all->wanted[STACKS])
		status = arena_status(&all->row.stacks.arena)
				 ?: write_things(all, STACKS, all->row.stacks.stack_count - 1);
	return status ? status : write_report(all);
}

int relations_write(const struct relation_writer *writer, void *to,
		    struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct relation_options *options,
		    struct trace_error *error)
{
	const struct report_options of_report = {
		.progress = options->progress ? emit_report : NULL,
		.context = (void *)options,
		.filter = options->filter,
	};
	struct relations *all = calloc(1, sizeof(*all));
	int status = 0;

	if (!all)
		return -ENOMEM;
	all->writer = writer;
	all->to = to;
	all->options = options;
	all->row.job = &all->job;
	all->row.made = &all->made;
	map_init(&all->counts, 3, 1);
	sink_open_memory(&all->made);
	if (needs_report(options))
		status = report_make(&all->report, traces, names, trace_count, &of_report, error);
	if (!status)
		status = begin_all(all);
	if (!status && !options->no_rows) {
		status = job_load(&all->job, traces, names, trace_count, error);
		if (!status)
			status = write_all(all, error);
		stack_tree_free(&all->row.stacks);
		job_free(&all->job);
	}
	row_resolver_close(all->resolver);
	report_free(all->report);
	sink_close(&all->made);
	map_free(&all->counts);
	free(all->spans);
	free(all);
	if (status == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "out of memory");
	return status;
}
