/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about programs that block while they write or read, where no spans show it. */
#include <math.h>

#include "analysis/phases/activity.h"
#include "analysis/finding/finding_files.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/trace_text.h"

struct waits {
	struct table_text path, file;
	uint64_t pid, others, calls, bytes, fetched_bytes, syncs, time_ns, bandwidth;
	double of_file; /* the file's part of time_ns; NAN: most, or all */
};

/* A file with at least this part of the time stands for all of it. */
#define ONE_FILE 0.5

#define TEXT(name, field, meaning)                                                                 \
	{                                                                                          \
		name, name, UNIT_NONE, KIND_FACT, meaning, TABLE_TEXT(struct waits, field), 0      \
	}
#define NUMBER(name, title, unit, kind, meaning, field)                                            \
	{                                                                                          \
		name, title, UNIT_##unit, KIND_##kind, meaning, TABLE_UINT(struct waits, field), 0 \
	}

/* Common columns: who waited, and for what. */
#define WHO                                                                                        \
	TEXT("path", path, "file with the longest time in consecutive calls"),                     \
		TEXT("file", file, "its name"),                                                    \
		{ "of_file",                                                                       \
		  "of file",                                                                       \
		  UNIT_SHARE,                                                                      \
		  KIND_FACT,                                                                       \
		  "share of the time in these consecutive calls; null: half or more",              \
		  TABLE_REAL(struct waits, of_file),                                               \
		  0 },                                                                             \
		NUMBER("pid", "pid", NONE, FACT, "process that waited longest", pid),              \
		NUMBER("others", "others", COUNT, FACT,                                            \
		       "other processes that waited as well; null: none", others)

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
		.pid = job->processes.processes[worst.process].pid,
		.others = count > 1 ? count - 1 : TABLE_NO_UINT,
		.calls = worst.calls,
		.bytes = worst.bytes,
		.fetched_bytes = worst.fetched_bytes,
		.syncs = worst.syncs,
		.time_ns = worst.time_ns,
		.bandwidth = finding_bandwidth(worst.bytes, worst.time_ns),
	};
	waits->of_file = finding_share(worst.row_ns, worst.time_ns);
	if (waits->of_file >= ONE_FILE)
		waits->of_file = NAN;
	waits->file = finding_base_name(waits->path);
	return true;
}

/* If spans mark it, other findings are more precise. */
static bool is_marked(const struct findings *findings, enum activity_of what)
{
	return findings->results->job->activities->groups[ACTIVITY_JOB].of[what].count;
}

static int add(struct findings *findings, const struct finding_rule *rule, enum io_class class,
	       const struct waits *waits)
{
	struct finding_verdict verdict = {
		.cost_ns = finding_unhidden(findings, class, waits->time_ns),
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_LIKELY,
	};

	return finding_add(findings, rule, waits, &verdict);
}

/* --- blocking writes --- */

static const struct table_column saves_evidence[] = {
	WHO,
	NUMBER("writes", "writes", COUNT, FACT, "its writes of more than 4 KiB", calls),
	NUMBER("bytes", "bytes", BYTES, FACT, "bytes of these writes", bytes),
	NUMBER("syncs", "syncs", COUNT, FACT, "its syncs", syncs),
	NUMBER("time_ns", "time", NS, UNION, "time of its first thread in writes and syncs",
	       time_ns),
	NUMBER("bandwidth", "bandwidth", BYTES, RATIO, "bytes per second of that time", bandwidth),
};

/*
 * Much was written, at once: small writes with a sync each are a different problem, and so are many
 * small files. The program also does something else: if it does only I/O, no other work waits.
 */
static bool saves_much(const struct findings *findings, const struct process_wait *save)
{
	return save->bytes >= threshold(THRESHOLD_SAVE_BYTES) * (save->syncs ? save->syncs : 1) &&
	       save->bytes >= threshold(THRESHOLD_SAVE_ROW) * save->rows &&
	       finding_unhidden(findings, IO_WRITE, save->time_ns) >=
		       threshold(THRESHOLD_SAVE_SHARE) * findings->duration_ns &&
	       processes_beside_ns(findings->results, save->process) >=
		       threshold(THRESHOLD_SAVE_BESIDE) * save->time_ns;
}

static int find_saves(struct findings *findings, const struct finding_rule *rule)
{
	struct waits saves;

	if (is_marked(findings, ACTIVITY_CHECKPOINT) ||
	    !find_longest(findings, PROCESS_SAVES, saves_much, &saves))
		return 0;
	return add(findings, rule, IO_WRITE, &saves);
}

static const enum threshold saves_thresholds[] = {
	THRESHOLD_SAVE_BYTES,
	THRESHOLD_SAVE_ROW,
	THRESHOLD_SAVE_SHARE,
	THRESHOLD_SAVE_BESIDE,
};

const struct finding_rule finding_save_waits = {
	.id = "save-waits",
	.needs = JOB_SYSCALL,
	.sums = FINDING_OF_SUMS,
	.find = find_saves,
	FINDING_EVIDENCE(struct waits, saves_evidence),
	FINDING_THRESHOLDS(saves_thresholds),
	.title = "Program blocks writing {file}[ ({of_file} of that time) and other files]",
	.says = "first thread of process {pid} wrote {bytes} in {writes:write|writes} and "
		"{syncs:sync|syncs}, at {bandwidth}/s[; {others:more process|more processes} like "
		"it]",
	.advice = "Write during the next work (in a thread, or with an asynchronous save of a "
		  "copy), less often, or to a faster device",
	.more = "faultline report --table writeback TRACE",
	.rule = "A thread that writes or syncs does nothing else. The rule considers the first "
		"threads of programs that write much in one go and also spend time outside I/O: "
		"their writes could overlap with that. Threads that save next to the first one, "
		"and processes forked for it, are ignored. Spans of categories compute and "
		"checkpoint show for certain what waited. For aggregated operations, only "
		"single-threaded programs are considered.",
};

/* --- blocking reads --- */

static const struct table_column loads_evidence[] = {
	WHO,
	NUMBER("reads", "reads", COUNT, FACT, "its reads of more than 64 KiB", calls),
	NUMBER("bytes", "bytes", BYTES, FACT, "bytes of these reads", bytes),
	NUMBER("fetched_bytes", "from storage", BYTES, FACT, "bytes that these read from storage",
	       fetched_bytes),
	NUMBER("time_ns", "time", NS, UNION, "time of its first thread in these reads", time_ns),
	NUMBER("bandwidth", "bandwidth", BYTES, RATIO, "bytes per second of that time", bandwidth),
};

/* Much was read, in order and from storage. */
static bool loads_much(const struct findings *findings, const struct process_wait *load)
{
	return load->bytes >= threshold(THRESHOLD_LOAD_BYTES) &&
	       finding_share(load->fetched_bytes, load->bytes) >=
		       threshold(THRESHOLD_FROM_STORAGE_SHARE) &&
	       finding_share(load->back, load->calls) < threshold(THRESHOLD_RANDOM_SHARE) &&
	       finding_unhidden(findings, IO_READ, load->time_ns) >=
		       threshold(THRESHOLD_LOAD_SHARE) * findings->duration_ns;
}

static int find_loads(struct findings *findings, const struct finding_rule *rule)
{
	struct waits loads;
	bool holes;
	int status;

	if (is_marked(findings, ACTIVITY_DATA) ||
	    !find_longest(findings, PROCESS_LOADS, loads_much, &loads))
		return 0;
	status = finding_find_holes(findings, loads.fetched_bytes, &holes);
	if (status || holes)
		return status;
	return add(findings, rule, IO_READ, &loads);
}

static const struct finding_rule *const loads_reported_by[] = { &finding_held_back,
								&finding_fetched_again, NULL };

static const enum threshold loads_thresholds[] = {
	THRESHOLD_LOAD_BYTES,	      THRESHOLD_SMALL_READ,   THRESHOLD_LOAD_SHARE,
	THRESHOLD_FROM_STORAGE_SHARE, THRESHOLD_RANDOM_SHARE, THRESHOLD_HOLES,
};

const struct finding_rule finding_load_waits = {
	.id = "load-waits",
	.needs = JOB_SYSCALL | JOB_PAGECACHE,
	.sums = FINDING_OF_SUMS,
	.find = find_loads,
	.reported_by = loads_reported_by,
	FINDING_EVIDENCE(struct waits, loads_evidence),
	FINDING_THRESHOLDS(loads_thresholds),
	.title = "Program blocks reading {file}[ ({of_file} of that time) and other files]",
	.says = "first thread of process {pid} read {bytes} in {reads:read|reads}, at "
		"{bandwidth}/s; {fetched_bytes} from storage[; {others:more process|more "
		"processes} like it]",
	.advice = "Read in several threads, or ahead of use during earlier work (posix_fadvise "
		  "WILLNEED); or map large files (safetensors, torch.load(mmap=True)) and use "
		  "MADV_WILLNEED",
	.more = "faultline report --slowest 20 TRACE",
	.rule = "A thread that reads does nothing else, and a single thread that reads in order "
		"requests little from the device at once: readahead data is copied before the next "
		"data is requested. The rule considers the first threads of programs that read "
		"much from storage in large pieces, in order: a model or checkpoint that is "
		"loaded, data that no worker reads ahead, files that are copied to where they are "
		"used. Threads that read next to the first one, and processes forked for it, are "
		"ignored, and so are reads of holes only. Spans of category data show for certain "
		"what waited. For aggregated operations, only single-threaded programs are "
		"considered, whatever the order.",
};
