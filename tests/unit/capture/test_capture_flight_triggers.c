// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Triggers of the flight recorder. */
#include "unit_test.h"

#include "capture/flight/flight_triggers.h"
#include "base/log.h"

#define SECOND 1000000000ull

TEST(test_trigger_words)
{
	static const struct {
		const char *text;
		int status;
		double limit;
		uint64_t for_ns;
	} cases[] = {
		{ "major-faults=1000:5", 0, 1000, 5 * SECOND },
		{ "major-faults=0.5:2m", 0, 0.5, 120 * SECOND },
		{ "stall=80%:10s", 0, 0.8, 10 * SECOND },
		{ "stall=80:1500ms", 0, 0.8, 3 * SECOND / 2 },
		{ "stall=80%", -1, 0, 0 },
		{ "stall=80%:", -1, 0, 0 },
		{ "stall=80%:0", -1, 0, 0 },
		{ "stall=80%:-3", -1, 0, 0 },
		{ "stall=80%:5x", -1, 0, 0 },
		{ "stall=80%:10ms", -1, 0, 0 },
		{ "stall=80%:1e30h", -1, 0, 0 },
		{ "stall=80%:25h", -1, 0, 0 },
		{ "stall=-1%:5", -1, 0, 0 },
		{ "stall=nan:5", -1, 0, 0 },
		{ "stall=inf:5", -1, 0, 0 },
		{ "stall=:5", -1, 0, 0 },
		{ "stall", -1, 0, 0 },
		{ "", -1, 0, 0 },
		{ "=", -1, 0, 0 },
		{ "stal=5:5", -1, 0, 0 },
		{ "major-faults=5%:5", -1, 0, 0 },
	};

	log_set_level((enum log_level) - 1); /* not those that are refused */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct flight_trigger trigger;
		int status = flight_trigger_parse("--flight-when", cases[i].text, SECOND, &trigger);

		assert_int_equal(status != 0, cases[i].status != 0);
		if (status)
			continue;
		assert_true(trigger.limit > cases[i].limit * 0.999 &&
			    trigger.limit < cases[i].limit * 1.001);
		assert_int_equal(trigger.for_ns, cases[i].for_ns);
	}
}

TEST(test_triggers)
{
	const struct flight_trigger given[] = {
		{ FLIGHT_MAJOR_FAULTS, 100, 3 * SECOND },
		{ FLIGHT_STALL, 0.5, 2 * SECOND },
	};
	struct flight_triggers *triggers = flight_triggers_open(given, 2);
	char reason[FLIGHT_REASON_BYTES] = "";
	uint64_t now = SECOND, who = 0;

	assert_non_null(triggers);
	assert_false(flight_triggers_end(triggers, now, &who, reason)); /* begins */
	for (int i = 1; i <= 3; i++) {
		flight_triggers_add(triggers, 7, 60, 0);
		flight_triggers_add(triggers, 7, 60, 0);
		flight_triggers_add(triggers, 8, 99, SECOND / 4);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 7);
	assert_string_equal(reason, "120 major-faults a second for 3.0 s");
	/* A pause, and the condition starts over. */
	for (int i = 0; i < 5; i++) {
		flight_triggers_add(triggers, 8, 0, i == 1 ? 0 : SECOND);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 8);
	assert_string_equal(reason, "stall of 100.0% for 2.0 s");
	/* The lowest threshold wins. */
	for (int i = 1; i <= 3; i++) {
		for (uint64_t each = 40; each >= 20; each--)
			flight_triggers_add(triggers, each, 100 + each, 0);
		flight_triggers_add(triggers, UINT64_MAX, 10000, 0);
		now += SECOND;
		assert_int_equal(flight_triggers_end(triggers, now, &who, reason), i == 3);
	}
	assert_int_equal(who, 20);
	assert_string_equal(reason, "120 major-faults a second for 3.0 s");
	flight_triggers_close(triggers);
}
