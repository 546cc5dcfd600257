/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about epochs: whether later ones read from storage again. */
#include "analysis/phases/epochs.h"
#include "analysis/finding/finding_files.h"
#include "analysis/shared/results.h"

struct epochs_evidence {
	uint64_t epochs, first_bytes, last_bytes, later_bytes, last_read_bytes, memory_bytes;
	double of_first;
};

static const struct table_column epochs_columns[] = {
	{ "epochs", "epochs", UNIT_COUNT, KIND_FACT, "epochs",
	  TABLE_UINT(struct epochs_evidence, epochs), 0 },
	{ "first_bytes", "first", UNIT_BYTES, KIND_FACT, "bytes from storage in the first epoch",
	  TABLE_UINT(struct epochs_evidence, first_bytes), 0 },
	{ "last_bytes", "last", UNIT_BYTES, KIND_FACT, "bytes from storage in the last epoch",
	  TABLE_UINT(struct epochs_evidence, last_bytes), 0 },
	{ "later_bytes", "later", UNIT_BYTES, KIND_FACT,
	  "bytes from storage in all epochs but the first",
	  TABLE_UINT(struct epochs_evidence, later_bytes), 0 },
	{ "last_read_bytes", "read", UNIT_BYTES, KIND_FACT, "bytes read by calls in the last epoch",
	  TABLE_UINT(struct epochs_evidence, last_read_bytes), 0 },
	{ "memory_bytes", "memory", UNIT_BYTES, KIND_FACT,
	  "memory of the host, or the cgroup's limit",
	  TABLE_UINT(struct epochs_evidence, memory_bytes), 0 },
	{ "of_first", "of the first", UNIT_SHARE, KIND_FACT,
	  "bytes from storage in the last epoch relative to the first",
	  TABLE_REAL(struct epochs_evidence, of_first), 0 },
};

/* Returns the memory that a host has for the job, the lower of its limits; TABLE_NO_UINT if no
 * trace has them. */
static uint64_t memory_bytes(const struct report *report)
{
	static const char *const limits[] = { "memory_bytes", "cgroup_memory_bytes" };
	const struct table *trace = report_by(report, &analysis_trace);
	uint64_t least = TABLE_NO_UINT;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		int column = table_find_column(trace, limits[i]);

		if (column >= 0 && trace->cells[column].type == CELL_UINT &&
		    trace->cells[column].uint < least)
			least = trace->cells[column].uint;
	}
	return least;
}

/* Sets *reported to false if there is no second epoch, too little data, or only holes of files.
 * Returns 0 or -ENOMEM. */
static int epochs_evidence(struct findings *findings, struct epochs_evidence *evidence,
			   bool *reported)
{
	struct epochs_view view = epochs_view(findings->report);
	bool holes = false;
	int status = 0;

	*evidence = (struct epochs_evidence) {
		.epochs = view.epochs,
		.first_bytes = view.first_fetched_bytes,
		.last_bytes = view.last_fetched_bytes,
		.later_bytes = view.later_fetched_bytes,
		.last_read_bytes = view.last_read_bytes,
		.memory_bytes = memory_bytes(findings->report),
		.of_first = finding_share(view.last_fetched_bytes, view.first_fetched_bytes),
	};
	*reported = view.epochs > 1 && view.first_fetched_bytes >= threshold(THRESHOLD_EPOCH_BYTES);
	if (*reported)
		status = finding_find_holes(findings, view.first_fetched_bytes, &holes);
	*reported &= !holes;
	return status;
}

static int find_epoch_storage(struct findings *findings, const struct finding_rule *rule)
{
	struct finding_verdict verdict = { .cost_ns = TABLE_NO_UINT, .confidence = FINDING_LIKELY };
	struct epochs_evidence evidence;
	bool reported;
	int status = epochs_evidence(findings, &evidence, &reported);

	if (status || !reported || evidence.of_first < threshold(THRESHOLD_EPOCH_AGAIN) ||
	    evidence.memory_bytes == TABLE_NO_UINT ||
	    evidence.first_bytes > threshold(THRESHOLD_EPOCH_FITS) * evidence.memory_bytes)
		return status;
	verdict.cost_bytes = evidence.later_bytes;
	return finding_add(findings, rule, &evidence, &verdict);
}

static const enum threshold epoch_storage_thresholds[] = {
	THRESHOLD_EPOCH_AGAIN,
	THRESHOLD_EPOCH_FITS,
	THRESHOLD_EPOCH_BYTES,
	THRESHOLD_HOLES,
};

const struct finding_rule finding_epoch_storage = {
	.id = "epoch-from-storage",
	.needs = JOB_PAGECACHE | JOB_SPAN,
	.find = find_epoch_storage,
	.cross_run = true,
	FINDING_EVIDENCE(struct epochs_evidence, epochs_columns),
	FINDING_THRESHOLDS(epoch_storage_thresholds),
	.title = "Each epoch is read from storage again, although the data fits in memory",
	.says = "{first_bytes} from storage in the first epoch, {last_bytes} in the last of "
		"{epochs}; memory has {memory_bytes}",
	.advice = "Avoid dropping data after reading it (O_DIRECT, POSIX_FADV_DONTNEED), copy the "
		  "data to local disk or /dev/shm first, or find what else uses the memory",
	.more = "faultline report --table epochs TRACE",
	.rule = "The data of the first epoch fits in memory, yet later epochs read it from storage "
		"again: it bypasses the page cache, is dropped on purpose, or is evicted by "
		"others.",
};

static int find_epoch_memory(struct findings *findings, const struct finding_rule *rule)
{
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_SURE,
					   FINDING_NOTE };
	struct epochs_evidence evidence;
	bool reported;
	int status = epochs_evidence(findings, &evidence, &reported);

	if (status || !reported || evidence.of_first > threshold(THRESHOLD_EPOCH_MEMORY))
		return status;
	return finding_add(findings, rule, &evidence, &verdict);
}

static const enum threshold epoch_memory_thresholds[] = {
	THRESHOLD_EPOCH_MEMORY,
	THRESHOLD_EPOCH_BYTES,
	THRESHOLD_HOLES,
};

const struct finding_rule finding_epoch_memory = {
	.id = "epoch-from-memory",
	.needs = JOB_PAGECACHE | JOB_SPAN,
	.find = find_epoch_memory,
	.cross_run = true,
	FINDING_EVIDENCE(struct epochs_evidence, epochs_columns),
	FINDING_THRESHOLDS(epoch_memory_thresholds),
	.title = "Data comes from memory, not storage, after the first epoch",
	.says = "{first_bytes} from storage in the first epoch, {last_bytes} in the last, which "
		"read {last_read_bytes}",
	.advice = "Judge storage by the first epoch; to measure storage, use data larger than "
		  "memory or drop caches between epochs",
	.more = "faultline report --table epochs TRACE",
	.rule = "The page cache holds the data after the first epoch. That is good for training, "
		"but misleading in a storage benchmark.",
};
