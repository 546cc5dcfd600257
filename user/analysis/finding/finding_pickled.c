/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding on data that Python's processes send each other. */
#include "analysis/finding/finding_made.h"

#include <math.h>
#include <string.h>

#include "analysis/processes/critical_path.h"
#include "analysis/processes/threads.h"

struct pickled {
	uint64_t time_ns, samples;
	double share;
};

static const struct table_column evidence_columns[] = {
	COLUMN(pickled, time_ns, "time", NS, UNION,
	       "CPU time on the critical path in pickling, sending, receiving and unpickling, of "
	       "one "
	       "main thread on average, with waits for a CPU"),
	FACT(pickled, samples, "samples", COUNT, "CPU samples that say so"),
	FACT(pickled, share, "share", SHARE, "its share of the CPU time on the critical path"),
};

THRESHOLD(PICKLED_SHARE, 0.1, UNIT_SHARE, "share of the run that it takes, at least",
	  "a choice: the threshold of severity high");

THRESHOLD(PICKLED_SAMPLES, 5, UNIT_COUNT, "CPU samples, at least",
	  "measured: one or two are of the start of a queue");

static bool ends_with(struct trace_string text, const char *end)
{
	const size_t length = strlen(end);

	return text.length >= length && !memcmp(text.bytes + text.length - length, end, length);
}

/* Whether a stack is in a part of multiprocessing (Python's, or PyTorch's) that moves objects. */
static bool moves_objects(const struct job *job, const struct path_stack *sampled)
{
	static const char *const files[] = {
		"/multiprocessing/connection.py",
		"/multiprocessing/queue.py",
		"/multiprocessing/queues.py",
		"/multiprocessing/reduction.py",
	};
	uint64_t stack = sampled->stack;
	struct stack_frame frame;

	for (int depth = 0; depth < STACK_FRAMES_MAX &&
			    stack_table_next(&job->stacks, sampled->trace, &stack, &frame);
	     depth++)
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			if (ends_with(frame.source, files[i]) &&
			    !ends_with(frame.function, "<module>")) /* being imported */
				return true;
	return false;
}

static bool takes_stack(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	return evidence && moves_objects(job, stack);
}

static int find_pickled(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	uint64_t whole_ns, roots, computing_ns = 0, all_ns = 0, moving_ns = 0;
	struct pickled pickled = { .samples = 0 };
	size_t count;
	const struct path_share *shares = critical_path_threads(results, &count, &whole_ns, &roots);
	const struct path_stack *stacks;

	for (size_t i = 0; i < count; i++)
		computing_ns += shares[i].parts[THREAD_CPU] + shares[i].parts[THREAD_RUNNABLE];
	stacks = critical_path_stacks(results, &count);
	for (size_t i = 0; i < count; i++) {
		all_ns += stacks[i].time_ns;
		if (!moves_objects(results->job, &stacks[i]))
			continue;
		moving_ns += stacks[i].time_ns;
		pickled.samples += stacks[i].samples;
	}
	if (!roots || pickled.samples < threshold(THRESHOLD_PICKLED_SAMPLES))
		return 0;
	pickled.share = finding_share(moving_ns, all_ns);
	pickled.time_ns =
		finding_least(computing_ns / roots * pickled.share, findings->duration_ns);
	if (!finding_is_of_run(findings, pickled.time_ns, THRESHOLD_PICKLED_SHARE))
		return 0;
	return finding_add(findings, rule, &pickled, pickled.time_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_pickled_data = {
	.id = "pickled-data",
	.order = 662,
	.breadth = FINDING_PATTERN,
	.needs = JOB_THREAD | JOB_EVENTS,
	.sums = FINDING_OF_SPANS,
	.drags = true,
	.find = find_pickled,
	.confidence = FINDING_LIKELY,
	.lines_path = takes_stack,
	.lines_whole = "this CPU time",
	FINDING_EVIDENCE(struct pickled, evidence_columns),
	.thresholds = { &THRESHOLD_PICKLED_SHARE, &THRESHOLD_PICKLED_SAMPLES },
	.title = "Processes send each other data that they pickle and copy through pipes",
	.says = "{time_ns} ({share} of the critical path's CPU time) in pickling, sending, "
		"receiving and unpickling",
	.advice = "Pass large arrays in shared memory (torch tensors, "
		  "multiprocessing.shared_memory), or send file names or indices and load the data "
		  "where it is used",
	.more = "faultline report --table critical_path TRACE",
	.pictures = "path",
	.rule = "Queues, pipes and pools of Python's multiprocessing pickle each object, write it "
		"to "
		"a pipe and read and unpickle it at the other end: an array is copied four times, "
		"by two processes, of which one waits for the other. The cost is the CPU time for "
		"it on the critical path, which is what the main threads do and, while one waits "
		"for another thread of the run, what that thread does; the new memory that the "
		"copies need costs more.",
};
