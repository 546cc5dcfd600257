/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding on data that Python's processes send each other. */
#include "analysis/finding/finding.h"

#include "analysis/events/path.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/processes/threads.h"
#include "collections/map.h"
#include "base/number.h"

struct pickled {
	uint64_t time_ns, samples;
	double share;
	bool moves; /* false: only a pool's bookkeeping was sampled, as in one of threads */
};

static const struct table_column evidence_columns[] = {
	COLUMN(pickled, time_ns, "time", NS, UNION,
	       "critical-path time spent pickling, sending, receiving and unpickling, CPU waits "
	       "included, averaged over main threads"),
	FACT(pickled, samples, "samples", COUNT, "CPU samples in that code"),
	FACT(pickled, share, "share", SHARE, "share of the critical path's CPU time"),
};

THRESHOLD_MIN(PICKLED_SAMPLES, 20, UNIT_COUNT, "CPU samples",
	      "the relative error is one over the square root of their number: about 20%");

static bool is_one_of(const struct trace_string *source, const char *const *endings)
{
	for (; *endings; endings++)
		if (path_ends(source->bytes, source->length, *endings))
			return true;
	return false;
}

/* Whether a function of a pool calls what the program asked for, which may have no frame. */
static bool does_work(const struct stack_frame *frame)
{
	static const char *const names[] = { "worker",		"mapstar",	  "starmapstar",
					     "_process_worker", "_process_chunk", NULL };

	return is_one_of(&frame->function, names);
}

/* Python's modules that start a process without a copy of its parent's memory. */
static const char *const starters[] = { "/multiprocessing/popen_spawn_posix.py",
					"/multiprocessing/popen_forkserver.py", NULL };

/* Whether a function writes what a new process needs, or reads it there: both call compiled code
 * for it. */
static bool hands_over(const struct stack_frame *frame)
{
	static const char *const readers[] = { "/multiprocessing/spawn.py", NULL };
	static const char *const writes[] = { "_launch", NULL }, *const reads[] = { "_main", NULL };

	return (is_one_of(&frame->source, starters) && is_one_of(&frame->function, writes)) ||
	       (is_one_of(&frame->source, readers) && is_one_of(&frame->function, reads));
}

enum pickled_part { NOT_MOVING, MOVING, HANDLING };

/* Whether a stack is in a part of multiprocessing (Python's, or PyTorch's) that moves objects, or
 * ends where a process gets its own or in a pool's handling of tasks and results. */
static enum pickled_part part_of(const struct job *job, const struct path_stack *sampled)
{
	static const char *const moving[] = { "/multiprocessing/connection.py",
					      "/multiprocessing/queue.py",
					      "/multiprocessing/queues.py",
					      "/multiprocessing/reduction.py", NULL };
	static const char *const handling[] = { "/multiprocessing/pool.py",
						"/concurrent/futures/process.py", NULL };
	static const char *const waiting[] = { "/threading.py", NULL };
	uint64_t stack = sampled->stack;
	enum pickled_part part = NOT_MOVING;
	bool innermost = true;
	struct stack_frame frame;

	for (int depth = 0; depth < STACK_FRAMES_MAX &&
			    stack_table_next(&job->stacks, sampled->trace, &stack, &frame);
	     depth++) {
		if (is_one_of(&frame.source, moving) &&
		    !path_ends(frame.function.bytes, frame.function.length,
			       "<module>")) /* being imported */
			return MOVING;
		if (innermost && hands_over(&frame))
			return MOVING;
		if (innermost && is_one_of(&frame.source, handling) && !does_work(&frame))
			part = HANDLING;
		innermost &= !frame.source.length || is_one_of(&frame.source, waiting);
	}
	return part;
}

static bool takes_stack(const struct job *job, const void *evidence, const struct path_stack *stack)
{
	return evidence && part_of(job, stack) != NOT_MOVING;
}

/* Whether a stack is of code that starts a process and sends it what it needs. */
static bool starts_process(const struct job *job, const struct path_stack *sampled)
{
	uint64_t stack = sampled->stack;
	struct stack_frame frame;

	for (int depth = 0; depth < STACK_FRAMES_MAX &&
			    stack_table_next(&job->stacks, sampled->trace, &stack, &frame);
	     depth++)
		if (is_one_of(&frame.source, starters))
			return true;
	return false;
}

/* CPU time of a thread on the path, by its samples. */
struct thread_samples {
	uint64_t all_ns, moving_ns;
};

/* Sums up the samples by thread, in the order of the shares. */
static void add_samples(const struct results *results, const struct map *numbers,
			struct thread_samples *sampled, struct pickled *pickled)
{
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);
	uint64_t all_ns = 0, moving_ns = 0;

	for (; count; count--, stacks++) {
		const uint64_t key = path_thread_key(stacks->process, stacks->tid);
		const uint64_t *number = map_find(numbers, &key);
		enum pickled_part part;

		all_ns += stacks->time_ns;
		if (number)
			sampled[*number].all_ns += stacks->time_ns;
		part = part_of(results->job, stacks);
		if (part == NOT_MOVING)
			continue;
		moving_ns += stacks->time_ns;
		pickled->samples += stacks->samples;
		pickled->moves |= part == MOVING;
		if (number)
			sampled[*number].moving_ns += stacks->time_ns;
	}
	pickled->share = finding_share(moving_ns, all_ns);
}

/* Two processes that send and receive wait for each other again and again, too briefly for the path
 * to follow, and so do the threads of a pool: a thread's waits for pipes and locks are divided
 * like its CPU samples. */
static void sum_up(const struct results *results, struct arena *arena, struct pickled *pickled)
{
	uint64_t whole_ns, roots;
	size_t count;
	const struct path_share *shares = critical_path_threads(results, &count, &whole_ns, &roots);
	struct thread_samples *sampled = arena_alloc(arena, (count + 1) * sizeof(*sampled));
	struct map numbers;
	double time_ns = 0;

	map_init_in(&numbers, arena, 1, 1);
	if (!sampled || !roots || critical_path_number(&numbers, shares, count))
		return;
	add_samples(results, &numbers, sampled, pickled);
	for (size_t i = 0; i < count; i++) {
		const uint64_t *parts = shares[i].parts;

		time_ns += (double)(parts[THREAD_CPU] + parts[THREAD_RUNNABLE] +
				    parts[THREAD_PIPE] + parts[THREAD_LOCK]) *
			   finding_share(sampled[i].moving_ns, sampled[i].all_ns);
	}
	pickled->time_ns = time_ns / roots;
}

static int find_pickled(struct findings *findings, const struct finding_rule *rule)
{
	struct pickled pickled = { .samples = 0 };
	struct arena arena = { .bytes = 0 };
	int status;

	sum_up(findings->results, &arena, &pickled);
	status = arena_status(&arena);
	arena_free(&arena);
	pickled.time_ns = number_min(pickled.time_ns, findings->duration_ns);
	if (status || !pickled.moves || pickled.samples < threshold(THRESHOLD_PICKLED_SAMPLES) ||
	    !finding_is_of_run(findings, pickled.time_ns, THRESHOLD_MUCH_OF_RUN))
		return status;
	return finding_add(findings, rule, &pickled, pickled.time_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_pickled_data = {
	.id = "pickled-data",
	.order = 662,
	.breadth = FINDING_PATTERN,
	.needs = JOB_THREAD | JOB_EVENTS,
	.sums = FINDING_OF_SPANS,
	.causes_work = true,
	.find = find_pickled,
	.confidence = FINDING_LIKELY,
	.lines_path = takes_stack,
	.lines_start = starts_process,
	.lines_whole = "this CPU time",
	FINDING_EVIDENCE(struct pickled, evidence_columns),
	.thresholds = { &THRESHOLD_MUCH_OF_RUN, &THRESHOLD_PICKLED_SAMPLES },
	.title = "Processes exchange pickled data through pipes",
	.says = "{time_ns} spent pickling, sending, receiving and unpickling, {share} of the "
		"critical path's CPU time",
	.advice = "Send small objects many at a time (chunksize, batches), large arrays in shared "
		  "memory (torch tensors, multiprocessing.shared_memory), or file names and "
		  "indices, and load the data where it is used; let workers inherit what all of "
		  "them need (fork)",
	.more = "faultline report --table critical_path TRACE",
	.pictures = "path",
	.rule = "Queues, pipes and pools of Python's multiprocessing pickle each object, write it "
		"to a pipe and read and unpickle it at the other end: an array is copied four "
		"times, by two processes, of which one waits for the other, and each small object "
		"costs calls and a switch between them. What a spawned process gets to start "
		"with, such as a dataset, counts, and a pool's handling of tasks and results, "
		"too. The cost is the time that this takes on the critical path, which is "
		"what the main threads do and, while one waits for another thread of the run, what "
		"that thread does. A thread's CPU time, waits for a CPU and waits on pipes count "
		"in proportion to its CPU samples. Memory for the copies is not included.",
};
