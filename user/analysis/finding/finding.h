/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings: what in a run costs time, by which evidence, and what to do about it.
 *
 * A finding is a row, a struct finding_rule; all of them stand in the registry in finding_list.c,
 * which is the only list. To add one:
 *
 *  1. Write the rule: `find` looks at what the analyses measured (findings->measured, through
 *     files.h, totals.h and their like; an analysis that lacks such a header gets one) and calls
 *     finding_add for each case that it sees; best one case that names the worst file and says how
 *     many are like it. Rules of one kind share a file, finding_KIND.c.
 *  2. Describe the evidence: a struct of the rule's own with columns, as of any table. They are the
 *     members of "evidence" in JSON, and what the texts may name.
 *  3. Write the texts: title (what it is), says (the evidence in one line), advice (one line), more
 *     (a command that shows more). "{faults}" stands for the evidence of that column, in its unit.
 *  4. Put every number that the rule compares with into the list in finding_threshold.h, with its
 *     source, and name it in the rule's `thresholds`: --explain tells of them.
 *  5. Declare it below, add it to the registry, and add to tests/unit/test_findings_rules.c a
 *     trace that has it and a sound sibling that has not; a test asserts every row of the registry
 *     whole. Live tests run a real program of each kind.
 *
 * The cost is time that compute did not hide, where that is known (finding_unhidden), or else
 * bytes. The severity follows from it, not from the rule.
 */
#ifndef FAULTLINE_FINDING_H
#define FAULTLINE_FINDING_H

#include "analysis/measured.h"
#include "analysis/finding_threshold.h"
#include "analysis/io_patterns.h"

/* How sure the rule is that the evidence means what the title says. */
enum finding_confidence { FINDING_GUESS, FINDING_LIKELY, FINDING_SURE };

enum finding_severity {
	FINDING_BY_COST, /* for finding_add: let the cost decide */
	FINDING_NOTE,	 /* costs nothing that is known */
	FINDING_LOW,
	FINDING_MEDIUM,
	FINDING_HIGH,
};

/* What they are called; FINDING_BY_COST has no name. */
extern const char *const finding_severities[FINDING_HIGH + 1];

struct finding_verdict {
	uint64_t cost_ns;    /* that no compute hid; TABLE_NO_UINT: not known */
	uint64_t cost_bytes; /* moved or fetched in vain, or by the slow way; or TABLE_NO_UINT */
	enum finding_confidence confidence;
	enum finding_severity severity;
};

struct alike_rule;
struct findings;

/* What a rule has where operations were summed up (mode profile). */
enum finding_sums {
	FINDING_OF_EVENTS, /* nothing: it is not asked */
	FINDING_OF_SUMS,   /* all but times: those are sums over threads */
	FINDING_OF_SPANS,  /* all: spans and totals are as in mode trace */
};

/* How specific a finding is. If two cost the same, the more specific one comes first. */
enum finding_breadth {
	FINDING_OF_ONE = -1, /* names who of several it is */
	FINDING_CAUSE,	     /* names the cause and the change */
	FINDING_PATTERN,     /* names an access pattern */
	FINDING_REST,	     /* names only the time that I/O takes */
};

struct finding_rule {
	const char *id; /* "mmap-random", for --explain and JSON */
	enum finding_breadth breadth;
	unsigned int needs; /* JOB_*: not asked without these layers */
	enum finding_sums sums;
	/* Returns 0, -ENOMEM, or 1 where what there is does not tell. */
	int (*find)(struct findings *findings, const struct finding_rule *rule);
	/* It looks at nothing but tables, and what reads from them where reports were made one
	 * (files.h, totals.h, failed_lookups.h, io_patterns.h, methods.h, epochs.h, overlap.h): it
	 * is asked of all of them together, too. Of others, what was found in each of them stands.
	 */
	bool of_runs;
	/* What the job's own data costs comes before it if that is at least half as much. */
	bool of_start;
	/* The I/O brings CPU work with it (parsing, unpacking, importing), which the change saves,
	 * too. Its cost is not known, so cost_ns is a lower bound. */
	bool drags;
	/* What these tell already, NULL at their end, it does not: finding_add. Or NULL. */
	const struct finding_rule *const *told_by;
	const struct alike_rule *alike; /* for finding_add_alike: see finding_files.h */
	enum io_pattern io_pattern;	/* for finding_write.c: what it goes by, */
	enum io_class class;		/* and the class that its time is of */
	const struct table_column *evidence;
	size_t evidence_count, evidence_bytes; /* columns; size of the struct they look at */
	const char *title, *says, *advice, *more;
	const char *caveat; /* that says the same at the top of the first screen; NULL for none */
	const char *rule; /* for --explain: when it speaks and why that costs, in some sentences */
	const enum threshold *thresholds;
	size_t threshold_count;
};

/* The rest of a rule's initializer for its evidence. */
#define FINDING_EVIDENCE(type, columns)                                                            \
	.evidence = (columns), .evidence_count = sizeof(columns) / sizeof((columns)[0]),           \
	.evidence_bytes = sizeof(type)
#define FINDING_THRESHOLDS(list)                                                                   \
	.thresholds = (list), .threshold_count = sizeof(list) / sizeof((list)[0])

/* The same for a rule with one. */
#define FINDING_THRESHOLD(one) .thresholds = (const enum threshold[]) { one }, .threshold_count = 1

/* Columns of the table "findings", for those who write them. */
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

/* What the rules see. */
struct findings {
	const struct measured *measured; /* its job is NULL for rules that are of_runs */
	const struct report *report;
	uint64_t duration_ns; /* of the run */
	bool summed;	      /* operations of some of the traces were (mode profile) */
	const char *host;     /* NULL: several */
	/* Of several runs that went on at once: times are sums over so many of them, and what they
	 * took together is that of one on average at least. 1: times are what they say. */
	size_t runs;
	uint64_t elsewhere_bytes; /* see finding_files.h */
	const struct table *told; /* with what was found in single runs; NULL: nothing */
	struct finding *all;
	size_t count, room;
	struct arena *arena;	   /* for what evidence points to; lives as long as the findings */
	struct alike_found *alike; /* of each rule, once one has asked: see finding_files.h; then */
	uint64_t off_blocks_bytes; /* what came into memory of files that may lie on no blocks */
};

/* Adds what the rule's `told_by` do not tell already. `evidence` is copied, but not what it points
 * to. Returns 0 or -ENOMEM. */
int finding_add(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		const struct finding_verdict *verdict);

/* The cost of what a rule has found so far; 0: nothing. */
uint64_t finding_cost_of(const struct findings *findings, const struct finding_rule *rule);
/* Whether one of the rules, NULL at their end or for none, has found so much already: what is
 * waited for at the same time is told once, with the rules that come first in the registry. */
bool finding_is_told(const struct findings *findings, const struct finding_rule *const *rules,
		     uint64_t cost_ns);

/* The part of a time of a class that no compute hid, taken as of the class as a whole: exact when
 * it is all of the class, an estimate else. All of it when nobody told of compute. Of runs that
 * went on at once, that of one on average. */
uint64_t finding_unhidden(const struct findings *findings, enum io_class class, uint64_t time_ns);

/* Bytes in a second, as far as a number holds them; 0 of no time. */
uint64_t finding_bandwidth(uint64_t bytes, uint64_t time_ns);

/* A part of a whole; 0 of none. */
double finding_share(uint64_t part, uint64_t whole);

/* What a cell of FINDING_SEVERITY says, of a summary anything: FINDING_BY_COST for what is none. */
enum finding_severity finding_severity_in(const struct cell *cell);

/* Asks the rules that are of_runs of a report that was made of several; `told` is its table of what
 * was found in each, and loses what is found, or not found, in all of them. Sets the duration
 * whether it asks or not. Returns 0 or -ENOMEM. */
int findings_of_runs(struct findings *findings, struct table *told);

/* The last part of a path. */
struct table_text finding_base_name(struct table_text path);
/* A device's name, or its number: a trace that was cut off has no names. */
struct table_text finding_device_name(struct findings *findings, struct trace_string name,
				      uint64_t dev);

/* All rules, for --explain and for tests. */
extern const struct finding_rule *const finding_rules[]; /* and NULL */
extern const size_t finding_rule_count;
/* NULL when there is none of that name. */
const struct finding_rule *finding_rule_named(const char *id);

/* finding_trace.c: what the trace itself lacks. */
extern const struct finding_rule finding_loss;
extern const struct finding_rule finding_untraced_async;
extern const struct finding_rule finding_tracer_cost;
/* finding_deaths.c: processes that a signal killed. */
extern const struct finding_rule finding_killed;
/* finding_still_waiting.c: a call that hangs. */
extern const struct finding_rule finding_hung;
/* finding_mmap.c: files that are read through a mapping. */
extern const struct finding_rule finding_mmap_random;
extern const struct finding_rule finding_mmap_strided;
extern const struct finding_rule finding_mmap_in_order;
extern const struct finding_rule finding_mmap_single;
extern const struct finding_rule finding_mmap_minor;
extern const struct finding_rule finding_mmap_stores;
extern const struct finding_rule finding_mmap_copied;
extern const struct finding_rule finding_mmap_summed;
/* finding_memory.c: memory that is no file's. */
extern const struct finding_rule finding_swapped;
/* finding_read.c: files that are read by calls. */
extern const struct finding_rule finding_held_back;
extern const struct finding_rule finding_small_reads_storage;
extern const struct finding_rule finding_small_reads_cached;
extern const struct finding_rule finding_random_reads;
extern const struct finding_rule finding_read_again;
extern const struct finding_rule finding_read_by_several;
extern const struct finding_rule finding_fetched_again;
/* finding_open.c: opening and looking up. */
extern const struct finding_rule finding_cold_start;
extern const struct finding_rule finding_small_files;
extern const struct finding_rule finding_opened_again;
extern const struct finding_rule finding_listed_again;
extern const struct finding_rule finding_metadata;
extern const struct finding_rule finding_imports;
extern const struct finding_rule finding_cold_names;
/* finding_starts.c: programs that start again and again. */
extern const struct finding_rule finding_worker_start;
extern const struct finding_rule finding_failed_lookups;
/* finding_waits.c: programs that stand still while they write or read. */
extern const struct finding_rule finding_save_waits;
extern const struct finding_rule finding_load_waits;
/* finding_write.c: writing, and calls that cost without moving much. */
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
/* finding_bound.c: what is waited for where no other rule says why. */
extern const struct finding_rule finding_read_bound;
extern const struct finding_rule finding_write_bound;
extern const struct finding_rule finding_mmap_bound;
/* finding_writeback.c: what the kernel writes back. */
extern const struct finding_rule finding_throttled;
extern const struct finding_rule finding_amplified;
/* finding_readahead.c: what the kernel fetches ahead. */
extern const struct finding_rule finding_readahead_unused;
/* finding_devices.c: devices, and what they are asked for. */
extern const struct finding_rule finding_device_errors;
extern const struct finding_rule finding_device_slow;
extern const struct finding_rule finding_device_overloaded;
extern const struct finding_rule finding_requests_small;
extern const struct finding_rule finding_flushes;
/* finding_device_shared.c */
extern const struct finding_rule finding_device_shared;
/* finding_async.c: io_uring and libaio. */
extern const struct finding_rule finding_shallow_queue;
/* finding_epochs.c: what an epoch brings in again. */
extern const struct finding_rule finding_epoch_storage;
extern const struct finding_rule finding_epoch_memory;
/* finding_phase.c: checkpoints, loaders, what computes. */
extern const struct finding_rule finding_sync_checkpoint;
extern const struct finding_rule finding_loader_io;
extern const struct finding_rule finding_loader_work;
extern const struct finding_rule finding_loader_idle;
extern const struct finding_rule finding_worker_slow;
extern const struct finding_rule finding_accelerator;
/* finding_ranks.c: ranks that do not do the same. */
extern const struct finding_rule finding_stragglers;
extern const struct finding_rule finding_ranks_uneven;
extern const struct finding_rule finding_rank_slow;

#endif
