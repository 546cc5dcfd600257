/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums over the current interval, and how long each process or job has exceeded each limit. */
#include "capture/flight/flight_triggers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/flight/flight_table.h"
#include "base/log.h"
#include "base/units.h"

#define SECOND_NS 1000000000.0
#define TRIGGER_DURATION_MAX_NS (86400ull * 1000000000ull)

static const struct {
	const char *name;
	bool percent;
	double max; /* largest sensible limit */
} measures[FLIGHT_MEASURES] = {
	[FLIGHT_MAJOR_FAULTS] = { "major-faults", false, 1e9 },
	[FLIGHT_STALL] = { "stall", true, 1e4 }, /* a hundred threads at 100% */
};

/* What triggers measure, for one process, one cgroup or the whole recording. */
struct load {
	uint64_t sums[FLIGHT_MEASURES];		/* of this interval */
	uint64_t since_ns[FLIGHT_TRIGGERS_MAX]; /* start of the time above the limit; 0: below */
};

struct flight_triggers {
	struct flight_trigger triggers[FLIGHT_TRIGGERS_MAX];
	size_t count;
	struct flight_table who; /* of struct load */
	uint64_t start_ns;	 /* start of the interval */
};

/* --- parsing --- */

static int measure_of(const char *text, size_t length)
{
	for (int i = 0; i < FLIGHT_MEASURES; i++)
		if (strlen(measures[i].name) == length && !memcmp(measures[i].name, text, length))
			return i;
	return -1;
}

int flight_trigger_parse(const char *option, const char *text, uint64_t min_ns,
			 struct flight_trigger *trigger)
{
	size_t length = strcspn(text, "=");
	int measure = measure_of(text, length);
	char *end, shortest[UNITS_TEXT];
	double limit;

	if (measure < 0 || !text[length]) {
		log_error("%s %s: must be major-faults=RATE:TIME or stall=PERCENT%%:TIME", option,
			  text);
		return -EINVAL;
	}
	limit = strtod(text + length + 1, &end);
	if (end == text + length + 1 || !(limit > 0) || !isfinite(limit) ||
	    limit > measures[measure].max) {
		log_error("%s %s: the limit must be a number above 0 and at most %.0f%s", option,
			  text, measures[measure].max,
			  measures[measure].percent ? ", in percent" : ", per second");
		return -EINVAL;
	}
	if (measures[measure].percent) {
		limit /= 100;
		end += *end == '%';
	}
	if (*end != ':' || !units_read_time(end + 1, &trigger->for_ns) || !trigger->for_ns ||
	    trigger->for_ns > TRIGGER_DURATION_MAX_NS) {
		log_error("%s %s: the limit must be followed by a duration (:5 for 5 seconds), at "
			  "most a day",
			  option, text);
		return -EINVAL;
	}
	if (trigger->for_ns < min_ns) {
		log_error("%s %s: the duration must be at least %s, the sampling interval", option,
			  text, units_ns(shortest, min_ns));
		return -EINVAL;
	}
	trigger->measure = measure;
	trigger->limit = limit;
	return 0;
}

/* --- watching --- */

struct flight_triggers *flight_triggers_open(const struct flight_trigger *triggers, size_t count)
{
	struct flight_triggers *made = calloc(1, sizeof(*made));

	if (!made || count > FLIGHT_TRIGGERS_MAX) {
		free(made);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		made->triggers[i] = triggers[i];
	made->count = count;
	return made;
}

void flight_triggers_close(struct flight_triggers *triggers)
{
	if (!triggers)
		return;
	flight_table_free(&triggers->who);
	free(triggers);
}

void flight_triggers_add(struct flight_triggers *triggers, uint64_t who, uint64_t major_faults,
			 uint64_t stall_ns)
{
	struct load *load = flight_table_find(&triggers->who, who, 0);

	if (!triggers->count)
		return;
	if (!load) {
		load = calloc(1, sizeof(*load));
		if (!load || flight_table_put(&triggers->who, who, 0, load))
			return;
	}
	load->sums[FLIGHT_MAJOR_FAULTS] += major_faults;
	load->sums[FLIGHT_STALL] += stall_ns;
}

static double rate_of(const struct load *load, enum flight_measure measure, uint64_t ns)
{
	/* Stalls: ns per ns; others: per second. */
	return load->sums[measure] / (double)ns * (measure == FLIGHT_STALL ? 1 : SECOND_NS);
}

static void write_reason(const struct flight_trigger *trigger, double rate, char *reason)
{
	char time[UNITS_TEXT], share[UNITS_TEXT];

	units_ns(time, trigger->for_ns);
	if (measures[trigger->measure].percent)
		snprintf(reason, FLIGHT_REASON_BYTES, "%s of %s for %s",
			 measures[trigger->measure].name, units_share(share, rate), time);
	else
		snprintf(reason, FLIGHT_REASON_BYTES, "%.0f %s a second for %s", rate,
			 measures[trigger->measure].name, time);
}

/* Whether a limit has been exceeded for long enough, including this interval. */
static bool is_exceeded(struct flight_triggers *triggers, struct load *load, uint64_t now_ns,
			char *reason)
{
	bool over = false;

	for (size_t i = 0; i < triggers->count; i++) {
		const struct flight_trigger *trigger = &triggers->triggers[i];
		double rate = rate_of(load, trigger->measure, now_ns - triggers->start_ns);

		if (rate < trigger->limit) {
			load->since_ns[i] = 0;
			continue;
		}
		if (!load->since_ns[i])
			load->since_ns[i] = triggers->start_ns;
		if (over || now_ns - load->since_ns[i] < trigger->for_ns)
			continue;
		write_reason(trigger, rate, reason);
		load->since_ns[i] = 0;
		over = true;
	}
	return over;
}

static bool is_idle(const struct flight_triggers *triggers, const struct load *load)
{
	for (size_t i = 0; i < triggers->count; i++)
		if (load->since_ns[i])
			return false;
	return true;
}

/* Removes entries below all limits: otherwise the table would keep growing. */
static void drop_idle(struct flight_triggers *triggers)
{
	const struct flight_item *item;
	size_t at = 0;

	while ((item = flight_table_next(&triggers->who, &at)))
		if (is_idle(triggers, item->value)) {
			flight_table_remove(&triggers->who, item->key, item->key2);
			at--; /* a later one may have moved up */
		}
}

bool flight_triggers_end(struct flight_triggers *triggers, uint64_t now_ns, uint64_t *who,
			 char reason[FLIGHT_REASON_BYTES])
{
	const struct flight_item *item;
	bool over = false;
	size_t at = 0;

	if (!triggers->start_ns || now_ns <= triggers->start_ns) {
		triggers->start_ns = now_ns;
		flight_table_free(&triggers->who);
		return false;
	}
	while ((item = flight_table_next(&triggers->who, &at))) {
		struct load *load = item->value;
		char why[FLIGHT_REASON_BYTES];

		if (is_exceeded(triggers, load, now_ns, why) && (!over || item->key < *who)) {
			*who = item->key;
			strcpy(reason, why);
			over = true;
		}
		memset(load->sums, 0, sizeof(load->sums));
	}
	drop_idle(triggers);
	triggers->start_ns = now_ns;
	return over;
}
