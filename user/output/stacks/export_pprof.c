/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes stacks as a profile of pprof: the messages of profile.proto (github.com/google/pprof).
 * Strings come last, since writing the others adds to them.
 */
#include <errno.h>
#include <string.h>

#include "collections/grow.h"
#include "base/number.h"
#include "output/base/escape.h"
#include "output/base/protobuf.h"
#include "output/stacks/stack_samples.h"

/* Profile */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME_NANOS = 9 };
enum { DURATION_NANOS = 10, DEFAULT_TYPE = 14 };
/* ValueType; Sample, Label; Mapping; Location, Line; Function */
enum { TYPE = 1, UNIT };
enum { LOCATION_ID = 1, VALUE, LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { ID = 1, MAPPING_FILE = 5, HAS_FUNCTIONS = 7, HAS_FILES, HAS_LINES };
enum { LOCATION_MAPPING = 2, LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

static const char *const types[][2] = {
	{ "samples", "count" },
	{ "time", "nanoseconds" },
	{ "storage", "bytes" },
};
#define TYPES (sizeof(types) / sizeof(types[0]))
#define DEFAULT types[1][0]

struct pprof {
	struct sink *out;
	struct stack_samples samples;
	struct sink message, inner; /* under construction */
	struct map functions;	    /* source and name -> id */
	bool *written;		    /* by frame: its location */
	size_t room;
};

static uint32_t text(struct pprof *pprof, const char *name)
{
	return stack_tree_text(&pprof->samples.tree, (struct trace_string) { name, strlen(name) });
}

static void end(struct pprof *pprof, unsigned int field)
{
	protobuf_put_bytes(pprof->out, field, pprof->message.buffer, pprof->message.used);
	pprof->message.used = 0;
}

static void end_inner(struct pprof *pprof, unsigned int field)
{
	protobuf_put_bytes(&pprof->message, field, pprof->inner.buffer, pprof->inner.used);
	pprof->inner.used = 0;
}

static void put_types(struct pprof *pprof)
{
	for (size_t i = 0; i < TYPES; i++) {
		protobuf_put_uint(&pprof->message, TYPE, text(pprof, types[i][0]));
		protobuf_put_uint(&pprof->message, UNIT, text(pprof, types[i][1]));
		end(pprof, SAMPLE_TYPE);
	}
	protobuf_put_uint(pprof->out, DEFAULT_TYPE, text(pprof, DEFAULT));
}

/* One for all, which pprof shows as the name of the program; nothing is left to look up in it. */
static void put_mapping(struct pprof *pprof)
{
	const char *const *command = pprof->samples.job.traces[0].header->command;

	protobuf_put_uint(&pprof->message, ID, 1);
	protobuf_put_uint(&pprof->message, MAPPING_FILE,
			  text(pprof, command && command[0] ? command[0] : "faultline"));
	protobuf_put_uint(&pprof->message, HAS_FUNCTIONS, true);
	protobuf_put_uint(&pprof->message, HAS_FILES, true);
	protobuf_put_uint(&pprof->message, HAS_LINES, true);
	end(pprof, MAPPING);
}

/* --- locations: one for each frame, with the frame's number as id --- */

static int put_function(struct pprof *pprof, uint32_t frame, uint64_t *id)
{
	const struct tree_frame *of = &pprof->samples.tree.frames[frame];
	const uint64_t key = (uint64_t)of->source << 32 | of->function;
	const uint32_t name = of->function ? of->function : text(pprof, "(unknown)");
	const uint32_t source = of->source;
	bool added;
	uint64_t *number = map_add(&pprof->functions, &key, &added);

	if (!number)
		return -ENOMEM;
	if (added) {
		*number = pprof->functions.count;
		protobuf_put_uint(&pprof->message, ID, *number);
		protobuf_put_uint(&pprof->message, FUNCTION_NAME, name);
		/* Without a system_name, or pprof takes "<module>" for a C++ template. */
		protobuf_put_uint(&pprof->message, FUNCTION_FILE, source);
		end(pprof, FUNCTION);
	}
	*id = *number;
	return 0;
}

static int put_location(struct pprof *pprof, uint32_t frame)
{
	const uint64_t line = pprof->samples.tree.frames[frame].line;
	uint64_t function;
	int status;

	if (!GROW(pprof->written, pprof->room, frame + 1))
		return -ENOMEM;
	if (pprof->written[frame])
		return 0;
	pprof->written[frame] = true;
	status = put_function(pprof, frame, &function);
	if (status)
		return status;
	protobuf_put_uint(&pprof->inner, LINE_FUNCTION, function);
	protobuf_put_uint(&pprof->inner, LINE_NUMBER, line <= INT32_MAX ? line : 0);
	protobuf_put_uint(&pprof->message, ID, frame + 1);
	protobuf_put_uint(&pprof->message, LOCATION_MAPPING, 1);
	end_inner(pprof, LINE);
	end(pprof, LOCATION);
	return 0;
}

/* --- samples --- */

static void put_label(struct pprof *pprof, const char *key, uint32_t value)
{
	protobuf_put_uint(&pprof->inner, LABEL_KEY, text(pprof, key));
	protobuf_put_uint(&pprof->inner, LABEL_TEXT, value);
	end_inner(pprof, LABEL);
}

/* pprof drops a number that is 0, such as rank 0, unless it has a unit. */
static void put_number(struct pprof *pprof, const char *key, uint64_t value)
{
	protobuf_put_uint(&pprof->inner, LABEL_KEY, text(pprof, key));
	protobuf_put_uint(&pprof->inner, LABEL_NUMBER, value);
	protobuf_put_uint(&pprof->inner, LABEL_UNIT, text(pprof, key));
	end_inner(pprof, LABEL);
}

static void put_labels(struct pprof *pprof, const struct stack_sample *sample)
{
	const struct job *job = &pprof->samples.job;
	const struct process *process = &job->processes.processes[sample->process];

	put_label(pprof, "state", sample->state);
	if (sample->has_operation)
		put_label(pprof, "operation", text(pprof, job->operations[sample->operation].name));
	put_number(pprof, "pid", process->pid);
	put_number(pprof, "thread", sample->thread);
	if (process->rank >= 0)
		put_number(pprof, "rank", process->rank);
}

static uint64_t value_of(uint64_t sum)
{
	return sum < INT64_MAX ? sum : INT64_MAX;
}

static int put_sample(struct pprof *pprof, const struct stack_sample *sample)
{
	uint32_t frames[STACK_SAMPLE_FRAMES];
	size_t count = stack_samples_chain(&pprof->samples, sample, frames);
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = put_location(pprof, frames[i]);
	if (status)
		return status;
	while (count) /* the innermost first */
		protobuf_put_uint(&pprof->message, LOCATION_ID, frames[--count] + 1);
	protobuf_put_uint(&pprof->message, VALUE, value_of(sample->count));
	protobuf_put_uint(&pprof->message, VALUE, value_of(sample->weight_ns));
	protobuf_put_uint(&pprof->message, VALUE, value_of(sample->fetched_bytes));
	put_labels(pprof, sample);
	end(pprof, SAMPLE);
	return pprof->out->error;
}

/* --- the profile --- */

static void put_strings(struct pprof *pprof)
{
	const struct stack_tree *tree = &pprof->samples.tree;

	for (size_t i = 0; i < tree->text_count; i++) {
		escape_text(&pprof->message, tree->texts[i].bytes, tree->texts[i].length);
		end(pprof, STRING);
	}
}

static int write_all(struct pprof *pprof)
{
	const struct job *job = &pprof->samples.job;
	int status = 0;

	put_types(pprof);
	put_mapping(pprof);
	protobuf_put_uint(pprof->out, TIME_NANOS, value_of(job->start_ns));
	protobuf_put_uint(pprof->out, DURATION_NANOS,
			  value_of(number_sub(job->end_ns, job->start_ns)));
	for (size_t i = 0; i < pprof->samples.count && !status; i++)
		status = put_sample(pprof, &pprof->samples.samples[i]);
	put_strings(pprof);
	return status		      ? status
	       : pprof->message.error ? pprof->message.error
	       : pprof->inner.error   ? pprof->inner.error
				      : arena_status(&pprof->samples.tree.arena);
}

static int write_profile(const struct export_format *format, struct sink *out,
			 struct trace_reader *const *traces, const char *const *names,
			 size_t trace_count, const struct export_options *options,
			 struct trace_error *error)
{
	struct pprof pprof = { .out = out, .samples = { .details = true } };
	int status = stack_samples_load(&pprof.samples, traces, names, trace_count, options, error);

	sink_open_memory(&pprof.message);
	sink_open_memory(&pprof.inner);
	map_init(&pprof.functions, 1, 1);
	if (!status)
		status = write_all(&pprof);
	sink_close(&pprof.message);
	sink_close(&pprof.inner);
	map_free(&pprof.functions);
	free(pprof.written);
	stack_samples_free(&pprof.samples);
	return status ? status : out->error;
}

const struct export_format export_pprof = {
	.name = "pprof",
	.stream = write_profile,
	.stacks = true,
	.compressed = true,
	.about = "A profile of pprof (protobuf, gzip), for `go tool pprof`, Pyroscope and\n"
		 "speedscope: samples of stacks, added up.\n\n"
		 "  samples  count: number of samples; the more, the more precise are the others\n"
		 "  time     nanoseconds: time that the samples represent (the default)\n"
		 "  storage  bytes brought into the page cache by their operations; estimated\n"
		 "           for operations shorter than the time that they represent\n\n"
		 "  labels   state: io (time in calls and faults), what the thread waited for, or\n"
		 "           cpu (on a CPU, also inside calls and faults, so io overlaps it);\n"
		 "           operation; pid, thread, rank: numbers\n"
		 "  frames   as in format collapsed: the program and kind of thread, what is\n"
		 "           unknown, the stack; with files and lines\n\n"
		 "Control characters and invalid UTF-8 are written as \\xHH.\n",
};
