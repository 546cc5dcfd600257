/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about the phases of a training job, according to its spans: checkpoints, data loaders
 * and compute.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding.h"
#include "analysis/phases/levels.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/results.h"
#include "analysis/stacks/lines.h"
#include "collections/compare.h"
#include "base/number.h"

/* --- checkpoints --- */

struct data_waits {
	uint64_t count, time_ns, unhidden_ns, io_ns, workers;
	uint64_t work_ns; /* TABLE_NO_UINT: most of it is I/O, or how much is unknown */
	uint64_t workers_ns;
	double of_run, io_share;
	bool shown; /* there are compute spans, which show whether anything waited */
};

static const struct table_column waits_columns[] = {
	FACT(data_waits, count, "count", COUNT, "spans"),
	COLUMN(data_waits, time_ns, "time", NS, UNION, "time in them"),
	FACT(data_waits, unhidden_ns, "unoverlapped", NS, "part of that time without compute"),
	FACT(data_waits, io_ns, "I/O", NS,
	     "part of the unoverlapped time with I/O of the job in flight"),
	FACT(data_waits, work_ns, "other work", NS,
	     "part of the unoverlapped time without I/O, if it is most of it; null: it is not, or "
	     "I/O was not recorded as single operations"),
	FACT(data_waits, workers, "workers", COUNT, "spans of data loader workers"),
	FACT(data_waits, of_run, "of the run", SHARE, "unoverlapped share of the run"),
	FACT(data_waits, io_share, "I/O", SHARE, "share of I/O in the unoverlapped time"),
};

THRESHOLD_MIN(DATA_WAIT_IO, 0.5, UNIT_SHARE, "part of the wait in I/O for it to be I/O-bound",
	      "a majority");

/* Returns false if times of several runs together are unknown. */
static bool waits_of(const struct findings *findings, enum activity_of which,
		     struct data_waits *waits)
{
	struct level_view activity, workers, compute;

	if (!levels_view(findings->results, which, &activity) ||
	    !levels_view(findings->results, ACTIVITY_WORKER, &workers))
		return false;
	*waits = (struct data_waits) {
		.count = activity.count,
		.time_ns = activity.time_ns,
		.unhidden_ns = activity.unhidden_ns,
		.io_ns = activity.io_known ? activity.io_ns : TABLE_NO_UINT,
		.workers = workers.count,
		.workers_ns = workers.time_ns,
		.of_run = finding_share(activity.unhidden_ns, findings->duration_ns),
		.io_share = activity.io_known ? finding_share(activity.io_ns, activity.unhidden_ns)
					      : NAN,
		.work_ns = TABLE_NO_UINT,
		.shown = activity.count &&
			 levels_view(findings->results, ACTIVITY_COMPUTE, &compute) &&
			 compute.count,
	};
	if (waits->io_share < threshold(THRESHOLD_DATA_WAIT_IO)) /* never, if unknown */
		waits->work_ns = waits->unhidden_ns - waits->io_ns;
	return true;
}

THRESHOLD_MIN(CHECKPOINT_WAITS, 0.5, UNIT_SHARE, "unoverlapped part of checkpoints", "a majority");

static int find_checkpoint(struct findings *findings, const struct finding_rule *rule)
{
	struct data_waits waits;

	if (!waits_of(findings, ACTIVITY_CHECKPOINT, &waits))
		return 1;
	return waits.shown && finding_share(waits.unhidden_ns, waits.time_ns) >=
				       threshold(THRESHOLD_CHECKPOINT_WAITS)
		       ? finding_add(findings, rule, &waits, waits.unhidden_ns, TABLE_NO_UINT)
		       : 0;
}

const struct finding_rule finding_sync_checkpoint = {
	.id = "sync-checkpoint",
	.order = 550,
	.lines = 1u << USE_WRITE | 1u << USE_SYNC,
	.lines_of_all = true,
	.needs = JOB_SPAN,
	.find = find_checkpoint,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct data_waits, waits_columns),
	.thresholds = { &THRESHOLD_CHECKPOINT_WAITS, &THRESHOLD_DATA_WAIT_IO },
	.title = "Checkpoints block training",
	.says = "{time_ns} in checkpoint spans ({count}); compute was idle for {unhidden_ns}[, "
		"{work_ns} of it without I/O]",
	.advice = "[Use a format that only copies (safetensors; no pickle, no compression), or "
		  "save a copy from another process: most of the time ({work_ns}) goes into "
		  "building the checkpoint, not writing it||Write the checkpoint during the next "
		  "steps (in a thread, or with an asynchronous save)]",
	.more = "faultline report --table spans TRACE",
	.pictures = "phases checkpoints",
	.rule = "While spans of category checkpoint were open, no span of category compute was. If "
		"a thread writes a copy of the state in memory, training can continue. If most of "
		"the time is not I/O, it is spent pickling, compressing or copying the state. A "
		"thread does not help then: it competes with training for Python's interpreter "
		"lock.",
};

/* --- data loaders --- */

THRESHOLD_MIN(DATA_WAIT, 0.05, UNIT_SHARE, "share of the run that the loop waits for data",
	      "DLIO and MLPerf Storage require an accelerator utilization of 90%");

static bool is_long(const struct data_waits *waits)
{
	return waits->shown && waits->of_run >= threshold(THRESHOLD_DATA_WAIT);
}

static int find_loader_io(struct findings *findings, const struct finding_rule *rule)
{
	struct data_waits waits;

	if (!waits_of(findings, ACTIVITY_DATA, &waits))
		return 1;
	return is_long(&waits) && waits.io_share >= threshold(THRESHOLD_DATA_WAIT_IO)
		       ? finding_add(findings, rule, &waits, waits.io_ns, TABLE_NO_UINT)
		       : 0;
}

/* Without workers, the loop loads the data itself. */
static bool is_io_of_loader(const void *evidence, const struct lines_row *row)
{
	const struct data_waits *waits = evidence;

	return row->state == sample_state_names[SAMPLE_IO] &&
	       (!waits->workers || strcmp(row->kind, "main") != 0);
}

const struct finding_rule finding_loader_io = {
	.id = "loader-io",
	.order = 560,
	.lines_row = is_io_of_loader,
	.lines_whole = "the loader's I/O",
	.needs = JOB_SPAN,
	.find = find_loader_io,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct data_waits, waits_columns),
	.thresholds = { &THRESHOLD_DATA_WAIT, &THRESHOLD_DATA_WAIT_IO },
	.title = "Data loader is I/O-bound",
	.says = "{unhidden_ns} ({of_run} of the run) without compute in {count:data span|data "
		"spans}; I/O took {io_share} of that",
	.advice = "Add workers or increase prefetch, and see the findings on files",
	.more = "faultline report --table epochs TRACE",
	.pictures = "phases data, steps",
	.rule = "While the training loop waited in spans of category data, nothing computed, and "
		"for most of that time a thread of the job was in an I/O call or a page fault.",
};

static int find_loader_work(struct findings *findings, const struct finding_rule *rule)
{
	struct data_waits waits;

	if (!waits_of(findings, ACTIVITY_DATA, &waits))
		return 1;
	return is_long(&waits) && waits.work_ns != TABLE_NO_UINT
		       ? finding_add(findings, rule, &waits, waits.work_ns, TABLE_NO_UINT)
		       : 0;
}

/* Without workers, the loop's computation is in the same thread. */
static bool is_work_of_loader(const void *evidence, const struct lines_row *row)
{
	const struct data_waits *waits = evidence;

	return waits->workers && row->state == sample_state_names[THREAD_CPU] &&
	       strcmp(row->kind, "main") != 0;
}

const struct finding_rule finding_loader_work = {
	.id = "loader-preprocessing",
	.order = 570,
	.lines_row = is_work_of_loader,
	.lines_whole = "the loader's time on CPUs",
	.needs = JOB_SPAN,
	.find = find_loader_work,
	.confidence = FINDING_LIKELY,
	/* Workers prepare nothing while they start. */
	.reported_by = { "worker-start" },
	.cross_run = true,
	FINDING_EVIDENCE(struct data_waits, waits_columns),
	.thresholds = { &THRESHOLD_DATA_WAIT, &THRESHOLD_DATA_WAIT_IO },
	.title = "Data loader is CPU-bound",
	.says = "{unhidden_ns} ({of_run} of the run) without compute in {count:data span|data "
		"spans}; I/O took {io_share} of that",
	.advice = "Add workers, or make decoding and augmentation cheaper (prepare data once, or "
		  "use the GPU); faster storage would not help",
	.more = "faultline report --table levels TRACE",
	.pictures = "phases data, steps",
	.rule = "While the training loop waited in spans of category data, nothing computed, and "
		"for most of that time no thread of the job was in an I/O call or a page fault: "
		"the loader decodes, transforms, collates or hands over data.",
};

THRESHOLD_MAX(DATA_WAIT_NONE, 0.01, UNIT_SHARE, "share of the run that counts as no wait",
	      "half of how much the time of the same job varies");
THRESHOLD_MAX(WORKERS_IDLE, 0.5, UNIT_SHARE, "share of the run that idle workers work",
	      "half as many would suffice");

static int find_loader_idle(struct findings *findings, const struct finding_rule *rule)
{
	struct data_waits waits;

	if (!waits_of(findings, ACTIVITY_DATA, &waits))
		return 1;
	return waits.shown && waits.workers && waits.of_run < threshold(THRESHOLD_DATA_WAIT_NONE) &&
			       finding_share(waits.workers_ns, findings->duration_ns) <
				       threshold(THRESHOLD_WORKERS_IDLE)
		       ? finding_add(findings, rule, &waits, TABLE_NO_UINT, TABLE_NO_UINT)
		       : 0;
}

const struct finding_rule finding_loader_idle = {
	.id = "loader-idle",
	.order = 580,
	.needs = JOB_SPAN,
	.find = find_loader_idle,
	.confidence = FINDING_GUESS,
	.severity = FINDING_NOTE,
	.cross_run = true,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct data_waits, waits_columns),
	.thresholds = { &THRESHOLD_DATA_WAIT_NONE, &THRESHOLD_WORKERS_IDLE },
	.title = "Data loader workers are idle for most of the run",
	.says = "the loop waited for data for {of_run} of the run; {workers} worker spans",
	.advice = "Use fewer workers, which leaves CPUs and memory to others",
	.more = "faultline report --table levels TRACE",
	.pictures = "phases data, steps",
	.rule = "The loop hardly ever waits, and the workers are busy for less than half of the "
		"run.",
};

/* --- workers --- */

struct workers {
	uint64_t workers, pid, rank, spans, each_ns, median_ns, time_ns, io_ns;
	double beyond;
};

static const struct table_column workers_columns[] = {
	FACT(workers, workers, "workers", COUNT, "data loader workers"),
	FACT(workers, pid, "pid", NONE, "worker with the longest average span"),
	FACT(workers, rank, "rank", NONE, "its rank"),
	FACT(workers, spans, "spans", COUNT, "its spans, nested ones excluded"),
	FACT(workers, each_ns, "each", NS, "average time per span"),
	FACT(workers, median_ns, "median", NS,
	     "median of that average over all workers; with two, the other one's"),
	COLUMN(workers, time_ns, "time", NS, UNION, "time in its spans"),
	FACT(workers, io_ns, "I/O", NS, "thread time of its I/O"),
	FACT(workers, beyond, "beyond", SHARE, "share of its average span above the median"),
};

/* Lists each worker's time per span, unsorted; returns how many. *workers receives the slowest. */
static size_t list_workers(const struct findings *findings, uint64_t *times,
			   struct workers *workers)
{
	const struct job *job = findings->results->job;
	/* Processes without room began no span. */
	const size_t most = number_min(job->processes.count, job->activities->process_room);
	size_t count = 0;

	for (size_t i = PROCESS_UNKNOWN + 1; i < most; i++) {
		const struct activity_worker *worker = &job->activities->workers[i];
		const struct process *process = &job->processes.processes[i];

		if (!worker->count)
			continue;
		times[count++] = worker->time_ns / worker->count;
		if (times[count - 1] <= workers->each_ns)
			continue;
		workers->each_ns = times[count - 1];
		workers->pid = process->pid;
		workers->rank = process->rank < 0 ? TABLE_NO_UINT : (uint64_t)process->rank;
		workers->spans = worker->count;
		workers->time_ns = worker->time_ns;
		workers->io_ns =
			job->layers & JOB_SYSCALL
				? processes_tally(findings->results, i, MEASURE_IO)->thread_time_ns
				: TABLE_NO_UINT;
	}
	return count;
}

THRESHOLD_MIN(WORKER_SLOW, 0.3, UNIT_SHARE,
	      "excess over the median, as a share of the slowest worker's span",
	      "as for ranks: Drishti's imbalance_operations 0.3");

/* Returns how many are as slow as the slowest, within the threshold. */
static size_t count_slow(const uint64_t *times, size_t count, uint64_t slowest_ns)
{
	size_t slow = 0;

	for (size_t i = 0; i < count; i++)
		slow += finding_share(slowest_ns - times[i], slowest_ns) <
			threshold(THRESHOLD_WORKER_SLOW);
	return slow;
}

THRESHOLD_MAX(WORKERS_SLOW, 0.25, UNIT_SHARE,
	      "share of workers that are as slow; one always qualifies",
	      "a choice: more do other work, such as training next to validation");

/* Other findings report the cost of waiting for data. */
static int find_worker_slow(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	struct finding_verdict verdict = { .cost_ns = TABLE_NO_UINT,
					   .cost_bytes = TABLE_NO_UINT,
					   .confidence = FINDING_GUESS,
					   .severity = FINDING_NOTE };
	struct workers workers = { 0 };
	struct data_waits waits;
	uint64_t *times, beyond_ns;
	size_t slow;

	if (!waits_of(findings, ACTIVITY_DATA, &waits) || !is_long(&waits) || !waits.workers)
		return 0;
	times = calloc(job->processes.count, sizeof(*times));
	if (!times)
		return -ENOMEM;
	workers.workers = list_workers(findings, times, &workers);
	qsort(times, workers.workers, sizeof(*times), compare_u64);
	workers.median_ns = workers.workers ? times[(workers.workers - 1) / 2] : 0;
	slow = count_slow(times, workers.workers, workers.each_ns);
	free(times);
	beyond_ns = workers.each_ns - workers.median_ns;
	workers.beyond = finding_share(beyond_ns, workers.each_ns);
	if (workers.workers < 2 || workers.beyond < threshold(THRESHOLD_WORKER_SLOW) ||
	    finding_share(beyond_ns, findings->duration_ns) * workers.spans <
		    threshold(THRESHOLD_DATA_WAIT) ||
	    (slow > 1 && finding_share(slow, workers.workers) > threshold(THRESHOLD_WORKERS_SLOW)))
		return 0;
	if (workers.workers > 2)
		verdict.confidence = FINDING_LIKELY;
	return finding_add_as(findings, rule, &workers, &verdict);
}

const struct finding_rule finding_worker_slow = {
	.id = "worker-slow",
	.order = 590,
	.needs = JOB_SPAN,
	.find = find_worker_slow,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct workers, workers_columns),
	.thresholds = { &THRESHOLD_DATA_WAIT, &THRESHOLD_WORKER_SLOW, &THRESHOLD_WORKERS_SLOW },
	.title = "Worker {pid} of the data loader is slower than the others",
	.says = "{each_ns} for each of its {spans} spans, median {median_ns} of {workers} "
		"workers[; I/O took {io_ns} of its {time_ns}]",
	.advice = "Check what it reads that the others do not: larger samples, another directory "
		  "or device; a loader that keeps samples in order waits for its slowest worker",
	.more = "faultline report --by process TRACE",
	.pictures = "workers, workers io",
	.rule = "The loop waits for data, and one worker, or a few of many, took longer per span "
		"of category data or preprocess than the others; the total excess is as large a "
		"share of the run as a wait for data must be to be reported. Its cost is part of "
		"the cost of waiting for data, which other findings report.",
};

/* --- compute --- */

struct training {
	uint64_t window_ns, compute_ns, idle_ns;
	double used;
};

static const struct table_column training_columns[] = {
	FACT(training, window_ns, "training", NS,
	     "time from the start of the first compute span to the end of the last; averaged over "
	     "ranks"),
	FACT(training, compute_ns, "compute", NS, "compute time within training"),
	FACT(training, idle_ns, "idle", NS, "time in training without compute"),
	FACT(training, used, "used", SHARE, "share of training spent in compute"),
};

/* Averages over ranks, or uses the job if there are none. */
static struct training training_of(const struct activities *all)
{
	size_t first = all->group_count > 1 ? ACTIVITY_JOB + 1 : ACTIVITY_JOB, computing = 0;
	struct training training = { 0 };

	for (size_t i = first; i < all->group_count; i++) {
		const struct activity *of = all->groups[i].of, *compute = &of[ACTIVITY_COMPUTE];

		if (!compute->time_ns)
			continue;
		computing++;
		training.window_ns += number_sub(compute->end_ns, compute->start_ns);
		training.compute_ns += compute->time_ns;
	}
	if (!computing)
		return training;
	training.window_ns /= computing;
	training.compute_ns /= computing;
	training.idle_ns = number_sub(training.window_ns, training.compute_ns);
	training.used = finding_share(training.compute_ns, training.window_ns);
	return training;
}

THRESHOLD_MAX(ACCELERATOR_USED, 0.9, UNIT_SHARE, "share of training in compute",
	      "MLPerf Storage: an accelerator utilization of 90%");

/* Other findings report the reason and its cost: counted twice, it would look twice as high. */
static int find_accelerator(struct findings *findings, const struct finding_rule *rule)
{
	struct training training = training_of(findings->results->job->activities);

	if (!training.window_ns || training.used >= threshold(THRESHOLD_ACCELERATOR_USED))
		return 0;
	return finding_add(findings, rule, &training, TABLE_NO_UINT, TABLE_NO_UINT);
}

const struct finding_rule finding_accelerator = {
	.id = "accelerator-idle",
	.order = 600,
	.needs = JOB_SPAN,
	.find = find_accelerator,
	.confidence = FINDING_SURE,
	.severity = FINDING_NOTE,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct training, training_columns),
	.thresholds = { &THRESHOLD_ACCELERATOR_USED },
	.title = "Accelerator {used} busy during training",
	.says = "idle for {idle_ns} of the {window_ns} between its first work and its last",
	.advice = "See the findings above for the cause; overlap loading and saving with compute",
	.more = "faultline report --table epochs TRACE",
	.pictures = "states",
	.rule = "Between the start of the first compute span and the end of the last, less than "
		"nine tenths of the time was compute. This shows how much there is to gain, not "
		"how.",
};
