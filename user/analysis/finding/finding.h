/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings: what costs time in a run, with evidence and advice.
 *
 * A finding is a row, a struct finding_rule; all of them are in the registry in finding_list.c,
 * which is the only list. To add one:
 *
 *  1. Write the rule: `find` looks at the results of the analyses (findings->measured, through
 *     files.h, totals.h and the like; an analysis without such a header gets one) and calls
 *     finding_add for each case; preferably one case that names the worst file and says how many
 *     are like it. Rules of one kind share a file, finding_KIND.c.
 *  2. Describe the evidence: a struct of the rule's own with columns, as for any table. They are
 * the members of "evidence" in JSON, and the texts may name them.
 *  3. Write the texts: title (a noun phrase or statement), says (the evidence in one line), advice
 *     (one line that starts with a verb), more (a command that shows more). "{faults}" stands for
 *     the evidence of that column, in its unit.
 *  4. Put every number that the rule compares with into the list in finding_threshold.h, with its
 *     source, and name it in the rule's `thresholds`: --explain prints them.
 *  5. Declare it below, add it to the registry, and add to tests/unit/report/test_findings_rules.c a
 *     trace that has it and a healthy one that does not; a test asserts that every row of the
 *     registry is complete. Live tests run a real program of each kind.
 *
 * The cost is time that compute did not overlap, where that is known (finding_unhidden), or else
 * bytes. The severity follows from the cost, not from the rule.
 */
#ifndef FAULTLINE_FINDING_H
#define FAULTLINE_FINDING_H

#include "analysis/shared/results.h"
#include "analysis/shared/finding_threshold.h"
#include "analysis/files/io_patterns.h"

/* How sure the rule is that the evidence means what the title says. */
enum finding_confidence { FINDING_GUESS, FINDING_LIKELY, FINDING_SURE };

enum finding_severity {
	FINDING_BY_COST, /* for finding_add: decided by the cost */
	FINDING_NOTE,	 /* no known cost */
	FINDING_LOW,
	FINDING_MEDIUM,
	FINDING_HIGH,
};

/* Their names; FINDING_BY_COST has none. */
extern const char *const finding_severities[FINDING_HIGH + 1];

struct finding_verdict {
	uint64_t cost_ns;    /* not overlapped by compute; TABLE_NO_UINT: unknown */
	uint64_t cost_bytes; /* moved or fetched in vain, or the slow way; or TABLE_NO_UINT */
	enum finding_confidence confidence;
	enum finding_severity severity;
};

struct file_group_rule;
struct findings;

/* What a rule can use where operations were summed (mode profile). */
enum finding_sums {
	FINDING_OF_EVENTS, /* nothing: the rule does not run */
	FINDING_OF_SUMS,   /* all but times, which are summed over threads */
	FINDING_OF_SPANS,  /* all: spans and totals are as in mode trace */
};

/* How specific a finding is. If two cost the same, the more specific one comes first. */
enum finding_breadth {
	FINDING_OF_ONE = -1, /* names which one of several it is */
	FINDING_CAUSE,	     /* names the cause and the change */
	FINDING_PATTERN,     /* names an access pattern */
	FINDING_REST,	     /* names only the time that I/O takes */
};

struct finding_rule {
	const char *id; /* "mmap-random", for --explain and JSON */
	enum finding_breadth breadth;
	unsigned int needs; /* JOB_*: layers that it requires */
	enum finding_sums sums;
	/* Returns 0, -ENOMEM, or 1 if the data does not allow a decision. */
	int (*find)(struct findings *findings, const struct finding_rule *rule);
	/* Uses only tables, and what reads from them in reports made of several (files.h, totals.h,
	 * failed_lookups.h, io_patterns.h, methods.h, epochs.h, overlap.h): such a rule also runs
	 * on all of them together. For other rules, the findings of each report stand. */
	bool cross_run;
	/* Ranks below findings on the job's own data that cost at least half as much. */
	bool startup;
	/* The I/O causes CPU work (parsing, unpacking, importing), which the change also saves. The
	 * cost of that work is unknown, so cost_ns is a lower bound. */
	bool drags;
	/* Rules that make this finding redundant, NULL-terminated: see finding_add. Or NULL. */
	const struct finding_rule *const *reported_by;
	const struct file_group_rule *file_group; /* for finding_add_alike: see finding_files.h */
	enum io_pattern io_pattern;		  /* for finding_write.c: its pattern, */
	enum io_class class;			  /* and the class of its time */
	const struct table_column *evidence;
	size_t evidence_count, evidence_bytes; /* columns; size of the struct they read */
	const char *title, *says, *advice, *more;
	const char *caveat; /* same content at the top of the first screen; NULL: none */
	const char
		*rule; /* for --explain: when it applies and why that costs, in a few sentences */
	const enum threshold *thresholds;
	size_t threshold_count;
};

/* Initializes a rule's evidence. */
#define FINDING_EVIDENCE(type, columns)                                                            \
	.evidence = (columns), .evidence_count = sizeof(columns) / sizeof((columns)[0]),           \
	.evidence_bytes = sizeof(type)
#define FINDING_THRESHOLDS(list)                                                                   \
	.thresholds = (list), .threshold_count = sizeof(list) / sizeof((list)[0])

/* The same for a rule with one threshold. */
#define FINDING_THRESHOLD(one) .thresholds = (const enum threshold[]) { one }, .threshold_count = 1

/* Columns of the table "findings", for code that writes it. */
enum finding_column {
	FINDING_ID,
	FINDING_SEVERITY,
	FINDING_TITLE,
	FINDING_COST_NS,
	FINDING_COST_BYTES,
	FINDING_COST_IS,
	FINDING_CONFIDENCE,
	FINDING_EVIDENCE_COLUMN,
	FINDING_SAYS,
	FINDING_ADVICE,
	FINDING_MORE,
	FINDING_HOST,
	FINDING_RUNS,
	FINDING_COLUMNS,
};

/* Input of the rules. */
struct findings {
	const struct results
		*results; /* its job is NULL when reports of several runs are examined */
	const struct report *report;
	uint64_t duration_ns; /* of the run */
	bool summed;	      /* operations of some of the traces were summed (mode profile) */
	const char *host;     /* NULL: several */
	/* Number of concurrent runs that times are summed over; together they took at least as long
	 * as one on average. 1: times are exact. */
	size_t runs;
	uint64_t elsewhere_bytes;     /* see finding_files.h */
	const struct table *reported; /* with findings of single runs; NULL: none */
	struct finding *all;
	size_t count, room;
	struct arena *arena; /* what evidence points to; lives as long as the findings */
	struct file_group_found *file_group; /* by rule, see finding_files.h; and */
	uint64_t off_blocks_bytes;	     /* fetched of files that may have no blocks */
};

/* Adds a finding unless the rule's `reported_by` already cover it. Copies `evidence`, but not what
 * it points to. Returns 0 or -ENOMEM. */
int finding_add(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		const struct finding_verdict *verdict);

/* Returns the cost of what a rule has found so far; 0: nothing. */
uint64_t finding_cost_of(const struct findings *findings, const struct finding_rule *rule);
/* Returns whether one of the rules, NULL-terminated or NULL, has already found that much: waits at
 * the same time are reported once, by the rule that comes first in the registry. */
bool finding_is_reported(const struct findings *findings, const struct finding_rule *const *rules,
			 uint64_t cost_ns);

/* Returns the part of a class's time that no compute overlapped, in the proportion of the whole
 * class: exact for all of the class, otherwise an estimate. Returns all of it if there are no
 * compute spans. For concurrent runs, returns the average of one. */
uint64_t finding_unhidden(const struct findings *findings, enum io_class class, uint64_t time_ns);

/* Returns bytes per second, capped to the range of the number; 0 for no time. */
uint64_t finding_bandwidth(uint64_t bytes, uint64_t time_ns);

/* Returns a part's share of a whole; 0 if that is 0. */
double finding_share(uint64_t part, uint64_t whole);

/* Returns the severity in a cell of FINDING_SEVERITY, which may be anything in a summary;
 * FINDING_BY_COST if it is invalid. */
enum finding_severity finding_severity_in(const struct cell *cell);

/* Runs the cross_run rules on a report merged from several. `reported` is the table of findings of
 * each report; findings that were found, or ruled out, in the merged report are removed from it.
 * Sets the duration in any case. Returns 0 or -ENOMEM. */
int findings_of_runs(struct findings *findings, struct table *reported);

/* Returns the last part of a path. */
struct table_text finding_base_name(struct table_text path);
/* Returns a device's name, or its number: a truncated trace has no names. */
struct table_text finding_device_name(struct findings *findings, struct trace_string name,
				      uint64_t dev);

/* All rules, for --explain and for tests. */
extern const struct finding_rule *const finding_rules[]; /* NULL-terminated */
extern const size_t finding_rule_count;
/* Returns NULL if there is none of that name. */
const struct finding_rule *finding_rule_named(const char *id);

/* finding_trace.c: flaws of the trace itself. */
extern const struct finding_rule finding_loss;
extern const struct finding_rule finding_untraced_async;
extern const struct finding_rule finding_tracer_cost;
/* finding_deaths.c: processes that a signal killed. */
extern const struct finding_rule finding_killed;
/* finding_still_waiting.c: a call that hangs. */
extern const struct finding_rule finding_hung;
/* finding_mmap.c: files read through mappings. */
extern const struct finding_rule finding_mmap_random;
extern const struct finding_rule finding_mmap_strided;
extern const struct finding_rule finding_mmap_in_order;
extern const struct finding_rule finding_mmap_single;
extern const struct finding_rule finding_mmap_minor;
extern const struct finding_rule finding_mmap_stores;
extern const struct finding_rule finding_mmap_copied;
extern const struct finding_rule finding_mmap_summed;
/* finding_memory.c: memory without a file. */
extern const struct finding_rule finding_swapped;
/* finding_read.c: files read with system calls. */
extern const struct finding_rule finding_held_back;
extern const struct finding_rule finding_small_reads_storage;
extern const struct finding_rule finding_small_reads_cached;
extern const struct finding_rule finding_random_reads;
extern const struct finding_rule finding_read_again;
extern const struct finding_rule finding_read_by_several;
extern const struct finding_rule finding_fetched_again;
/* finding_open.c: opening and path lookup. */
extern const struct finding_rule finding_cold_start;
extern const struct finding_rule finding_small_files;
extern const struct finding_rule finding_opened_again;
extern const struct finding_rule finding_listed_again;
extern const struct finding_rule finding_metadata;
extern const struct finding_rule finding_imports;
extern const struct finding_rule finding_cold_names;
/* finding_starts.c: programs that start repeatedly. */
extern const struct finding_rule finding_worker_start;
extern const struct finding_rule finding_failed_lookups;
/* finding_waits.c: programs that block while they write or read. */
extern const struct finding_rule finding_save_waits;
extern const struct finding_rule finding_load_waits;
/* finding_write.c: writing, and calls that cost time but move little. */
extern const struct finding_rule finding_fsync_often;
extern const struct finding_rule finding_sync_writes;
extern const struct finding_rule finding_shared_writes;
extern const struct finding_rule finding_shared_across;
extern const struct finding_rule finding_partial_writes;
extern const struct finding_rule finding_small_writes;
extern const struct finding_rule finding_small_direct;
extern const struct finding_rule finding_locks;
extern const struct finding_rule finding_failed_calls;
extern const struct finding_rule finding_short_reads;
/* finding_bound.c: waits that no other rule explains. */
extern const struct finding_rule finding_read_bound;
extern const struct finding_rule finding_write_bound;
extern const struct finding_rule finding_mmap_bound;
/* finding_writeback.c: writeback by the kernel. */
extern const struct finding_rule finding_throttled;
extern const struct finding_rule finding_amplified;
/* finding_readahead.c: readahead by the kernel. */
extern const struct finding_rule finding_readahead_unused;
/* finding_devices.c: devices, and requests to them. */
extern const struct finding_rule finding_device_errors;
extern const struct finding_rule finding_device_slow;
extern const struct finding_rule finding_device_overloaded;
extern const struct finding_rule finding_requests_small;
extern const struct finding_rule finding_flushes;
/* finding_device_shared.c */
extern const struct finding_rule finding_device_shared;
/* finding_async.c: io_uring and libaio. */
extern const struct finding_rule finding_shallow_queue;
/* finding_epochs.c: data that each epoch fetches again. */
extern const struct finding_rule finding_epoch_storage;
extern const struct finding_rule finding_epoch_memory;
/* finding_phase.c: checkpoints, data loaders, compute. */
extern const struct finding_rule finding_sync_checkpoint;
extern const struct finding_rule finding_loader_io;
extern const struct finding_rule finding_loader_work;
extern const struct finding_rule finding_loader_idle;
extern const struct finding_rule finding_worker_slow;
extern const struct finding_rule finding_accelerator;
/* finding_ranks.c: ranks that differ. */
extern const struct finding_rule finding_stragglers;
extern const struct finding_rule finding_ranks_uneven;
extern const struct finding_rule finding_rank_slow;

#endif
