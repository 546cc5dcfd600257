/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The list of refused programs, with reasons taken from the verifier's logs. */
#include "capture/support/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns false for lines at the end of a log that give no reason: statistics, and how far the
 * verifier got. */
static bool is_reason(const char *line, size_t length)
{
	static const char *const others[] = { "processed ", "verification time ", "stack depth ",
					      "peak_states " };

	if (!length)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(line, others[i], strlen(others[i])))
			return false;
	return true;
}

/* Copies the last line that gives a reason. */
static void copy_reason(char *to, size_t size, const char *log)
{
	const char *end = log + strlen(log);

	to[0] = 0;
	while (end > log) {
		const char *line = end;

		while (line > log && line[-1] != '\n')
			line--;
		if (is_reason(line, end - line)) {
			snprintf(to, size, "%.*s", (int)(end - line), line);
			return;
		}
		end = line > log ? line - 1 : log;
	}
}

int refusals_add(struct refusals *refusals, const char *program, const char *log, int err)
{
	struct refusal *rows =
		realloc(refusals->rows, (refusals->count + 1) * sizeof(*refusals->rows));
	struct refusal *row;

	if (!rows)
		return -ENOMEM;
	refusals->rows = rows;
	row = &rows[refusals->count++];
	snprintf(row->program, sizeof(row->program), "%s", program);
	copy_reason(row->why, sizeof(row->why), log);
	if (!row->why[0])
		snprintf(row->why, sizeof(row->why), "%s", strerror(-err));
	return 0;
}

const char *refusals_find(const struct refusals *refusals, const char *program)
{
	for (size_t i = 0; refusals && i < refusals->count; i++)
		if (!strcmp(refusals->rows[i].program, program))
			return refusals->rows[i].why;
	return NULL;
}

void refusals_free(struct refusals *refusals)
{
	free(refusals->rows);
	*refusals = (struct refusals) { 0 };
}
