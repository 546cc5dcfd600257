/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The metrics that the service tells, as rows of a table: names, types, units, what each is about
 * and where its number comes from. Knows nothing of how they are written.
 */
#ifndef FAULTLINE_MONITOR_METRICS_H
#define FAULTLINE_MONITOR_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger.h"
#include "monitor/service.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };
enum metric_unit {
	METRIC_NUMBER,
	METRIC_BYTES,
	METRIC_SECONDS, /* kept in ns */
};

/* What there is one sample of. */
enum metric_of {
	METRIC_OF_SERVICE,
	METRIC_OF_LAYER,
	METRIC_OF_LOSS,	       /* a kind of record that may be lost */
	METRIC_OF_CELL,	       /* job, program, operation and method */
	METRIC_OF_LATENCY,     /* job, operation and method */
	METRIC_OF_FAULT,       /* job, program and kind of page fault */
	METRIC_OF_JOB,	       /* whose writers were told to sleep */
	METRIC_OF_SPAN,	       /* job, and what its programs call spans */
	METRIC_OF_FILE_SYSTEM, /* and operation */
	METRIC_OF_DEVICE,      /* and what was asked of it */
	METRIC_OF_FLIGHT,      /* the flight recorder, where there is one */
	METRIC_OF_CAUSE,       /* ... and who asked for a trace */
};

/* What the numbers come from. */
struct metric_source {
	const struct ledger_node *node;
	const struct ledger_job *jobs;
	struct service_facts facts;
	uint64_t cpu_ns, resident_bytes; /* the service's own */
	uint64_t most_series;
	unsigned int job_count, process_count;
};

/* One of what a metric is about; what is not of its kind is not set. */
struct metric_item {
	const struct metric_source *source;
	const struct ledger_job *job;	      /* NULL: what is folded */
	const struct ledger_command *command; /* NULL: what is folded */
	const struct ledger_cell *cell;	      /* of a command; of a job with its latencies */
	const struct ledger_counts *throttled;
	const struct ledger_span *span; /* NULL: what is folded */
	const struct ledger_file_system *file_system;
	const struct ledger_device *device;
	enum ledger_op op; /* of a file system */
	unsigned int
		number; /* of a device what was asked; of a layer, loss, cause or kind of fault */
};

struct metric {
	const char *name; /* without the suffix of its type: of a counter "_total" */
	enum metric_type type;
	enum metric_unit unit;
	enum metric_of of;
	unsigned int layers; /* mask: without one of them it is not measured */
	const char *help;
	uint64_t (*get)(const struct metric_item *item);
	bool (*has)(const struct metric_item *item); /* NULL: all have it */
};

extern const struct metric metrics[];
extern const size_t metric_count;

#define METRIC_FAULT_KINDS 3
extern const char *const metric_fault_kinds[METRIC_FAULT_KINDS];
extern const char *const metric_device_uses[LEDGER_DEVICE_USES];

/* Bounds of buckets of latencies: how many of the classes of LEDGER_LATENCIES are below. The last
 * bucket has no bound, and stands behind these. */
#define METRIC_BUCKETS 8
extern const uint8_t metric_bucket_classes[METRIC_BUCKETS];

/* What series cost: see ledger_options. */
extern const struct ledger_costs metric_costs;
/* Series that there are whatever the ledger holds. */
#define METRIC_SERIES_FIXED 600

/* Calls for each thing that the metric has a sample of. */
void metrics_each(const struct metric *metric, const struct metric_source *source,
		  void (*take)(void *context, const struct metric_item *item), void *context);
/* Fills a source; the ledger is locked until what it points to has been used. */
void metrics_look(struct metric_source *source, struct service *service, uint64_t most_series);

#endif
