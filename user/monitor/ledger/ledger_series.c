/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds to owners' cells, counts their series against the limit, and says when owners expire. */
#include "monitor/ledger/ledger_state.h"

struct ledger_cell *ledger_put(struct ledger_sums *sums, const struct ledger_added *added,
			       bool latencies)
{
	struct ledger_cell *cell = sums_cell(sums, added->op, added->method, latencies);

	if (!cell)
		return NULL;
	sums_add(&cell->counts, &added->counts);
	for (unsigned int i = 0; cell->latencies && added->latencies && i < LEDGER_LATENCIES; i++)
		cell->latencies[i] += added->latencies[i];
	return cell;
}

bool ledger_take_series(struct ledger *ledger, const struct ledger_job *job, uint64_t series,
			bool latencies)
{
	uint64_t max = ledger->options.max_series;

	if ((job && job == ledger->other) || ledger->node.series_used + series > max ||
	    (latencies && ledger->latency_series + series > max / 2)) {
		ledger->node.series_folded += series;
		return false;
	}
	ledger->node.series_used += series;
	if (latencies)
		ledger->latency_series += series;
	return true;
}

void ledger_give_back(struct ledger *ledger, const struct ledger_sums *sums, bool latencies)
{
	const struct ledger_costs *costs = &ledger->options.costs;

	for (unsigned int i = 0; i < sums->count; i++) {
		const struct ledger_cell *cell = &sums->cells[i];

		if (cell->folded)
			continue;
		ledger->node.series_used -=
			latencies ? costs->latency : costs->cell(cell->op, cell->method);
		if (latencies)
			ledger->latency_series -= costs->latency;
	}
}

bool ledger_has_exited(const struct ledger *ledger, uint64_t last_ns, uint64_t until_ns)
{
	return until_ns > last_ns && until_ns - last_ns > ledger->options.retire_ns;
}
