/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The service's metrics as a table: names, types, units, subjects and getters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger/ledger.h"
#include "monitor/service/service.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };
enum metric_unit {
	METRIC_NUMBER,
	METRIC_BYTES,
	METRIC_SECONDS, /* kept in ns */
};

/* Subject of a metric; it has one sample for each. */
enum metric_of {
	METRIC_OF_SERVICE,
	METRIC_OF_LAYER,
	METRIC_OF_LOSS,	       /* kind of record that may be lost */
	METRIC_OF_CELL,	       /* job, program, operation and method */
	METRIC_OF_LATENCY,     /* job, operation and method */
	METRIC_OF_FAULT,       /* job, program and kind of page fault */
	METRIC_OF_JOB,	       /* job whose writers were throttled */
	METRIC_OF_SPAN,	       /* job and span name */
	METRIC_OF_THREAD,      /* job and state of its threads */
	METRIC_OF_FILE_SYSTEM, /* file system and operation */
	METRIC_OF_DEVICE,      /* device and type of request */
	METRIC_OF_CALLS,       /* NFS mount and type of call */
	METRIC_OF_FLIGHT,      /* flight recorder, if there is one */
	METRIC_OF_CAUSE,       /* ... and who requested a trace */
};

/* Source of all numbers. */
struct metric_source {
	const struct ledger_node *node;
	const struct ledger_job *jobs;
	struct service_facts facts;
	uint64_t cpu_ns, resident_bytes; /* the service's own */
	uint64_t series_max;
	unsigned int job_count, process_count;
};

/* One item that a metric has a sample of; members of other subjects are unset. */
struct metric_item {
	const struct metric_source *source;
	const struct ledger_job *job;	      /* NULL: folded sums */
	const struct ledger_command *command; /* NULL: folded sums */
	const struct ledger_cell *cell;	      /* of a command, or of a job with latencies */
	const struct ledger_counts *throttled;
	const struct ledger_span *span; /* NULL: folded sums */
	const uint64_t *thread_ns;	/* by state */
	const struct ledger_file_system *file_system;
	const struct ledger_device *device;
	enum ledger_op op;   /* of a file system */
	unsigned int number; /* type of request; layer, loss, cause, state or kind of fault */
};

struct metric {
	const char *name; /* without the suffix of its type ("_total" for counters) */
	enum metric_type type;
	enum metric_unit unit;
	enum metric_of of;
	unsigned int layers; /* mask of layers without which it is not measured */
	const char *help;
	uint64_t (*get)(const struct metric_item *item);
	bool (*has)(const struct metric_item *item); /* NULL: all items have it */
};

extern const struct metric metrics[];
extern const size_t metric_count;

#define METRIC_FAULT_KINDS 3
extern const char *const metric_fault_kinds[METRIC_FAULT_KINDS];
extern const char *const metric_device_uses[LEDGER_DEVICE_USES];
extern const char *const metric_calls[LEDGER_DEVICE_USES];

/* Bounds of latency buckets: how many classes of LEDGER_LATENCIES are below each. The last bucket
 * has no bound and follows these. */
#define METRIC_BUCKETS 8
extern const uint8_t metric_bucket_classes[METRIC_BUCKETS];

/* Costs in series, see ledger_options. */
extern const struct ledger_costs metric_costs;
/* Series that exist whatever the ledger holds. */
#define METRIC_SERIES_FIXED 600

/* Calls `take` for each item that the metric has a sample of. */
void metrics_each(const struct metric *metric, const struct metric_source *source,
		  void (*take)(void *context, const struct metric_item *item), void *context);
/* Fills a source. The ledger must stay locked while its pointers are used. */
void metrics_fill_source(struct metric_source *source, struct service *service,
			 uint64_t series_max);
