/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Differences of clocks, by barriers. */
#include "analysis/run/barriers.h"

#include "base/number.h"
#include "base/units.h"

#define PASSED_MAX (1u << 18)
#define BARRIERS_MIN 3	   /* of each of two hosts */
#define SKEW_NS 1000000	   /* clocks that NTP keeps differ by less */
#define UNEQUAL UINT64_MAX /* not all processes passed as many barriers of a label */

/* A host's clock minus that of the first trace's host. */
struct skew {
	int64_t min_ns, max_ns;
	uint64_t barriers;
};

void barriers_begin(void *state, const struct job *job, struct arena *arena)
{
	struct barriers *barriers = state;

	barriers->job = job;
	map_init_in(&barriers->reached, arena, 2, 1);
	map_init_in(&barriers->passed, arena, 3, 2);
}

static bool is_barrier(const struct label *label)
{
	return label_has(label, "barrier") || label_has(label, "Barrier") ||
	       label_has(label, "BARRIER");
}

int barriers_span_ended(void *state, uint32_t slot, const struct event *event)
{
	struct barriers *barriers = state;
	const struct job *job = barriers->job;
	const struct span *span = &job->spans.slots[slot];
	const uint32_t trace = job->processes.processes[span->process].trace;
	uint64_t key[3] = { span->label, span->process, job->traces[trace].host };
	uint64_t *count, *times;
	bool added;

	if (!job->many_hosts || span->unfinished || barriers->passed.count >= PASSED_MAX ||
	    !is_barrier(&job->labels.labels[span->label]))
		return 0;
	count = map_add(&barriers->reached, key, &added);
	if (!count)
		return 0;
	key[1] = (*count)++;
	times = map_add(&barriers->passed, key, &added);
	if (!times)
		return 0;
	times[0] = added ? span->begin_ns : number_max(times[0], span->begin_ns);
	times[1] = added ? span->end_ns : number_min(times[1], span->end_ns);
	return 0;
}

/* Sets for each label how many barriers every process that has any passed, or UNEQUAL: then some
 * are not of all processes, or were not recorded. */
static void count_common(const struct barriers *barriers, struct map *counts)
{
	const uint64_t *key;
	uint64_t *count;
	size_t at = 0;

	while (map_next(&barriers->reached, &at, &key, &count)) {
		bool added;
		uint64_t *common = map_add(counts, key, &added);

		if (common)
			*common = added || *common == *count ? *count : UNEQUAL;
	}
}

/* Compares the barriers of a label on two hosts. */
static struct skew compare(const struct barriers *barriers, uint64_t label, uint64_t count,
			   uint32_t host)
{
	struct skew skew = { .min_ns = INT64_MIN, .max_ns = INT64_MAX };

	for (uint64_t n = 0; n < count; n++) {
		const uint64_t keys[2][3] = { { label, n, barriers->job->traces[0].host },
					      { label, n, host } };
		const uint64_t *first = map_find(&barriers->passed, keys[0]);
		const uint64_t *other = map_find(&barriers->passed, keys[1]);
		int64_t min_ns, max_ns;

		if (!first || !other)
			continue;
		min_ns = other[0] - first[1];
		max_ns = other[1] - first[0];
		skew.min_ns = min_ns > skew.min_ns ? min_ns : skew.min_ns;
		skew.max_ns = max_ns < skew.max_ns ? max_ns : skew.max_ns;
		skew.barriers++;
	}
	return skew;
}

/* Returns how much the clocks differ at least; 0: not certain. Bounds that contradict each other
 * are of other barriers, or of clocks that were set. */
static uint64_t certain(const struct skew *skew)
{
	if (skew->barriers < BARRIERS_MIN || skew->min_ns > skew->max_ns)
		return 0;
	if (skew->min_ns > 0)
		return skew->min_ns;
	return skew->max_ns < 0 ? -skew->max_ns : 0;
}

static void say(struct strbuf *text, const struct job *job, uint32_t host, const struct skew *skew)
{
	const uint64_t half_ns = ((uint64_t)skew->max_ns - (uint64_t)skew->min_ns + 1) / 2;
	const int64_t middle_ns = skew->min_ns + (int64_t)half_ns;
	char middle[UNITS_TEXT], half[UNITS_TEXT], count[UNITS_TEXT];

	units_ns(middle, middle_ns < 0 ? -(uint64_t)middle_ns : (uint64_t)middle_ns);
	strbuf_add(text,
		   "the clock of %s is %s %s that of %s, ± %s, judging by %s barriers, which no "
		   "process leaves before all have reached them; compare times of these hosts with "
		   "that error",
		   job->traces[host].header->host, middle, middle_ns < 0 ? "behind" : "ahead of",
		   job->traces[job->traces[0].host].header->host, units_ns(half, half_ns),
		   units_count(count, skew->barriers));
}

void barriers_say(struct strbuf *text, const struct results *results)
{
	const struct barriers *barriers = results_state(results, &analysis_caveats);
	const struct job *job = barriers->job;
	struct skew worst = { .barriers = 0 };
	uint32_t worst_host = 0;
	const uint64_t *key;
	struct map counts;
	uint64_t *times;
	size_t at = 0;

	map_init(&counts, 1, 1);
	count_common(barriers, &counts);
	while (map_next(&barriers->passed, &at, &key, &times)) {
		const uint64_t *count = key[1] ? NULL : map_find(&counts, key);
		struct skew skew;

		if (!count || *count == UNEQUAL || key[2] == job->traces[0].host)
			continue;
		skew = compare(barriers, key[0], *count, key[2]);
		if (certain(&skew) > certain(&worst)) {
			worst = skew;
			worst_host = key[2];
		}
	}
	map_free(&counts);
	if (certain(&worst) >= SKEW_NS)
		say(text, job, worst_host, &worst);
}
