/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Decides which events pass a filter. */
#include "analysis/order/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define DEPTH_MAX 64 /* nested spans around an operation */

enum verdict { UNKNOWN, YES, NO };

struct filter_state {
	const struct job *job;
	const struct filter *filter;
	uint64_t from_ns, until_ns; /* on the job's clock */
	uint8_t method;
	bool requests;	     /* requests to devices pass ... */
	bool parts;	     /* ... and parts of requests pass in any case, however short */
	uint8_t *files;	     /* by file: enum verdict */
	uint8_t *operations; /* by operation: true if its name is wanted */
	struct map stacks;   /* trace and id of a stack -> whether it has the wanted line */
	struct trace_operation_total *counts;
	struct cursor_keys *keys; /* by trace */
	uint64_t passed;
};

bool filter_is_of_lines(const struct filter *filter)
{
	return filter->line || filter->function;
}

static bool is_of_operations(const struct filter *filter)
{
	return filter_is_of_lines(filter) || filter->file || filter->op || filter->method ||
	       filter->span || filter->min_duration_ns;
}

bool filter_chooses(const struct filter *filter)
{
	return filter_is_of_lines(filter) || filter->op || filter->method || filter->span ||
	       filter->min_duration_ns || filter->pid != FILTER_NONE || filter->rank != FILTER_NONE;
}

bool filter_is_any(const struct filter *filter)
{
	return !is_of_operations(filter) && !filter->from_ns && filter->until_ns == FILTER_NONE &&
	       filter->pid == FILTER_NONE && filter->rank == FILTER_NONE;
}

static int refuse(struct trace_error *error, const char *option, const char *name,
		  const char *known)
{
	snprintf(error->text, sizeof(error->text), "--%s %.100s: %s", option, name, known);
	return -ESRCH;
}

/* Names and patterns, separated by commas; each must match some operation. Modifies `names`. */
static int choose_operations(struct filter_state *state, char *names, struct trace_error *error)
{
	for (char *name = names, *next; name; name = next) {
		bool known = false;

		next = strchr(name, ',');
		if (next)
			*next++ = '\0';
		for (size_t i = 0; i < state->job->operation_count; i++) {
			if (fnmatch(name, state->job->operations[i].name, FNM_NOESCAPE))
				continue;
			known = true;
			state->operations[i] = true;
		}
		if (!known)
			return refuse(error, "op", name, "no trace has such an operation");
	}
	return 0;
}

static int check_names(struct filter_state *state, struct trace_error *error)
{
	const struct filter *filter = state->filter;
	char *names = filter->op ? strdup(filter->op) : NULL;
	int status = filter->op && !names ? -ENOMEM : 0;

	if (filter_is_of_lines(filter) && !(state->job->layers & JOB_STACK)) {
		snprintf(error->text, sizeof(error->text),
			 "--line and --function require the layer stack, which was not recorded");
		status = -ENODATA;
	}
	if (names && !status)
		status = choose_operations(state, names, error);
	free(names);
	if (status)
		return status;
	state->method = METHOD_NONE;
	for (unsigned int i = 0; i < METHOD_COUNT && filter->method; i++)
		if (!strcmp(method_names[i], filter->method))
			state->method = i;
	if (filter->method && state->method == METHOD_NONE)
		return refuse(error, "method", filter->method,
			      "not one of syscall, direct, mmap, splice, io_uring, libaio, kernel");
	return 0;
}

/* True if an operation of the family is wanted by name, or all names are. */
static bool asks_for(const struct filter_state *state, enum trace_family family)
{
	for (size_t i = 0; i < state->job->operation_count; i++)
		if (state->operations[i] && state->job->operations[i].family == family)
			return true;
	return !state->filter->op;
}

static bool set_window(const struct filter *filter, struct job *job)
{
	uint64_t start_ns = job->start_ns;

	if (filter->until_ns < number_sub(job->end_ns, start_ns))
		job->end_ns = number_add(start_ns, filter->until_ns);
	job->start_ns = number_add(start_ns, filter->from_ns);
	job->cut |= filter->from_ns || filter->until_ns != FILTER_NONE;
	return job->start_ns < job->end_ns;
}

int filter_open(struct filter_state **state, const struct filter *filter, const struct job *job,
		struct trace_error *error)
{
	struct filter_state *made = calloc(1, sizeof(*made));
	int status = -ENOMEM;

	*state = made;
	if (!made)
		return -ENOMEM;
	map_init(&made->stacks, 2, 1);
	made->job = job;
	made->filter = filter;
	made->from_ns = filter->from_ns ? job->start_ns : 0;
	made->until_ns = filter->until_ns == FILTER_NONE ? UINT64_MAX : job->end_ns;
	made->files = calloc(job->files.count + 1, sizeof(*made->files));
	made->operations = calloc(job->operation_count + 1, sizeof(*made->operations));
	made->counts = calloc(job->operation_count + 1, sizeof(*made->counts));
	made->keys = calloc(job->trace_count, sizeof(*made->keys));
	if (made->files && made->operations && made->counts && made->keys)
		status = check_names(made, error);
	if (!status)
		made->requests = !filter->method && !filter_is_of_lines(filter) &&
				 (asks_for(made, TRACE_STORAGE) || asks_for(made, TRACE_SERVED));
	if (status) {
		filter_close(made);
		*state = NULL;
	}
	return status;
}

int filter_start(struct filter_state **state, const struct filter *filter, struct job *job,
		 struct trace_error *error)
{
	*state = NULL;
	if (!filter || filter_is_any(filter))
		return 0;
	if (!set_window(filter, job)) {
		snprintf(error->text, sizeof(error->text), "the run is over before --from");
		return -ENODATA;
	}
	return filter_open(state, filter, job, error);
}

void filter_close(struct filter_state *state)
{
	if (!state)
		return;
	map_free(&state->stacks);
	free(state->files);
	free(state->operations);
	free(state->counts);
	free(state->keys);
	free(state);
}

void filter_pass_parts(struct filter_state *state)
{
	if (state)
		state->parts = true;
}

unsigned int filter_cannot_emit(const struct filter_state *state)
{
	const struct filter *filter = state ? state->filter : NULL;
	/* These have no rows, only totals for the whole run. */
	unsigned int layers = filter ? JOB_FAULT | JOB_SYSCALL : 0;

	if (!filter)
		return 0;
	if (is_of_operations(filter))
		layers |= JOB_THREAD;
	if (filter->method)
		layers |= JOB_STACK;
	if (!state->requests)
		layers |= JOB_BLOCK;
	if (filter->method || !asks_for(state, TRACE_DELAY))
		layers |= JOB_THROTTLED;
	if (filter->method || filter->min_duration_ns ||
	    !(asks_for(state, TRACE_CACHE) && asks_for(state, TRACE_INDIRECT)))
		layers |= JOB_OTHER_PAGES;
	return layers;
}

static uint64_t kinds_of_layer(const char *layer)
{
	uint64_t kinds = 0;

	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		kinds |= trace_kind_has_layer(kind, layer) ? 1ull << kind : 0;
	return kinds;
}

/* Kinds of rows that may pass, judging only by the filter's options. */
static uint64_t kinds_wanted(const struct filter_state *state)
{
	const struct filter *filter = state->filter;
	uint64_t kinds = filter->op ? 1ull << TRACE_PROFILE | 1ull << TRACE_PROFILE_CLASS |
					      1ull << TRACE_SAMPLE
				    : UINT64_MAX;

	if (filter_is_of_lines(filter))
		return 1ull << TRACE_SAMPLE | CURSOR_SPAN_KINDS;
	for (size_t i = 0; i < state->job->operation_count && filter->op; i++)
		if (state->operations[i])
			kinds |= kinds_of_layer(state->job->operations[i].layer);
	for (int kind = 0; kind < TRACE_KIND_COUNT && filter->min_duration_ns; kind++)
		if (trace_schemas[kind].duration < 0)
			kinds &= ~(1ull << kind);
	return kinds | CURSOR_SPAN_KINDS | (state->parts ? 1ull << TRACE_BIO : 0);
}

/* --- single conditions --- */

static bool is_file(struct filter_state *state, uint32_t file)
{
	if (file == FILE_NONE)
		return false;
	if (state->files[file] == UNKNOWN) {
		struct trace_string path = file_table_path(&state->job->files, file);
		bool matches =
			path.length && !fnmatch(state->filter->file, path.bytes, FNM_NOESCAPE);

		state->files[file] = matches ? YES : NO;
	}
	return state->files[file] == YES;
}

static bool is_in_span(const struct filter_state *state, const struct event *event)
{
	const struct open_spans *spans = &state->job->spans;
	size_t length = strlen(state->filter->span);
	bool inherited;
	uint32_t slot = open_spans_find(spans, &state->job->processes, event->process,
					event->thread, &inherited);

	for (int i = 0; i < DEPTH_MAX && slot != SPAN_NONE; i++) {
		const struct label *label = &state->job->labels.labels[spans->slots[slot].label];

		if (label->name.length == length &&
		    !memcmp(label->name.bytes, state->filter->span, length))
			return true;
		slot = open_spans_parent(spans, slot);
	}
	return false;
}

/* Matches "path:line", and the same with fewer or no directories, as reports show it. */
static bool is_line(const char *pattern, const struct stack_frame *frame)
{
	char text[PATH_MAX + 32];
	const char *at = text, *slash;

	snprintf(text, sizeof(text), "%.*s:%" PRIu64, PATH_MAX, frame->source.bytes, frame->line);
	for (; fnmatch(pattern, at, FNM_NOESCAPE); at = slash + 1) {
		slash = strchr(at, '/');
		if (!slash)
			return false;
	}
	return true;
}

static bool has_frame(const struct filter_state *state, uint32_t trace, uint64_t stack)
{
	const struct filter *filter = state->filter;
	struct stack_frame frame;

	for (int i = 0;
	     i < STACK_FRAMES_MAX && stack_table_next(&state->job->stacks, trace, &stack, &frame);
	     i++)
		if ((!filter->line || is_line(filter->line, &frame)) &&
		    (!filter->function ||
		     !fnmatch(filter->function, frame.function.bytes, FNM_NOESCAPE)))
			return true;
	return false;
}

/* Whether a sample's stack has the wanted line. */
static bool is_below_line(struct filter_state *state, const struct event *event)
{
	uint64_t key[2], *known;
	bool added, found;

	if (!event_is_sample(event))
		return false;
	key[0] = event->block->trace;
	key[1] = event_value(event, SAMPLE_STACK);
	known = map_find(&state->stacks, key);
	if (known)
		return *known;
	found = has_frame(state, key[0], key[1]);
	/* A hostile trace may name any number of stacks that it lacks. */
	known = state->stacks.count < state->job->stacks.stacks.count
			? map_add(&state->stacks, key, &added)
			: NULL;
	if (known)
		*known = found;
	return found;
}

static bool is_of_process(const struct filter *filter, const struct process *process)
{
	return (filter->pid == FILTER_NONE || process->pid == filter->pid) &&
	       (filter->rank == FILTER_NONE || process->rank == (int64_t)filter->rank);
}

static bool is_operation(const struct event *event)
{
	return event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC | EVENT_PAGECACHE |
			       EVENT_THROTTLED | EVENT_REQUEST | EVENT_BIO | EVENT_VFS);
}

static bool is_context(const struct filter_state *state, const struct event *event)
{
	return event->flags & EVENT_BIO && state->parts && !state->requests;
}

/* A sample of a thread on a CPU has no duration: it is as long as the time between two. */
static bool is_timed_sample(const struct filter_state *state, const struct event *event)
{
	return event_is_sample(event) && (!state->filter->min_duration_ns ||
					  event_sample_state(state->job, event) != THREAD_CPU);
}

static bool is_wanted(struct filter_state *state, const struct event *event)
{
	const struct filter *filter = state->filter;

	if (event->end < state->from_ns || event->start > state->until_ns ||
	    !is_of_process(filter, &state->job->processes.processes[event->process]))
		return false;
	if (!is_of_operations(filter))
		return true;
	if (filter_is_of_lines(filter) && !is_below_line(state, event))
		return false;
	return (is_operation(event) || is_timed_sample(state, event) ||
		(event_kind(event) == TRACE_WAIT && !filter->op)) &&
	       (!filter->file || is_file(state, event->file)) &&
	       (is_context(state, event) ||
		((!filter->op || state->operations[event->operation]) &&
		 (!filter->method || event->method == state->method))) &&
	       ((event->flags & EVENT_BIO && state->parts) ||
		event->end - event->start >= filter->min_duration_ns) &&
	       (!filter->span || (!(event->flags & EVENT_SUMMED) && is_in_span(state, event)));
}

bool filter_wants(const struct filter *filter, const struct process *process, uint64_t start_ns,
		  uint64_t from_ns, uint64_t until_ns)
{
	return !filter || (is_of_process(filter, process) &&
			   number_sub(until_ns, start_ns) >= filter->from_ns &&
			   number_sub(from_ns, start_ns) <= filter->until_ns);
}

/* --- what can be skipped --- */

/* The kernel's own activity has no pid that can be selected; then no block is skipped. */
static uint64_t keys_of_pids(const struct filter_state *state)
{
	const struct filter *filter = state->filter;
	const struct process_table *table = &state->job->processes;
	uint64_t keys = 0;

	if (filter->pid == FILTER_NONE && filter->rank == FILTER_NONE)
		return UINT64_MAX;
	if (filter->pid != FILTER_NONE)
		return filter->pid && filter->pid <= INT32_MAX ? trace_key(filter->pid)
							       : UINT64_MAX;
	/* Ranks come only from forks and execs, which have been read. */
	for (size_t i = 0; i < table->count; i++)
		if (table->processes[i].rank == (int64_t)filter->rank)
			keys |= trace_key(table->processes[i].pid);
	return keys;
}

static uint64_t keys_of_files(struct filter_state *state, size_t trace)
{
	const struct file_ids *ids = &state->job->files.ids[trace];
	uint64_t keys = 0;

	if (!state->filter->file)
		return UINT64_MAX;
	for (size_t i = 0; i < ids->count; i++)
		if (is_file(state, ids->ids[i].file))
			keys |= trace_key(ids->ids[i].id);
	return keys;
}

void filter_set_cursor(struct filter_state *state, struct cursor_options *options)
{
	if (!state)
		return;
	options->kinds = (options->kinds ? options->kinds : UINT64_MAX) & kinds_wanted(state);
	/* Spans must be read to find what is in them, and no kinds would mean all; with a condition
	 * on operations, spans themselves do not pass. */
	if (state->filter->span || !options->kinds)
		options->kinds |= CURSOR_SPAN_KINDS;
	options->from_ns = state->from_ns;
	options->until_ns = state->until_ns == UINT64_MAX ? 0 : state->until_ns;
	for (size_t i = 0; i < state->job->trace_count; i++)
		state->keys[i] =
			(struct cursor_keys) { keys_of_pids(state), keys_of_files(state, i) };
	options->keys = state->keys;
	options->columns[TRACE_SAMPLE] |= 1ull << SAMPLE_STACK | 1ull << SAMPLE_STATE;
}

/* --- per event --- */

static void count(struct filter_state *state, const struct event *event)
{
	struct trace_operation_total *counts = &state->counts[event->operation];

	/* Bios are parts of requests; EVENT_CLASSES was already counted as operations. */
	if (event->flags & (EVENT_SECOND | EVENT_BIO | EVENT_CLASSES))
		return;
	counts->count += event_count(event);
	counts->errors += event_errors(event);
	counts->bytes += event->bytes;
	counts->thread_time_ns += event_time_ns(event);
	counts->fetched_bytes += event->fetched_bytes;
	counts->created_bytes += event->created_bytes;
	counts->read_for_write_bytes += event_read_for_write(event);
}

bool filter_passes(struct filter_state *state, const struct event *event)
{
	if (!is_wanted(state, event))
		return false;
	state->passed += !is_context(state, event);
	if (is_operation(event))
		count(state, event);
	return true;
}

uint64_t filter_passed(const struct filter_state *state)
{
	return state->passed;
}

void filter_set_operations(const struct filter_state *state, struct job *job)
{
	for (size_t i = 0; i < job->operation_count; i++) {
		job->operations[i].seen = state->counts[i];
		job->operations[i].unseen = (struct trace_operation_total) { 0 };
	}
}
