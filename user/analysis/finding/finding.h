/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings: what costs time in a run, with evidence and advice.
 *
 * A finding is one place: a struct finding_rule, with its evidence, thresholds and condition above
 * it, in the file of its kind, rules/KIND.c. The build collects the rules; there is no list to
 * extend. To add one:
 *
 *  1. Write the rule, `const struct finding_rule finding_NAME = {`, with an `order` of its own,
 *     next to rules on the same subject and above those in its `reported_by`: in that order rules
 *     run, and --explain lists them. Steps of 10 leave room. `find` looks at the results of
 *     analyses (findings->results, through files.h, totals.h and the like; an analysis without
 *     such a header gets one) and calls finding_add for each case; preferably one case that names
 * the worst file and says how many are like it. A rule about files that have something in common
 * describes them in `files` instead: finding_files.h.
 *  2. Describe the evidence: a struct of the rule's own, and columns: FACT, or COLUMN if the kind
 *     is another. They are the members of "evidence" in JSON, and the texts may name them.
 *  3. Write the texts: title (a noun phrase or statement), says (the evidence in one line), advice
 *     (one line that starts with a verb), more (a command that shows more). "{faults}" stands for
 *     the evidence of that column, in its unit.
 *  4. Make a THRESHOLD_MIN, THRESHOLD_MAX or THRESHOLD of every number that the condition compares
 *     with, with its source, and list it in `thresholds`: --explain prints them. Those of several
 *     files are in finding_threshold.h. A rule with `files.counts_min` lists that one, and
 *     TIME_DECIDES and FEW, which lower it.
 *  5. Name its pictures on the page, best first: "map, took read write" are two. Each is a name in
 *     PICTURES in user/output/html/evidence.js, or one in PICTURES_OF followed by its arguments.
 *     Without any, the page draws the times or bytes of the evidence, so evidence without these
 *     needs one.
 *
 * Its test is a FINDING_CASE in tests/unit/findings/findings_of_*.h: a trace that has it, and a
 * sound one that does not. Tests assert that every rule is complete, has a case and has a picture.
 *
 * The cost is time that compute did not overlap, where that is known (finding_unhidden), or else
 * bytes. The severity follows from the cost, unless the rule sets it.
 */
#pragma once

#include <math.h>

#include "analysis/shared/results.h"
#include "analysis/shared/finding_threshold.h"
#include "analysis/files/files.h"
#include "analysis/files/io_patterns.h"
#include "trace/format/thread_states.h"

/* How sure the rule is that the evidence means what the title says. */
enum finding_confidence { FINDING_GUESS, FINDING_LIKELY, FINDING_SURE };

enum finding_severity {
	FINDING_BY_COST, /* decided by the cost */
	FINDING_NOTE,	 /* no known cost, or time that may be well spent */
	FINDING_LOW,
	FINDING_MEDIUM,
	FINDING_HIGH,
};

/* Their names; FINDING_BY_COST has none. */
extern const char *const finding_severities[FINDING_HIGH + 1];

/* How exact a rule's costs are, unless loss, sums or CPU work at the same lines decide that. */
enum finding_exactness {
	FINDING_MEASURED,  /* or a lower bound, if the change also saves CPU work */
	FINDING_ESTIMATED, /* it may be less, too: some of it may be overlapped, or stay */
	FINDING_AT_MOST,   /* an upper bound */
};

struct finding_verdict {
	uint64_t cost_ns;    /* not overlapped by compute; TABLE_NO_UINT: unknown */
	uint64_t cost_bytes; /* moved or fetched in vain, or the slow way; or TABLE_NO_UINT */
	enum finding_confidence confidence;
	enum finding_severity severity;
	uint64_t covers_ns; /* time that it explains, if more than its change saves; or 0 */
	uint64_t keeps_ns;  /* part of covers_ns and of CPU work that the change does not save */
	/* If a rule's findings differ in that: bits 1 << enum use of files that take its time. */
	unsigned int uses;
};

/* The I/O that a finding is about. */
struct finding_io {
	unsigned int uses;	/* bits 1 << enum use; 0: any */
	struct table_text path; /* of its only file; none: several, or unknown */
};

struct file_group;
struct findings;
struct line_use;
struct lines_row;
struct path_stack;

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

/* The files that match a rule, and the use of them that it counts. */
struct file_group_rule {
	enum use use;	       /* whose count, bytes and time are summed */
	bool with_metadata;    /* ... and the time of metadata calls */
	bool with_overwriting; /* ... those that truncate the file, too */
	bool with_faults;      /* ... and the count, bytes and time of faults */
	bool (*takes)(const struct file_view *file);
	/* A count that must reach `counts_min` in each file, or a few if they take much of the run;
	 * NULL: none. */
	uint64_t (*counts)(const struct file_view *file);
	const struct finding_threshold *counts_min;
	/* Returns whether the sums are worth reporting; NULL: always. */
	bool (*speaks)(const struct findings *findings, const struct file_group *file_group);
	/* The share of the time that the change saves; NULL: all of it. */
	double (*saved)(const struct findings *findings, const struct file_group *file_group);
	/* The share of the time that stays without these calls, but not of the CPU work at the same
	 * lines; NULL: none. Not with `saved`. */
	double (*stays)(const struct findings *findings, const struct file_group *file_group);
	/* Bytes that it costs. */
	uint64_t (*cost_bytes)(const struct file_group *file_group);
	bool keeps_busy; /* the devices have the same to read after the change */
	bool reopens;	 /* it costs the time in reopens.h if that is more */
	bool common;	 /* the example has the most common ending */
	/* Leaves out files opened more often than this times the average; NULL: none. */
	const struct finding_threshold *opens_max;
	bool programs; /* also files for which file_group_is_program is true */
};

/* The columns of a rule's evidence, and the size of the struct that they read. */
struct finding_evidence {
	const struct table_column *columns;
	size_t count, bytes;
};

struct finding_rule {
	const char *id;	    /* "mmap-random", for --explain and JSON */
	unsigned int order; /* its place among the rules; the Makefile reads it */
	enum finding_breadth breadth;
	unsigned int needs;	   /* JOB_*: layers that it requires */
	unsigned int needs_one_of; /* ... and of these, if any, at least one */
	enum finding_sums sums;
	/* Returns 0, -ENOMEM, or 1 if the data does not allow a decision. */
	int (*find)(struct findings *findings, const struct finding_rule *rule);
	enum finding_confidence confidence; /* of what it adds; and */
	enum finding_severity severity;	    /* how bad that is */
	enum finding_exactness exactness;   /* of the costs */
	/* Uses only tables, and what reads from them in reports made of several (files.h, totals.h,
	 * failed_lookups.h, io_patterns.h, methods.h, epochs.h, overlap.h): such a rule also runs
	 * on all of them together. For other rules, the findings of each report stand. */
	bool cross_run;
	/* Ranks below findings on the job's own data that cost at least half as much. */
	bool startup;
	/* The I/O causes CPU work (parsing, unpacking, importing), which the change also saves. The
	 * cost of that work is unknown, so cost_ns is a lower bound. */
	bool causes_work;
	/* Returns whether that work happens at the lines that request the I/O, so that it can be
	 * estimated from samples: see finding_work_of. NULL: it does not. */
	bool (*work_at_lines)(const void *evidence);
	/* It is at most this, relative to the I/O; NULL: any. */
	const struct finding_threshold *work_max;
	/* Returns whether that limit does not apply; NULL: it does. */
	bool (*work_unlimited)(const void *evidence);
	/* Share of the run that the cost must reach, that work included; NULL: any. */
	const struct finding_threshold *of_run;
	/* Earlier rules, by id, that make this finding redundant: see finding_add. */
	const char *reported_by[24];
	enum io_class class;	      /* of its time; for files, patterns and bounds */
	struct file_group_rule files; /* for FINDING_OF_FILES */
	enum io_pattern io_pattern;   /* for rules/files/write.c */
	enum thread_state state;      /* for find_wait, and lines_path */
	/* Bits 1 << enum use: samples of these say at which lines the time was spent: those of the
	 * evidence's path, of the files with calls of `io_pattern` if `lines_of_pattern`, or of all
	 * files but programs if `lines_of_all`. Rules with `files` need only those that are not of
	 * their use. */
	unsigned int lines;
	bool lines_of_pattern, lines_of_all;
	/* If set, selects among these samples itself, without regard to their files. */
	bool (*lines_take)(const struct findings *findings, const void *evidence,
			   const struct line_use *use);
	/* Or samples of all operations and waits, if they are in such rows of the table "lines". */
	bool (*lines_row)(const void *evidence, const struct lines_row *row);
	/* Or the time on the critical path in `state`, by default on a CPU, with such stacks, or of
	 * such threads. If that is not known, the rows are taken. */
	bool (*lines_path)(const struct job *job, const void *evidence,
			   const struct path_stack *stack);
	/* Whether a stack starts processes: their time outside lines of the
	 * application is then of the line that calls it. NULL: it has no line. */
	bool (*lines_start)(const struct job *job, const struct path_stack *stack);
	const char *lines_whole; /* with one of these: what the shares are of, "its I/O" */
	const struct finding_evidence *evidence;
	const struct finding_threshold *thresholds[12];
	const char *title, *says, *advice, *more;
	/* For --explain, if `advice` says nothing without a particular finding; NULL: `advice`. */
	const char *advice_in_general;
	/* Follows the advice if most of the cost is CPU work at the same lines; NULL: nothing. */
	const char *advice_on_work;
	/* Pictures of the evidence on the page, best first, separated by ", ": see evidence.js. */
	const char *pictures;
	const char *caveat; /* same content at the top of the first screen; NULL: none */
	const char
		*rule; /* for --explain: when it applies and why that costs, in a few sentences */
};

/* A column of evidence, where the finding has the same one wherever it occurs. */
#define FACT(type, member, title, unit, meaning) COLUMN(type, member, title, unit, FACT, meaning)

/* Initializes a struct finding_evidence, and that of a rule. */
#define FINDING_EVIDENCE_OF(type, list)                                                            \
	{                                                                                          \
		.columns = (list), .count = sizeof(list) / sizeof((list)[0]),                      \
		.bytes = sizeof(type)                                                              \
	}
#define FINDING_EVIDENCE(type, list)                                                               \
	.evidence = &(const struct finding_evidence)FINDING_EVIDENCE_OF(type, list)

/* All rules, in order; NULL-terminated. */
extern const struct finding_rule *const finding_rules[];
extern const size_t finding_rule_count;
/* Returns whether the layers that a rule needs were recorded. */
static inline bool finding_rule_applies(const struct finding_rule *rule, unsigned int layers)
{
	return (layers & rule->needs) == rule->needs &&
	       (!rule->needs_one_of || layers & rule->needs_one_of);
}

/* Returns NULL if there is none of that name. */
const struct finding_rule *finding_rule_named(const char *id);
/* The same for a cell of FINDING_ID. */
const struct finding_rule *finding_rule_of(const struct cell *id);
/* Returns whether the runs of a report recorded what the rule requires. */
bool finding_is_checked(const struct finding_rule *rule, const struct report *report);
/* Returns the severity in a cell of FINDING_SEVERITY, which may be anything in a summary;
 * FINDING_BY_COST if it is invalid. */
enum finding_severity finding_severity_in(const struct cell *cell);

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
	FINDING_WHERE,
	FINDING_COST_CPU_NS,
	FINDING_COST_CPU_WAIT_NS,
	FINDING_COLUMNS,
};

/* Input of the rules. */
struct findings {
	const struct results
		*results; /* its job is NULL when reports of several runs are examined */
	const struct report *report;
	uint64_t duration_ns; /* of the run */
	bool aggregated;      /* some traces have aggregated operations */
	const char *host;     /* NULL: several */
	/* Number of concurrent runs that times are summed over; together they took at least as long
	 * as one on average. 1: times are exact. */
	size_t runs;
	uint64_t elsewhere_bytes;     /* see finding_files.h */
	bool many_kinds;	      /* of threads: see finding_lines_kinds */
	const struct table *reported; /* with findings of single runs; NULL: none */
	struct finding *all;
	size_t count, room;
	struct arena *arena; /* what evidence points to; lives as long as the findings */
	double opens_each;   /* opens of a file that is opened, on average */
	struct file_group_found *file_group; /* by rule, see finding_files.h; and */
	uint64_t off_blocks_bytes;	     /* fetched of files that may have no blocks */
};

/* Adds a finding, with the rule's confidence and severity, unless the rule's `reported_by` already
 * cover it. Costs may be TABLE_NO_UINT. Copies `evidence`, but not what it points to. Returns 0 or
 * -ENOMEM. */
int finding_add(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		uint64_t cost_ns, uint64_t cost_bytes);
/* The same for a rule whose confidence or severity varies. */
int finding_add_as(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		   const struct finding_verdict *verdict);
/* The same for a cost in several classes: see finding_unhidden_of. */
int finding_add_of(struct findings *findings, const struct finding_rule *rule, const void *evidence,
		   const uint64_t times_ns[IO_CLASS_COUNT]);

/* Returns the time explained by a rule's findings so far, in this run or in any of several; 0:
 * none. Only findings that may be about the same I/O count; NULL: all. */
uint64_t finding_cost_of(const struct findings *findings, const char *id,
			 const struct finding_io *io);
/* Returns whether one of the rules, NULL-terminated, has already found a cost that high: waits at
 * the same time are reported once, by the rule that comes first. */
bool finding_is_reported(const struct findings *findings, const char *const *ids, uint64_t cost_ns,
			 const struct finding_io *io);
/* Returns the uses with a good part of such times: bits 1 << enum use. */
unsigned int finding_uses_of(const uint64_t times_ns[IO_CLASS_COUNT]);

/* Returns whether something happened often enough to report it: as often as a threshold says, or a
 * twentieth of that if it takes a noticeable part of the run. Counts find many small costs; they
 * must not hide a few large ones. `of_run`: its share of the run's time. */
bool finding_is_enough(uint64_t count, const struct finding_threshold *many, double of_run);
/* The same for something that took that long. */
bool finding_is_enough_in(const struct findings *findings, uint64_t count,
			  const struct finding_threshold *many, uint64_t time_ns);

/* Returns the part of a class's time that the run waited for, in the proportion of the whole class:
 * exact for all of the class, otherwise an estimate. That is what no compute span overlapped; if
 * there are none, what was on the critical path; all of it if that is unknown, too. For concurrent
 * runs, returns the average of one. */
uint64_t finding_unhidden(const struct findings *findings, enum io_class class, uint64_t time_ns);
/* The same for times of several classes, by enum io_class: the sum. */
uint64_t finding_unhidden_of(const struct findings *findings,
			     const uint64_t times_ns[IO_CLASS_COUNT]);
/* Divides a time into such times, in proportion to those in `times_ns`; if these are all 0, it is
 * of `class`. */
void finding_divide(uint64_t times_ns[IO_CLASS_COUNT], uint64_t time_ns, enum io_class class);
/* The same as finding_unhidden if the time on the critical path is known; UINT64_MAX: unknown. */
uint64_t finding_waited(const struct findings *findings, enum io_class class, uint64_t time_ns,
			uint64_t path_ns);

/* Returns the time in which reads of that many bytes kept devices busy with several requests at
 * once, in proportion to all of the run's reads: more of them in flight cannot save it. 0: devices
 * had fewer, or it is unknown. */
uint64_t finding_busy_ns(const struct findings *findings, uint64_t bytes);
/* The same, less the part of the time of small requests that larger ones would save. */
uint64_t finding_kept_busy_ns(const struct findings *findings, uint64_t bytes);

/* Returns bytes per second, capped to the range of the number; 0 for no time. */
uint64_t finding_bandwidth(uint64_t bytes, uint64_t time_ns);
/* Returns a part's share of a whole; 0 if that is 0. */
static inline double finding_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

/* Converts a number, limited to the range: times of a damaged trace may be outside of it. */
static inline uint64_t finding_limited(double number)
{
	if (number >= 0x1p64)
		return UINT64_MAX;
	return number > 0 ? (uint64_t)number : 0;
}

/* Returns the rounded average; 0 of none. */
static inline uint64_t finding_average(uint64_t sum, uint64_t count)
{
	return count ? sum / count + (sum % count > count / 2) : 0;
}

/* Returns a file's share of a time; NAN if it is half or more: the file stands for all of it. */
static inline double finding_share_of_file(uint64_t part_ns, uint64_t whole_ns)
{
	const double share = finding_share(part_ns, whole_ns);

	return share < 0.5 ? share : NAN;
}

/* Returns whether a time is at least that share of the run. */
static inline bool finding_is_of_run(const struct findings *findings, uint64_t time_ns,
				     struct finding_threshold share)
{
	return time_ns >= threshold(share) * findings->duration_ns;
}

/* A `work_at_lines` that always returns true. */
static inline bool finding_always(const void *evidence)
{
	return evidence;
}

/* Returns a number for evidence, where none is null. */
static inline uint64_t finding_or_none(uint64_t count)
{
	return count ? count : TABLE_NO_UINT;
}

/* Returns the number in that column of the table "trace"; 0: unknown. */
uint64_t finding_trace_number(const struct findings *findings, const char *name);
/* Returns the last part of a path. */
struct table_text finding_base_name(struct table_text path);
/* Returns a device's name, or its number: a truncated trace has no names. */
struct table_text finding_device_name(struct findings *findings, struct trace_string name,
				      uint64_t dev);
