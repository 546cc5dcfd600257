/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about main threads without compute spans that block in large reads or writes. */
#include "analysis/finding/finding_files.h"
#include "analysis/phases/activity.h"
#include "analysis/processes/processes.h"
#include "analysis/processes/threads.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"

struct waits {
	struct table_text path, file;
	uint64_t pid, others, calls, bytes, fetched_bytes, syncs, runs, time_ns, bandwidth;
	uint64_t moved_ns;  /* of time_ns: another thread can take it over */
	uint64_t hidden_ns; /* of time_ns: work that follows, or is done anyway, can hide it */
	uint64_t busy_ns;   /* of time_ns: the device has several requests; TABLE_NO_UINT: never */
	double of_file;	    /* the file's part of time_ns; NAN: most, or all */
	double waited;	    /* the part of time_ns that the run waited for */
	uint32_t number;    /* of the file */
};

/* Common columns: who waited, and for what. */
#define WHO                                                                                        \
	FACT(waits, path, "path", NONE, "file with the longest time in consecutive calls"),        \
		FACT(waits, file, "file", NONE, "its name"),                                       \
		FACT(waits, of_file, "of file", SHARE,                                             \
		     "share of the time in these consecutive calls; null: half or more"),          \
		FACT(waits, pid, "pid", NONE, "process that waited longest"),                      \
		FACT(waits, others, "others", COUNT,                                               \
		     "other processes that waited as well; null: none")

/* Returns the part of a process's waits that another thread can take over: if no CPU is free for
 * it, only the time in which it is blocked. */
static uint64_t can_move_ns(const struct findings *findings, uint32_t process, uint64_t time_ns)
{
	const uint64_t blocked_ns = threads_main_storage_ns(findings->results, process);

	return blocked_ns >= time_ns
		       ? time_ns
		       : blocked_ns + (time_ns - blocked_ns) * threads_free_cpus(findings->results);
}

/* Whether little else was done during the last run of calls on one file: it is one save or load. */
static bool is_one(const struct process_wait *wait)
{
	return number_sub(wait->last_end_ns, wait->last_start_ns) <= 2 * wait->last_run_ns;
}

/* Returns the time that a process spends on other things once it has begun to wait. */
static uint64_t other_work_ns(const struct findings *findings, const struct process_wait *wait)
{
	const struct job *job = findings->results->job;
	const struct process *process = &job->processes.processes[wait->process];
	const uint64_t end_ns = process->ended ? process->end_ns : job->end_ns;
	const uint64_t work_ns = processes_without_io_ns(findings->results, wait->process);

	if (!wait->first_start_ns)
		return work_ns;
	return number_min(work_ns,
			  number_sub(number_sub(end_ns, wait->first_start_ns), wait->time_ns));
}

/* Returns the part of a process's waits that its other work can hide: there is as much of it, and
 * some follows the last one. */
static uint64_t can_hide_ns(const struct findings *findings, const struct process_wait *wait)
{
	const uint64_t after_ns = number_sub(findings->results->job->end_ns, wait->last_end_ns);
	const uint64_t last_ns =
		wait->runs > 1 || is_one(wait) ? number_sub(wait->last_run_ns, after_ns) : 0;

	return number_min(can_move_ns(findings, wait->process, number_sub(wait->time_ns, last_ns)),
			  other_work_ns(findings, wait));
}

/* Returns the part of a process's waits that the run waited for. */
static double waited_part(const struct findings *findings, const struct process_wait *wait)
{
	return finding_share(finding_unhidden_of(findings, wait->class_ns), wait->time_ns);
}

/* Finds the process that waited longest; `stands_still` decides which ones wait. Returns false if
 * none does. */
static bool find_longest(const struct findings *findings, enum process_waits_for what,
			 bool (*stands_still)(const struct findings *findings,
					      const struct process_wait *wait),
			 struct waits *waits)
{
	const struct job *job = findings->results->job;
	struct process_wait wait, worst = { .time_ns = 0 };
	size_t count = 0;

	for (size_t i = 0; processes_wait(findings->results, what, i, &wait); i++) {
		if (!stands_still(findings, &wait))
			continue;
		count++;
		if (wait.time_ns > worst.time_ns)
			worst = wait;
	}
	if (!count)
		return false;
	*waits = (struct waits) {
		.path = trace_text(file_table_name(&job->files, worst.file)),
		.number = worst.file,
		.pid = job->processes.processes[worst.process].pid,
		.others = finding_or_none(count - 1),
		.calls = worst.calls,
		.bytes = worst.bytes,
		.fetched_bytes = worst.fetched_bytes,
		.syncs = worst.syncs,
		.runs = worst.runs,
		.time_ns = worst.time_ns,
		.moved_ns = can_move_ns(findings, worst.process, worst.time_ns),
		.hidden_ns = can_hide_ns(findings, &worst),
		.bandwidth = finding_bandwidth(worst.bytes, worst.time_ns),
		.busy_ns = finding_or_none(
			number_min(finding_busy_ns(findings, worst.fetched_bytes), worst.time_ns)),
	};
	waits->waited = waited_part(findings, &worst);
	waits->of_file = finding_share_of_file(worst.run_ns, worst.time_ns);
	waits->file = finding_base_name(waits->path);
	return true;
}

/* If spans mark it, other findings are more precise. */
static bool is_marked(const struct findings *findings, enum activity_of what)
{
	return findings->results->job->activities->groups[ACTIVITY_JOB].of[what].count;
}

/* --- blocking writes --- */

static const struct table_column saves_evidence[] = {
	WHO,
	{ "writes", "writes", UNIT_COUNT, KIND_FACT, "its writes of more than 4 KiB",
	  TABLE_UINT(struct waits, calls) },
	FACT(waits, bytes, "bytes", BYTES, "bytes of these writes"),
	FACT(waits, syncs, "syncs", COUNT, "its syncs"),
	COLUMN(waits, time_ns, "time", NS, UNION, "time of its main thread in writes and syncs"),
	COLUMN(waits, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
};

THRESHOLD_MIN(SAVE_RUN, 1048576, UNIT_BYTES, "bytes written to a file before switching to another",
	      "a choice: less looks like copying many small files");
THRESHOLD_MIN(SAVE_BESIDE, 0.25, UNIT_NONE, "time without I/O divided by the time spent saving",
	      "a choice: a copy program does almost nothing else");

/*
 * Much was written, at once: small writes with a sync each are a different problem, and so are many
 * small files. The program also does something else: if it does only I/O, no other work waits.
 */
static bool saves_much(const struct findings *findings, const struct process_wait *save)
{
	return save->bytes >= threshold(THRESHOLD_SAVE_BYTES) * (save->syncs ? save->syncs : 1) &&
	       save->bytes >= threshold(THRESHOLD_SAVE_RUN) * save->runs &&
	       finding_is_of_run(findings, finding_unhidden_of(findings, save->class_ns),
				 THRESHOLD_PART_OF_RUN) &&
	       processes_without_io_ns(findings->results, save->process) >=
		       threshold(THRESHOLD_SAVE_BESIDE) * save->time_ns;
}

/* Whether most of the time goes to a file of that finding. */
static bool is_rewritten(const struct findings *findings, const struct waits *saves)
{
	struct file_view file;

	return !isfinite(saves->of_file) && finding_cost_of(findings, "rewritten", NULL) &&
	       files_used(findings->results, saves->number, &file) &&
	       finding_rewritten_takes(&file);
}

static int find_saves(struct findings *findings, const struct finding_rule *rule)
{
	struct waits saves;

	if (is_marked(findings, ACTIVITY_CHECKPOINT) ||
	    !find_longest(findings, PROCESS_SAVES, saves_much, &saves) ||
	    is_rewritten(findings, &saves))
		return 0;
	return finding_add_as(findings, rule, &saves,
			      &(struct finding_verdict) {
				      .cost_ns = finding_limited(saves.hidden_ns * saves.waited),
				      .covers_ns = finding_limited(saves.time_ns * saves.waited),
				      .cost_bytes = TABLE_NO_UINT,
				      .confidence = rule->confidence,
				      .severity = rule->severity,
			      });
}

THRESHOLD_MAX(SAVE_WORK, 1, UNIT_NONE,
	      "CPU time counted at the same lines, besides the kernel's around each "
	      "call, relative to the calls' time",
	      "measured: pickling large arrays takes 0.5 to 1 times the time of writing them");

const struct finding_rule finding_save_waits = {
	.id = "save-waits",
	.causes_work = true,
	.work_at_lines = finding_always,
	.work_max = &THRESHOLD_SAVE_WORK,
	.order = 340,
	.lines = 1u << USE_WRITE | 1u << USE_SYNC,
	.needs = JOB_SYSCALL,
	.sums = FINDING_OF_SUMS,
	.find = find_saves,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct waits, saves_evidence),
	.thresholds = { &THRESHOLD_SAVE_BYTES, &THRESHOLD_SAVE_RUN, &THRESHOLD_PART_OF_RUN,
			&THRESHOLD_SAVE_BESIDE, &THRESHOLD_SAVE_WORK },
	.title = "Main thread blocks while writing {file}[ ({of_file} of that time) and other "
		 "files]",
	.says = "main thread of process {pid} wrote {bytes} in {writes:write|writes} and "
		"{syncs:sync|syncs}, at {bandwidth}/s[; {others:more process|more processes} like "
		"it]",
	.advice = "Write during the next work (in a thread, or with an asynchronous save of a "
		  "copy), less often, or to a faster device[; if the {others:other process|other "
		  "processes} save the same, let only one do so]",
	.more = "faultline report --table writeback TRACE",
	.pictures = "took write sync, parts write sync",
	.rule = "A thread that writes or syncs does nothing else. The rule considers the main "
		"threads of programs that write much in one go and also spend time outside I/O: "
		"their writes could overlap with that. Threads that save next to the main one, "
		"and processes forked for it, are ignored. CPU work at the same lines (pickling, "
		"checksums) counts, too. Spans of categories compute and "
		"checkpoint show for certain what waited. If the run waits for CPUs, the cost "
		"leaves out work on a CPU, which another thread would also have to wait for. For "
		"aggregated operations, only single-threaded programs are considered.",
};

/* --- blocking reads --- */

static const struct table_column loads_evidence[] = {
	WHO,
	{ "reads", "reads", UNIT_COUNT, KIND_FACT, "its reads of more than 64 KiB",
	  TABLE_UINT(struct waits, calls) },
	FACT(waits, bytes, "bytes", BYTES, "bytes of these reads"),
	FACT(waits, fetched_bytes, "from storage", BYTES, "bytes that these read from storage"),
	COLUMN(waits, time_ns, "time", NS, UNION, "time of its main thread in these reads"),
	COLUMN(waits, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
	FACT(waits, busy_ns, "busy", NS,
	     "part of that time in which the devices had several requests at once; null: none"),
};

THRESHOLD_MIN(LOAD_BYTES, 67108864, UNIT_BYTES, "bytes read in large pieces",
	      "a choice: tens of ms on fast flash, as long as a program's startup");

THRESHOLD_MIN(LOAD_BUSY, 0.75, UNIT_SHARE,
	      "part of the time in which the devices are busy for the finding to be a note",
	      "a choice: most of it");

/* Much was read, in order and from storage. */
static bool loads_much(const struct findings *findings, const struct process_wait *load)
{
	return load->bytes >= threshold(THRESHOLD_LOAD_BYTES) &&
	       finding_share(load->fetched_bytes, load->bytes) >=
		       threshold(THRESHOLD_FROM_STORAGE_SHARE) &&
	       finding_share(load->back, load->calls) < threshold(THRESHOLD_RANDOM_SHARE) &&
	       finding_is_of_run(findings, finding_unhidden_of(findings, load->class_ns),
				 THRESHOLD_PART_OF_RUN);
}

/* More reads at once save only the time in which the device has few. */
static uint64_t idle_ns(const struct waits *loads)
{
	return loads->time_ns - (loads->busy_ns == TABLE_NO_UINT ? 0 : loads->busy_ns);
}

/* Whether a program does little but read large files, as fast as the device delivers. */
static bool reads_at_full_speed(const struct waits *loads)
{
	return loads->bytes >= threshold(THRESHOLD_LOAD_BYTES) * loads->runs &&
	       loads->hidden_ns < threshold(THRESHOLD_SAVE_BESIDE) * loads->time_ns &&
	       loads->time_ns - idle_ns(loads) >= threshold(THRESHOLD_LOAD_BUSY) * loads->time_ns;
}

static int find_loads(struct findings *findings, const struct finding_rule *rule)
{
	struct finding_verdict verdict = { .cost_bytes = TABLE_NO_UINT,
					   .confidence = rule->confidence,
					   .severity = rule->severity };
	struct waits loads;
	bool holes;
	int status;

	if (is_marked(findings, ACTIVITY_DATA) ||
	    !find_longest(findings, PROCESS_LOADS, loads_much, &loads))
		return 0;
	status = finding_find_holes(findings, loads.fetched_bytes, &holes);
	if (status || holes)
		return status;
	verdict.cost_ns =
		finding_limited(number_min(idle_ns(&loads), loads.moved_ns) * loads.waited);
	verdict.covers_ns = finding_limited(loads.time_ns * loads.waited);
	if (reads_at_full_speed(&loads)) {
		verdict.severity = FINDING_NOTE;
		verdict.cost_ns = finding_or_none(verdict.cost_ns);
	}
	return finding_add_as(findings, rule, &loads, &verdict);
}

const struct finding_rule finding_load_waits = {
	.id = "load-waits",
	.order = 210,
	.lines = 1u << USE_READ | 1u << USE_MMAP,
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.find = find_loads,
	.confidence = FINDING_LIKELY,
	.reported_by = { "held-back", "fetched-again", "read-by-several" },
	FINDING_EVIDENCE(struct waits, loads_evidence),
	.thresholds = { &THRESHOLD_LOAD_BYTES, &THRESHOLD_SMALL_READ, &THRESHOLD_PART_OF_RUN,
			&THRESHOLD_FROM_STORAGE_SHARE, &THRESHOLD_RANDOM_SHARE, &THRESHOLD_HOLES,
			&THRESHOLD_BUSY_REQUESTS, &THRESHOLD_LOAD_BUSY, &THRESHOLD_SAVE_BESIDE },
	.title = "Main thread blocks while reading {file}[ ({of_file} of that time) and other "
		 "files]",
	.says = "main thread of process {pid} read {bytes} in {reads:read|reads}, at "
		"{bandwidth}/s; {fetched_bytes} from storage[; {others:more process|more "
		"processes} like it]",
	.advice = "[Read less (compress, cache, shard) or use a faster device, which is busy for "
		  "{busy_ns} of that time; for the rest, r||R]ead in several threads, or ahead of "
		  "use during earlier work (posix_fadvise "
		  "WILLNEED); or map large files (safetensors, torch.load(mmap=True)) and use "
		  "MADV_WILLNEED",
	.more = "faultline report --slowest 20 TRACE",
	.pictures = "took read direct, rates storage",
	.rule = "A thread that reads does nothing else, and a single thread that reads in order "
		"requests little from the device at once: readahead data is copied before the next "
		"data is requested. The rule considers the main threads of programs that read much "
		"from storage in large pieces, in order: a model or checkpoint that is loaded, "
		"data that no worker reads ahead, files that are copied to where they are used. "
		"Threads that read next to the main one, and processes forked for it, are ignored, "
		"and so are reads of holes only. The cost leaves out time in which the device had "
		"several requests at once, because it delivers no more then, and work on a CPU if "
		"the run waits for CPUs. If the program does little but read large files, and the "
		"device is busy for most of the time, this is a note. Spans of category data show "
		"for certain what waited. For aggregated operations, only single-threaded programs "
		"are considered, whatever the order.",
};
