/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings on epochs: whether later ones read from storage again. */
#include "analysis/finding/finding_files.h"
#include "analysis/phases/epochs.h"
#include "analysis/run/trace_table.h"
#include "base/number.h"

struct epochs_evidence {
	uint64_t epochs, first_bytes, last_bytes, later_bytes, later_each, last_read_bytes;
	uint64_t memory_bytes;
	double of_first;
};

static const struct table_column epochs_columns[] = {
	FACT(epochs_evidence, epochs, "epochs", COUNT, "epochs"),
	FACT(epochs_evidence, first_bytes, "first", BYTES, "bytes from storage in the first epoch"),
	FACT(epochs_evidence, last_bytes, "last", BYTES, "bytes from storage in the last epoch"),
	FACT(epochs_evidence, later_bytes, "later", BYTES,
	     "bytes from storage in all epochs but the first"),
	FACT(epochs_evidence, later_each, "later, each", BYTES,
	     "average per later epoch, without a last one that was cut off"),
	FACT(epochs_evidence, last_read_bytes, "read", BYTES,
	     "bytes read by calls in the last epoch"),
	FACT(epochs_evidence, memory_bytes, "memory", BYTES,
	     "memory of the hosts together, or of their cgroup limits"),
	FACT(epochs_evidence, of_first, "of the first", SHARE,
	     "bytes from storage in a later epoch relative to the first"),
};

/* Returns the memory that the hosts have for the job, if each has as little as the one with the
 * least; TABLE_NO_UINT if no trace has its limits. */
static uint64_t memory_bytes(const struct report *report)
{
	static const char *const limits[] = { "memory_bytes", "cgroup_memory_bytes" };
	const struct table *trace = report_by(report, &analysis_trace);
	const struct cell *hosts = &trace->cells[ABOUT_HOSTS];
	const uint64_t host_count =
		hosts->type == CELL_TEXTS && hosts->length > 1 ? hosts->length : 1;
	uint64_t least = TABLE_NO_UINT;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		int column = table_find_column(trace, limits[i]);

		if (column >= 0 && trace->cells[column].type == CELL_UINT &&
		    trace->cells[column].uint < least)
			least = trace->cells[column].uint;
	}
	return least == TABLE_NO_UINT ? least : finding_limited((double)least * host_count);
}

THRESHOLD_MIN(EPOCH_BYTES, 1048576, UNIT_BYTES, "bytes from storage in the first epoch",
	      "a choice: less is no dataset");

/* Adds the finding, unless there is no second epoch, too little data, or only holes of files. */
static int add_epochs(struct findings *findings, const struct finding_rule *rule,
		      bool (*is_one)(const struct epochs_evidence *evidence), bool costs)
{
	const struct epochs_view view = epochs_view(findings->report);
	struct epochs_evidence evidence = {
		.epochs = view.epochs,
		.first_bytes = view.first_fetched_bytes,
		.last_bytes = view.last_fetched_bytes,
		.later_bytes = view.later_fetched_bytes,
		.last_read_bytes = view.last_read_bytes,
		.memory_bytes = memory_bytes(findings->report),
	};
	/* The run ended before the last epoch did. */
	const bool is_cut = view.last_read_bytes < view.first_read_bytes / 2 ||
			    view.last_samples < view.first_samples / 2;
	bool holes;
	int status;

	if (view.epochs <= 1u + is_cut || evidence.first_bytes < threshold(THRESHOLD_EPOCH_BYTES))
		return 0;
	evidence.later_each = number_sub(evidence.later_bytes, is_cut ? evidence.last_bytes : 0) /
			      (view.epochs - 1 - is_cut);
	evidence.of_first = finding_share(evidence.later_each, evidence.first_bytes);
	if (!is_one(&evidence))
		return 0;
	status = finding_find_holes(findings, evidence.first_bytes, &holes);
	return status || holes ? status
			       : finding_add(findings, rule, &evidence, TABLE_NO_UINT,
					     costs ? evidence.later_bytes : TABLE_NO_UINT);
}

THRESHOLD_MIN(EPOCH_AGAIN, 0.5, UNIT_SHARE, "share of the first epoch's bytes that later ones read",
	      "a majority");
THRESHOLD_MAX(EPOCH_FITS, 0.5, UNIT_SHARE, "share of memory for the first epoch's bytes",
	      "a choice: the job itself needs memory too");

static bool come_from_storage(const struct epochs_evidence *evidence)
{
	return evidence->of_first >= threshold(THRESHOLD_EPOCH_AGAIN) &&
	       evidence->memory_bytes != TABLE_NO_UINT &&
	       evidence->first_bytes <= threshold(THRESHOLD_EPOCH_FITS) * evidence->memory_bytes;
}

static int find_epoch_storage(struct findings *findings, const struct finding_rule *rule)
{
	return add_epochs(findings, rule, come_from_storage, true);
}

const struct finding_rule finding_epoch_storage = {
	.id = "epoch-from-storage",
	.order = 530,
	.needs = JOB_PAGECACHE | JOB_SPAN,
	.find = find_epoch_storage,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct epochs_evidence, epochs_columns),
	.thresholds = { &THRESHOLD_EPOCH_AGAIN, &THRESHOLD_EPOCH_FITS, &THRESHOLD_EPOCH_BYTES,
			&THRESHOLD_HOLES },
	.title = "Each epoch is read from storage again, although the data fits in memory",
	.says = "{first_bytes} from storage in the first epoch of {epochs}, {later_each} in a "
		"later one; memory has {memory_bytes}",
	.advice = "Avoid dropping data after reading it (O_DIRECT, POSIX_FADV_DONTNEED), copy the "
		  "data to local disk or /dev/shm first, or find what else uses the memory",
	.more = "faultline report --table epochs TRACE",
	.pictures = "epochs",
	.rule = "The data of the first epoch fits in memory, yet later epochs read it from storage "
		"again: it bypasses the page cache, is dropped on purpose, or is evicted by "
		"others.",
};

THRESHOLD_MAX(EPOCH_MEMORY, 0.05, UNIT_SHARE,
	      "share of the first epoch's bytes that later ones read",
	      "a choice: almost none of it again");

static bool come_from_memory(const struct epochs_evidence *evidence)
{
	return evidence->of_first <= threshold(THRESHOLD_EPOCH_MEMORY);
}

static int find_epoch_memory(struct findings *findings, const struct finding_rule *rule)
{
	return add_epochs(findings, rule, come_from_memory, false);
}

const struct finding_rule finding_epoch_memory = {
	.id = "epoch-from-memory",
	.order = 540,
	.needs = JOB_PAGECACHE | JOB_SPAN,
	.find = find_epoch_memory,
	.confidence = FINDING_SURE,
	.severity = FINDING_NOTE,
	.cross_run = true,
	FINDING_EVIDENCE(struct epochs_evidence, epochs_columns),
	.thresholds = { &THRESHOLD_EPOCH_MEMORY, &THRESHOLD_EPOCH_BYTES, &THRESHOLD_HOLES },
	.title = "Data comes from memory, not storage, after the first epoch",
	.says = "{first_bytes} from storage in the first epoch of {epochs}, {later_each} in a "
		"later one",
	.advice = "Judge storage by the first epoch; to measure storage, use data larger than "
		  "memory or drop caches between epochs",
	.more = "faultline report --table epochs TRACE",
	.pictures = "epochs",
	.rule = "The page cache holds the data after the first epoch. That is good for training, "
		"but misleading in a storage benchmark.",
};
