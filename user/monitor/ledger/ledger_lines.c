/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Time at lines of Python, by process: since the caller last forgot it, in bounded memory. */
#include "monitor/ledger/ledger_state.h"

#include <string.h>

static struct ledger_line *find_line(const struct ledger_process *process,
				     const struct ledger_line *like, unsigned int *count)
{
	struct ledger_line *line = process->lines;

	for (*count = 0; line; line = line->next, ++*count)
		if (line->line == like->line && line->state == like->state &&
		    !strcmp(line->file, like->file) && !strcmp(line->function, like->function))
			break;
	return line;
}

/* Returns NULL if there is no room. */
static struct ledger_line *make_line(struct ledger *ledger, struct ledger_process *process,
				     const struct ledger_line *like)
{
	struct ledger_line *line = NULL;

	if (ledger->lines.bytes < LEDGER_LINES_BYTES)
		line = arena_alloc(&ledger->lines, sizeof(*line));
	if (!line)
		return NULL;
	*line = *like;
	line->file = arena_text(&ledger->lines, like->file, strlen(like->file));
	line->function = arena_text(&ledger->lines, like->function, strlen(like->function));
	if (arena_status(&ledger->lines))
		return NULL;
	line->time_ns = 0;
	line->next = process->lines;
	process->lines = line;
	return line;
}

bool ledger_add_line(struct ledger *ledger, uint32_t pid, uint64_t time_ns,
		     const struct ledger_line *added)
{
	struct ledger_process *process =
		ledger_find_owner(ledger, pid, 0, time_ns, time_ns).process;
	struct ledger_line *line;
	unsigned int count;

	if (!process)
		return false;
	line = find_line(process, added, &count);
	if (!line && count < LEDGER_LINES_MAX)
		line = make_line(ledger, process, added);
	if (line)
		line->time_ns += added->time_ns;
	return line;
}

const struct ledger_line *ledger_line(const struct ledger_process *process, uint32_t state)
{
	const struct ledger_line *longest = NULL;

	for (const struct ledger_line *line = process->lines; line; line = line->next)
		if (line->state == state && (!longest || line->time_ns > longest->time_ns))
			longest = line;
	return longest;
}

bool ledger_keeps_lines(const struct ledger *ledger)
{
	return ledger->options.lines;
}

void ledger_forget_lines(struct ledger *ledger)
{
	for (unsigned int i = 0; i < PROCESS_CHAINS; i++)
		for (struct ledger_process *process = ledger->chains[i]; process;
		     process = process->chain)
			process->lines = NULL;
	arena_free(&ledger->lines);
	ledger->lines = (struct arena) { 0 };
}
