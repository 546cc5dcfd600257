/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parts of an environment belong together by the task that sent them: where the kernel preempts
 * programs, two tasks of a CPU may send theirs in turns.
 */
#include "capture/environments.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"

#define ENVIRON_BYTES (EVENT_ENVIRON_BYTES * EVENT_ENVIRON_RECORDS)

struct environment {
	uint32_t tid; /* 0: unused */
	size_t bytes;
	uint64_t begun; /* by the count of those begun */
	char *text;	/* allocated when first needed */
};

struct environments {
	size_t most;
	uint64_t begun;
	struct environment each[];
};

struct environments *environments_open(size_t most)
{
	struct environments *environments =
		calloc(1, sizeof(*environments) + most * sizeof(environments->each[0]));

	if (environments)
		environments->most = most;
	return environments;
}

void environments_close(struct environments *environments)
{
	for (size_t i = 0; environments && i < environments->most; i++)
		free(environments->each[i].text);
	free(environments);
}

/* The one of that task, or else the one to use for it: the first unused, or the oldest. */
static struct environment *find(struct environments *environments, uint32_t tid)
{
	struct environment *best = &environments->each[0];

	for (size_t i = 0; i < environments->most; i++) {
		struct environment *each = &environments->each[i];

		if (each->tid == tid)
			return each;
		if (best->tid && (!each->tid || each->begun < best->begun))
			best = each;
	}
	return best;
}

void environments_add(struct environments *environments, const struct event_environ *part)
{
	struct environment *environment = find(environments, part->header.tid);

	if (!environment->text)
		environment->text = malloc(ENVIRON_BYTES);
	if (!environment->text || part->offset > ENVIRON_BYTES ||
	    part->bytes > ENVIRON_BYTES - part->offset)
		return;
	/* One that begins anew was never asked for: its exec was lost. */
	if (environment->tid != part->header.tid || part->offset < environment->bytes) {
		environment->tid = part->header.tid;
		environment->bytes = 0;
		environment->begun = ++environments->begun;
	}
	memset(environment->text + environment->bytes, 0, part->offset - environment->bytes);
	memcpy(environment->text + part->offset, part->text, part->bytes);
	environment->bytes = part->offset + part->bytes;
}

const char *environments_take(struct environments *environments, uint32_t tid, size_t *bytes)
{
	struct environment *environment = find(environments, tid);

	if (!tid || environment->tid != tid)
		return NULL;
	environment->tid = 0;
	*bytes = environment->bytes;
	return environment->text;
}
