/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keeps a bit for each id that was begun, in chunks of 64 consecutive ids, and the ends whose bit
 * was not set when they arrived. Most find it a moment later, because CPU buffers are drained one
 * after the other. Memory is bounded: nothing is reported if there are too many chunks or ends, or
 * if an end without a begin could belong to a fork that was not kept.
 */
#include "capture/drain/span_ends.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>

#include "collections/compare.h"
#include "collections/grow.h"

#define SLOTS (1u << 18) /* chunks, filled up to three quarters: 6 MiB */
#define ENDS_MAX (1u << 16)
#define FORKS_MAX (1u << 16)
#define ANCESTORS_MAX 64
#define OUR_IDS (1ull << 53) /* the library assigns only ids below (see span.c) */

struct end_chunk {
	uint32_t pid; /* 0: free */
	uint32_t pad;
	uint64_t first, begun;
};

struct fork {
	uint32_t child, parent;
};

struct end {
	uint32_t pid;
	uint64_t id;
};

struct span_ends {
	bool lost_count; /* a bound was exceeded */
	bool lost_forks; /* some are not kept */
	uint64_t seed;	 /* keeps slots unpredictable: programs choose ids */
	size_t chunk_count, end_count, fork_count, present_count, present_room;
	uint64_t before;
	struct end_chunk *chunks;
	struct end *ends;
	struct fork *forks;
	uint32_t *present; /* pids */
};

struct span_ends *span_ends_make(void)
{
	struct span_ends *ends = calloc(1, sizeof(*ends));

	if (!ends)
		return NULL;
	if (getrandom(&ends->seed, sizeof(ends->seed), GRND_NONBLOCK) < 0)
		ends->seed = (uintptr_t)ends;
	/* Untouched pages cost nothing. */
	ends->chunks = calloc(SLOTS, sizeof(*ends->chunks));
	ends->ends = calloc(ENDS_MAX, sizeof(*ends->ends));
	ends->forks = calloc(FORKS_MAX, sizeof(*ends->forks));
	if (ends->chunks && ends->ends && ends->forks)
		return ends;
	span_ends_free(ends);
	return NULL;
}

void span_ends_free(struct span_ends *ends)
{
	if (!ends)
		return;
	free(ends->chunks);
	free(ends->ends);
	free(ends->forks);
	free(ends->present);
	free(ends);
}

/* Returns the chunk of an id, or the free slot where it belongs. */
static struct end_chunk *find(const struct span_ends *ends, uint32_t pid, uint64_t id)
{
	uint64_t first = id & ~63ull;
	uint64_t hash = (first / 64 ^ (uint64_t)pid << 32 ^ ends->seed) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 31 ^ ends->seed) * 0xbf58476d1ce4e5b9ull;
	for (uint32_t slot = hash >> 40;; slot++) {
		struct end_chunk *chunk = &ends->chunks[slot % SLOTS];

		if (!chunk->pid || (chunk->pid == pid && chunk->first == first))
			return chunk;
	}
}

static bool has_begun(const struct span_ends *ends, uint32_t pid, uint64_t id)
{
	const struct end_chunk *chunk = find(ends, pid, id);

	return chunk->pid && chunk->begun >> (id & 63) & 1;
}

void span_ends_fork(struct span_ends *ends, uint32_t parent, uint32_t child)
{
	if (ends->fork_count == FORKS_MAX)
		ends->lost_forks = true;
	else
		ends->forks[ends->fork_count++] = (struct fork) { child, parent };
}

void span_ends_begin(struct span_ends *ends, uint32_t pid, uint64_t id)
{
	struct end_chunk *chunk;

	if (ends->lost_count || id >= OUR_IDS)
		return;
	chunk = find(ends, pid, id);
	if (!chunk->pid) {
		if (++ends->chunk_count > SLOTS / 4 * 3) {
			ends->lost_count = true;
			return;
		}
		*chunk = (struct end_chunk) { .pid = pid, .first = id & ~63ull };
	}
	chunk->begun |= 1ull << (id & 63);
}

void span_ends_end(struct span_ends *ends, uint32_t pid, uint64_t id)
{
	if (ends->lost_count || id >= OUR_IDS || has_begun(ends, pid, id))
		return;
	if (ends->end_count == ENDS_MAX)
		ends->lost_count = true;
	else
		ends->ends[ends->end_count++] = (struct end) { pid, id };
}

void span_ends_present(struct span_ends *ends, uint32_t pid)
{
	if (!GROW(ends->present, ends->present_room, ends->present_count + 1))
		ends->lost_count = true;
	else
		ends->present[ends->present_count++] = pid;
}

COMPARE_BY(compare_pids, uint32_t, COMPARE(*a, *b))

COMPARE_BY(compare_children, struct fork, COMPARE(a->child, b->child))

static bool was_present(const struct span_ends *ends, uint32_t pid)
{
	return ends->present_count &&
	       bsearch(&pid, ends->present, ends->present_count, sizeof(pid), compare_pids);
}

/* Returns whether the process, or one that it was forked from, may have begun the id; also true if
 * a pid was reused. Sets `before` if one of them ran before the recording. */
static bool may_have_begun(const struct span_ends *ends, uint32_t pid, uint64_t id, bool *before)
{
	const struct fork *forks = ends->forks, *end = forks + ends->fork_count, *fork;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		const struct fork wanted = { .child = pid };

		if (has_begun(ends, pid, id))
			return true;
		*before |= was_present(ends, pid);
		fork = forks ? bsearch(&wanted, forks, ends->fork_count, sizeof(*fork),
				       compare_children)
			     : NULL;
		if (!fork)
			return false;
		if ((fork > forks && fork[-1].child == pid) ||
		    (fork + 1 < end && fork[1].child == pid))
			return true;
		pid = fork->parent;
	}
	return true;
}

uint64_t span_ends_unbegun(struct span_ends *ends)
{
	uint64_t count = 0;

	if (ends->fork_count)
		qsort(ends->forks, ends->fork_count, sizeof(*ends->forks), compare_children);
	if (ends->present_count)
		qsort(ends->present, ends->present_count, sizeof(*ends->present), compare_pids);
	ends->before = 0;
	for (size_t i = 0; !ends->lost_count && i < ends->end_count; i++) {
		bool before = false;

		if (may_have_begun(ends, ends->ends[i].pid, ends->ends[i].id, &before))
			continue;
		ends->lost_count = ends->lost_forks; /* an ancestor may be unknown */
		if (before)
			ends->before++;
		else
			count++;
	}
	if (!ends->lost_count)
		return count;
	ends->before = 0;
	return 0;
}

bool span_ends_known(const struct span_ends *ends)
{
	return !ends->lost_count;
}

uint64_t span_ends_before(const struct span_ends *ends)
{
	return ends->before;
}
