/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options that select events. */
#include "command/common/filters.h"

#include "command/common/command.h"
#include "base/log.h"

#define FIELD(name) offsetof(struct filter, name)

static const struct option_row rows[] = {
	{ 0, "from", "TIME", OPTION_TIME, FIELD(from_ns),
	  "Ignore events that ended before TIME, counted from the start of the run (1.5, 250ms)." },
	{ 0, "until", "TIME", OPTION_TIME, FIELD(until_ns),
	  "Ignore events that began after TIME." },
	{ 0, "pid", "PID", OPTION_COUNT, FIELD(pid), "Only this process." },
	{ 0, "rank", "RANK", OPTION_COUNT, FIELD(rank), "Only this rank." },
	{ 0, "file", "GLOB", OPTION_STRING, FIELD(file),
	  "Only operations on files whose path matches; * also matches /." },
	{ 0, "op", "LIST", OPTION_STRING, FIELD(op),
	  "Only operations with these names or patterns, such as 'pread64,fault' or '*sync*'." },
	{ 0, "method", "METHOD", OPTION_STRING, FIELD(method),
	  "Only bytes moved by this method: syscall, direct, mmap, splice, io_uring, libaio or "
	  "kernel." },
	{ 0, "span", "NAME", OPTION_STRING, FIELD(span),
	  "Only operations and waits inside a span of this name, nested spans included." },
	{ 0, "min-duration", "TIME", OPTION_TIME, FIELD(min_duration_ns),
	  "Only operations and waits that took at least TIME, such as 10us." },
	{ 0, "line", "GLOB", OPTION_STRING, FIELD(line),
	  "Only samples whose stacks contain a matching line, such as 'loader.py:42' or "
	  "'/job/*'." },
	{ 0, "function", "GLOB", OPTION_STRING, FIELD(function),
	  "The same for functions, such as 'TokenDataset.*'." },
};

const struct option_rows filter_rows = OPTION_ROWS(rows);

int filters_check(const struct filter *filter)
{
	if (filter->until_ns > filter->from_ns)
		return 0;
	log_error("--until must be later than --from");
	return EXIT_USAGE;
}
