/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses and checks the options of a flight recorder. */
#include "command/recording/recording_flight.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/session/buffer_sizes.h"

#define NOT_GIVEN UINT64_MAX
#define EVERY_NS (60 * 1000000000ull)

#define FIELD(name) offsetof(struct flight_given, name)

static const struct option_row rows[] = {
	{ 0, "flight", "SIZE", OPTION_BYTES, FIELD(bytes),
	  "Keep the most recent events in SIZE of memory, such as 256M (at least 1M), and write "
	  "them as a trace on SIGUSR2 or on a trigger below.",
	  FLIGHT_BYTES_MIN, UINT64_MAX },
	{ 0, "flight-slower", "TIME", OPTION_TIME, FIELD(slower_ns),
	  "With --flight: trigger when a call, asynchronous operation or page fault takes at least "
	  "TIME, such as 500ms, even before it ends." },
	{ 0, "flight-when", "WHAT=LIMIT:TIME", OPTION_TEXTS, FIELD(when),
	  "With --flight: trigger when a process, a cgroup, or all together exceed a limit for "
	  "TIME: major-faults=1000:5s (per second), stall=80%:10s (of the time, summed over "
	  "threads)." },
	{ 0, "flight-every", "TIME", OPTION_TIME, FIELD(every_ns),
	  "With --flight: at most one trace per TIME, whatever the trigger. Default: 1m." },
	{ 0, "flight-keep", "N|SIZE", OPTION_STRING, FIELD(keep),
	  "With --flight: keep the last N traces, or as many as fit into SIZE, and remove older "
	  "ones, those of earlier runs included. Default: keep all." },
};

const struct option_rows flight_rows = OPTION_ROWS(rows);

/* Rejects options that have no effect without the recorder. */
static int check_without(const struct flight_given *given)
{
	const char *option = given->slower_ns != NOT_GIVEN  ? "--flight-slower"
			     : given->every_ns != NOT_GIVEN ? "--flight-every"
			     : given->keep		    ? "--flight-keep"
			     : given->when.count	    ? "--flight-when"
							    : NULL;

	if (!option)
		return 0;
	log_error("%s requires --flight SIZE", option);
	return -EINVAL;
}

int recording_flight_choose(const struct flight_given *given, uint64_t interval_ns,
			    struct session_options *session, struct flight_options *options)
{
	int err = 0;

	if (given->bytes == NOT_GIVEN)
		return check_without(given);
	if (!given->slower_ns) {
		log_error("--flight-slower 0: time must be positive");
		return -EINVAL;
	}
	session->flight_bytes = options->bytes = given->bytes;
	session->in_flight = true;
	session->flight_slower_ns = given->slower_ns == NOT_GIVEN ? 0 : given->slower_ns;
	options->slower_ns = session->flight_slower_ns;
	options->every_ns = given->every_ns == NOT_GIVEN ? EVERY_NS : given->every_ns;
	options->keep = (struct flight_keep) { UINT64_MAX, UINT64_MAX };
	if (given->keep)
		err = flight_keep_parse("--flight-keep", given->keep, &options->keep);
	options->trigger_count = given->when.count;
	for (size_t i = 0; i < given->when.count && !err; i++)
		err = flight_trigger_parse("--flight-when", given->when.items[i], interval_ns,
					   &options->triggers[i]);
	return err;
}

void recording_flight_say_ready(void)
{
	int pid = getpid();

	log_info("flight recorder: process %d; 'kill -USR2 %d' writes a trace of the last seconds",
		 pid, pid);
}

void recording_flight_say_none(void)
{
	log_warning("SIGUSR2 ignored: it requests a flight-recorder trace, which requires --flight "
		    "SIZE");
}
