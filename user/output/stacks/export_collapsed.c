/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes stacks in the folded format of flamegraph.pl, one line each: frames separated by
 * semicolons, the outermost first, then a space and a number.
 */
#include <inttypes.h>
#include <string.h>

#include "output/base/escape.h"
#include "output/stacks/stack_samples.h"

/* Writes a text without control characters and separators. */
static void put_text(struct sink *out, struct trace_string text)
{
	while (text.length) {
		const char *end = memchr(text.bytes, ';', text.length);
		const size_t length = end ? (size_t)(end - text.bytes) : text.length;

		escape_text(out, text.bytes, length);
		if (!end)
			break;
		sink_text(out, "\\x3b");
		text.bytes += length + 1;
		text.length -= length + 1;
	}
}

/* "Dataset.__getitem__ (/job/loader.py:42)" */
static void put_frame(struct sink *out, const struct stack_tree *tree, uint32_t frame)
{
	const struct trace_string function = stack_tree_function(tree, frame);
	const struct trace_string source = stack_tree_source(tree, frame);

	if (function.length)
		put_text(out, function);
	else
		sink_text(out, "(unknown)");
	if (!source.length)
		return;
	sink_text(out, " (");
	put_text(out, source);
	if (tree->frames[frame].line)
		sink_format(out, ":%" PRIu64, tree->frames[frame].line);
	sink_char(out, ')');
}

static void put_sample(struct sink *out, const struct stack_samples *samples,
		       const struct stack_sample *sample)
{
	uint32_t frames[STACK_SAMPLE_FRAMES];
	const size_t count = stack_samples_chain(samples, sample, frames);

	for (size_t i = 0; i < count; i++) {
		put_frame(out, &samples->tree, frames[i]);
		sink_char(out, ';');
	}
	sink_char(out, '[');
	put_text(out, samples->tree.texts[sample->state]);
	sink_format(out, "] %" PRIu64 "\n", sample->weight_ns);
}

static int write_lines(const struct export_format *format, struct sink *out,
		       struct trace_reader *const *traces, const char *const *names,
		       size_t trace_count, const struct export_options *options,
		       struct trace_error *error)
{
	struct stack_samples samples = { .details = false };
	int status = stack_samples_load(&samples, traces, names, trace_count, options, error);

	for (size_t i = 0; i < samples.count && !status; i++) {
		put_sample(out, &samples, &samples.samples[i]);
		status = out->error;
	}
	stack_samples_free(&samples);
	return status;
}

const struct export_format export_collapsed = {
	.name = "collapsed",
	.stream = write_lines,
	.stacks = true,
	.about = "Folded stacks, for flamegraph.pl, inferno and speedscope: one line each,\n"
		 "\"PROGRAM KIND;FRAME;FRAME;...;[STATE] NANOSECONDS\", the outermost first.\n\n"
		 "  KIND         main, worker (forked without exec, or by multiprocessing) or\n"
		 "               helper (any other thread)\n"
		 "  FRAME        FUNCTION (FILE:LINE); or what is unknown: (cut) before stacks\n"
		 "               without their outer frames; instead of a stack (no python),\n"
		 "               (no thread), (no frame), (unread), (lost), (no stack)\n"
		 "  STATE        io: time in calls and faults; else what the thread waited for;\n"
		 "               cpu: on a CPU, also inside calls and faults, so io overlaps it\n"
		 "  NANOSECONDS  time that the samples represent; every sample is in a line\n\n"
		 "Semicolons, control characters and invalid UTF-8 are written as \\xHH.\n",
};
