/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Operations in flight at the last reading, the oldest of each process first. */
#include <stdlib.h>
#include <string.h>

#include "collections/bisect.h"
#include "collections/compare.h"
#include "monitor/ledger/ledger_state.h"

COMPARE_BY(compare, struct ledger_in_flight,
	   COMPARE(a->pid, b->pid) ?: COMPARE(a->since_ns, b->since_ns))

void ledger_forget_in_flight(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->in_flight_count; i++)
		free(ledger->in_flight[i].path);
	free(ledger->in_flight);
	ledger->in_flight = NULL;
	ledger->in_flight_count = 0;
}

/* The end of a path is the most specific. */
static char *copy_path(const char *path)
{
	size_t bytes = strlen(path);

	return strdup(path + (bytes >= LEDGER_PATH_BYTES ? bytes - (LEDGER_PATH_BYTES - 1) : 0));
}

void ledger_set_in_flight(struct ledger *ledger, const struct ledger_in_flight *operations,
			  size_t count)
{
	ledger_forget_in_flight(ledger);
	if (count > LEDGER_IN_FLIGHT_MAX)
		count = LEDGER_IN_FLIGHT_MAX;
	ledger->in_flight = count ? calloc(count, sizeof(*ledger->in_flight)) : NULL;
	if (!ledger->in_flight)
		return;
	for (size_t i = 0; i < count; i++) {
		struct ledger_in_flight *kept = &ledger->in_flight[i];
		const struct file_name *name = NULL;

		*kept = operations[i];
		if (kept->file)
			name = file_names_find(ledger->file_names, kept->file);
		if (name && name->path)
			kept->path = copy_path(name->path);
		else
			kept->path = kept->path ? copy_path(kept->path) : NULL;
	}
	ledger->in_flight_count = count;
	qsort(ledger->in_flight, count, sizeof(*ledger->in_flight), compare);
}

const struct ledger_in_flight *ledger_in_flight(const struct ledger *ledger,
						const struct ledger_process *process, size_t *count)
{
	const size_t first =
		BISECT(i, 0, ledger->in_flight_count, ledger->in_flight[i].pid < process->pid);
	size_t end = first;

	while (end < ledger->in_flight_count && ledger->in_flight[end].pid == process->pid)
		end++;
	*count = end - first;
	if (*count &&
	    ledger->in_flight[first].process_start_ns > process->start_ns + LEDGER_START_WITHIN_NS)
		*count = 0;
	return &ledger->in_flight[first];
}
