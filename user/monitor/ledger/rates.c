/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Differences of sums. Jobs are remembered by id, in the order of the ledger. */
#include "collections/compare.h"
#include "monitor/ledger/rates.h"

#include <stdlib.h>
#include <string.h>

struct rated_cell {
	uint8_t op, method;
	struct ledger_counts last, added;
	uint64_t last_latencies[LEDGER_LATENCIES], latencies[LEDGER_LATENCIES];
};

struct rated_file {
	uint64_t ino;
	uint32_t dev, generation, instance;
	struct ledger_counts last, added;
};

struct rated_job {
	uint64_t id;
	struct rated_cell *cells;
	struct rated_file *files;
	unsigned int count, file_count;
};

struct rates {
	struct rated_job *entries; /* sorted by id, the node first */
	size_t count;
	uint64_t readings, read_ns, interval_ns;
};

struct rates *rates_open(void)
{
	return calloc(1, sizeof(struct rates));
}

static void free_entries(struct rated_job *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(entries[i].cells);
		free(entries[i].files);
	}
	free(entries);
}

void rates_close(struct rates *rates)
{
	if (!rates)
		return;
	free_entries(rates->entries, rates->count);
	free(rates);
}

static const struct rated_job *find_entry(const struct rates *rates, uint64_t id)
{
	return rates->count ? bsearch(&id, rates->entries, rates->count, sizeof(struct rated_job),
				      compare_u64)
			    : NULL;
}

static const struct rated_cell *find_cell(const struct rated_job *entry, enum ledger_op op,
					  enum io_method method)
{
	for (unsigned int i = 0; entry && i < entry->count; i++)
		if (entry->cells[i].op == op && entry->cells[i].method == method)
			return &entry->cells[i];
	return NULL;
}

static void fill_cell(struct rated_cell *cell, const struct ledger_cell *now,
		      const struct rated_cell *before)
{
	cell->op = now->op;
	cell->method = now->method;
	cell->last = now->counts;
	cell->added = sums_since(before ? &before->last : NULL, &now->counts);
	if (now->latencies) {
		memcpy(cell->last_latencies, now->latencies, sizeof(cell->last_latencies));
		memcpy(cell->latencies, now->latencies, sizeof(cell->latencies));
	}
	for (int i = 0; before && i < LEDGER_LATENCIES; i++)
		cell->latencies[i] -= before->last_latencies[i];
}

static const struct rated_file *find_file(const struct rated_job *entry,
					  const struct ledger_file *file)
{
	for (unsigned int i = 0; entry && i < entry->file_count; i++)
		if (entry->files[i].ino == file->ino && entry->files[i].dev == file->dev &&
		    entry->files[i].generation == file->generation &&
		    entry->files[i].instance == file->instance)
			return &entry->files[i];
	return NULL;
}

static void fill_file(struct rated_file *file, const struct ledger_file *now,
		      const struct rated_file *before)
{
	struct ledger_counts all = sums_total(&now->sums);

	/* A file that was folded in between and came back has started from zero. */
	if (before && (before->last.time_ns > all.time_ns || before->last.count > all.count))
		before = NULL;
	*file = (struct rated_file) {
		now->ino,      now->dev, now->generation,
		now->instance, all,	 sums_since(before ? &before->last : NULL, &all)
	};
}

/* Returns 0, or -1 if out of memory. */
static int fill_files(struct rated_job *entry, const struct ledger_job *job,
		      const struct rates *rates)
{
	const struct rated_job *before = find_entry(rates, job->id);
	unsigned int count = 0;

	for (unsigned int i = 0; i < job->file_count; i++)
		count += job->files[i].path != NULL;
	entry->files = count ? calloc(count, sizeof(*entry->files)) : NULL;
	if (count && !entry->files)
		return -1;
	for (unsigned int i = 0; i < job->file_count; i++) {
		const struct ledger_file *now = &job->files[i];

		if (now->path)
			fill_file(&entry->files[entry->file_count++], now, find_file(before, now));
	}
	return 0;
}

/* Returns 0, or -1 if out of memory. */
static int fill_entry(struct rated_job *entry, uint64_t id, const struct ledger_sums *sums,
		      const struct rates *rates)
{
	const struct rated_job *before = find_entry(rates, id);

	entry->id = id;
	if (!sums->count)
		return 0;
	entry->cells = calloc(sums->count, sizeof(*entry->cells));
	if (!entry->cells)
		return -1;
	entry->count = sums->count;
	for (unsigned int i = 0; i < sums->count; i++)
		fill_cell(&entry->cells[i], &sums->cells[i],
			  find_cell(before, sums->cells[i].op, sums->cells[i].method));
	return 0;
}

void rates_note(struct rates *rates, const struct ledger *ledger, uint64_t min_ns)
{
	uint64_t read_ns, readings = ledger_readings(ledger, &read_ns);
	struct rated_job *entries;
	size_t count = 1, at = 0;
	int err;

	if (readings == rates->readings || (rates->readings && read_ns - rates->read_ns < min_ns))
		return;
	for (const struct ledger_job *job = ledger_jobs(ledger); job; job = job->next)
		count++;
	entries = calloc(count, sizeof(*entries));
	if (!entries)
		return;
	err = fill_entry(&entries[at++], RATES_NODE, &ledger_node(ledger)->sums, rates);
	for (const struct ledger_job *job = ledger_jobs(ledger); job && !err; job = job->next) {
		err = fill_entry(&entries[at], job->id, &job->sums, rates);
		if (!err)
			err = fill_files(&entries[at++], job, rates);
	}
	if (err) {
		free_entries(entries, count);
		return;
	}
	rates->interval_ns = rates->readings ? read_ns - rates->read_ns : 0;
	rates->readings = readings;
	rates->read_ns = read_ns;
	free_entries(rates->entries, rates->count);
	rates->entries = entries;
	rates->count = count;
}

uint64_t rates_interval_ns(const struct rates *rates)
{
	return rates->interval_ns;
}

struct ledger_counts rates_added(const struct rates *rates, uint64_t job, enum ledger_op op,
				 enum io_method method, uint64_t *latencies)
{
	const struct rated_cell *cell = find_cell(find_entry(rates, job), op, method);

	if (latencies)
		memset(latencies, 0, LEDGER_LATENCIES * sizeof(*latencies));
	if (!cell)
		return (struct ledger_counts) { 0 };
	if (latencies)
		memcpy(latencies, cell->latencies, sizeof(cell->latencies));
	return cell->added;
}

struct ledger_counts rates_total(const struct rates *rates, uint64_t job)
{
	const struct rated_job *entry = find_entry(rates, job);
	struct ledger_counts total = { 0 };

	for (unsigned int i = 0; entry && i < entry->count; i++)
		sums_add(&total, &entry->cells[i].added);
	return total;
}

struct ledger_counts rates_file(const struct rates *rates, uint64_t job,
				const struct ledger_file *file)
{
	const struct rated_file *found = find_file(find_entry(rates, job), file);

	return found ? found->added : (struct ledger_counts) { 0 };
}
