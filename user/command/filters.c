/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options that select events. */
#include "command/filters.h"

#include "command/command.h"
#include "log.h"

#define FIELD(name) offsetof(struct filter, name)

static const struct option_row rows[] = {
	{ 0, "from", "TIME", OPTION_TIME, FIELD(from_ns),
	  "Only what overlaps the time from here, since the start of the run (1.5, 250ms)." },
	{ 0, "until", "TIME", OPTION_TIME, FIELD(until_ns), "... up to here." },
	{ 0, "pid", "PID", OPTION_COUNT, FIELD(pid), "Only what this process did." },
	{ 0, "rank", "RANK", OPTION_COUNT, FIELD(rank), "Only what this rank did." },
	{ 0, "file", "GLOB", OPTION_STRING, FIELD(file),
	  "Only operations on files whose path matches; * matches / as well." },
	{ 0, "op", "LIST", OPTION_STRING, FIELD(op),
	  "Only operations of these names or patterns, such as 'pread64,fault' or '*sync*'." },
	{ 0, "method", "METHOD", OPTION_STRING, FIELD(method),
	  "Only bytes moved by this method: syscall, direct, mmap, splice, io_uring, libaio or "
	  "kernel." },
	{ 0, "span", "NAME", OPTION_STRING, FIELD(span),
	  "Only operations in a span of this name, or in one within." },
	{ 0, "min-duration", "TIME", OPTION_TIME, FIELD(min_duration_ns),
	  "Only operations that took as long, such as 10us." },
};

const struct option_rows filter_rows = OPTION_ROWS(rows);

int filters_check(const struct filter *filter)
{
	if (filter->until_ns > filter->from_ns)
		return 0;
	log_error("--until is not after --from: there is no time between them");
	return EXIT_USAGE;
}
