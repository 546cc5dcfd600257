/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Cells of sums: few for each owner, so they are searched linearly. */
#include "monitor/ledger/sums.h"

#include <stdlib.h>

const char *const ledger_op_names[LEDGER_OPS] = { "read", "write", "metadata", "sync" };

static struct ledger_cell *find(const struct ledger_sums *sums, enum ledger_op op,
				enum io_method method)
{
	for (unsigned int i = 0; i < sums->count; i++)
		if (sums->cells[i].op == op && sums->cells[i].method == method)
			return &sums->cells[i];
	return NULL;
}

const struct ledger_cell *sums_find(const struct ledger_sums *sums, enum ledger_op op,
				    enum io_method method)
{
	return find(sums, op, method);
}

struct ledger_cell *sums_cell(struct ledger_sums *sums, enum ledger_op op, enum io_method method,
			      bool latencies)
{
	struct ledger_cell *cell = find(sums, op, method), *cells;
	uint64_t *classes = NULL;

	if (cell)
		return cell;
	if (latencies) {
		classes = calloc(LEDGER_LATENCIES, sizeof(*classes));
		if (!classes)
			return NULL;
	}
	cells = realloc(sums->cells, (sums->count + 1) * sizeof(*cells));
	if (!cells) {
		free(classes);
		return NULL;
	}
	sums->cells = cells;
	cell = &cells[sums->count++];
	*cell = (struct ledger_cell) { .op = op, .method = method, .latencies = classes };
	return cell;
}

void sums_add(struct ledger_counts *counts, const struct ledger_counts *added)
{
	counts->count += added->count;
	counts->errors += added->errors;
	counts->bytes += added->bytes;
	counts->fetched_bytes += added->fetched_bytes;
	counts->created_bytes += added->created_bytes;
	counts->read_for_write_bytes += added->read_for_write_bytes;
	counts->time_ns += added->time_ns;
	counts->major_faults += added->major_faults;
	counts->call_major_faults += added->call_major_faults;
}

struct ledger_counts sums_since(const struct ledger_counts *before, const struct ledger_counts *now)
{
	static const struct ledger_counts nothing;
	const struct ledger_counts *from = before ? before : &nothing;

	return (struct ledger_counts) {
		.count = sums_grown(from->count, now->count),
		.errors = sums_grown(from->errors, now->errors),
		.bytes = sums_grown(from->bytes, now->bytes),
		.fetched_bytes = sums_grown(from->fetched_bytes, now->fetched_bytes),
		.created_bytes = sums_grown(from->created_bytes, now->created_bytes),
		.read_for_write_bytes =
			sums_grown(from->read_for_write_bytes, now->read_for_write_bytes),
		.time_ns = sums_grown(from->time_ns, now->time_ns),
		.major_faults = sums_grown(from->major_faults, now->major_faults),
		.call_major_faults = sums_grown(from->call_major_faults, now->call_major_faults),
	};
}

void sums_merge(struct ledger_sums *sums, const struct ledger_sums *added)
{
	for (unsigned int i = 0; i < added->count; i++) {
		struct ledger_cell *cell =
			sums_cell(sums, added->cells[i].op, added->cells[i].method, false);

		if (cell)
			sums_add(&cell->counts, &added->cells[i].counts);
	}
}

struct ledger_counts sums_total(const struct ledger_sums *sums)
{
	struct ledger_counts total = { 0 };

	for (unsigned int i = 0; i < sums->count; i++)
		sums_add(&total, &sums->cells[i].counts);
	return total;
}

uint64_t sums_percentile(const uint64_t *latencies, unsigned int percent)
{
	uint64_t all = 0, seen = 0;

	for (unsigned int i = 0; latencies && i < LEDGER_LATENCIES; i++)
		all += latencies[i];
	for (unsigned int i = 0; all && i < LEDGER_LATENCIES - 1; i++) {
		seen += latencies[i];
		if (seen * 100 >= all * percent)
			return 1ull << (LEDGER_LATENCY_SHIFT + i);
	}
	return UINT64_MAX;
}

void sums_free(struct ledger_sums *sums)
{
	for (unsigned int i = 0; i < sums->count; i++)
		free(sums->cells[i].latencies);
	free(sums->cells);
	*sums = (struct ledger_sums) { 0 };
}
