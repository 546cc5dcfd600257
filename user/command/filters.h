/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The options that say which events are wanted, the same for all commands that read traces.
 */
#ifndef FAULTLINE_FILTERS_H
#define FAULTLINE_FILTERS_H

#include "analysis/filter.h"
#include "command/options.h"

/* Rows of an option table, whose target has a struct filter at the offset `at`. */
#define FILTER_OPTION(at, member) (at) + offsetof(struct filter, member)
#define FILTER_OPTIONS(at)                                                                           \
	{ 0,                                                                                         \
	  "from",                                                                                    \
	  "TIME",                                                                                    \
	  OPTION_TIME,                                                                               \
	  FILTER_OPTION(at, from_ns),                                                                \
	  "Only what overlaps the time from here, since the start of the run (1.5, 250ms)." },       \
		{ 0, "until", "TIME", OPTION_TIME, FILTER_OPTION(at, until_ns), "... up to here." }, \
		{ 0,                                                                                 \
		  "pid",                                                                             \
		  "PID",                                                                             \
		  OPTION_COUNT,                                                                      \
		  FILTER_OPTION(at, pid),                                                            \
		  "Only what this process did." },                                                   \
		{ 0,                                                                                 \
		  "rank",                                                                            \
		  "RANK",                                                                            \
		  OPTION_COUNT,                                                                      \
		  FILTER_OPTION(at, rank),                                                           \
		  "Only what this rank did." },                                                      \
		{ 0,                                                                                 \
		  "file",                                                                            \
		  "GLOB",                                                                            \
		  OPTION_STRING,                                                                     \
		  FILTER_OPTION(at, file),                                                           \
		  "Only operations on files whose path matches; * matches / as well." },             \
		{ 0,                                                                                 \
		  "op",                                                                              \
		  "LIST",                                                                            \
		  OPTION_STRING,                                                                     \
		  FILTER_OPTION(at, op),                                                             \
		  "Only operations of these names or patterns, such as 'pread64,fault' or "          \
		  "'*sync*'." },                                                                     \
		{ 0,                                                                                 \
		  "door",                                                                            \
		  "DOOR",                                                                            \
		  OPTION_STRING,                                                                     \
		  FILTER_OPTION(at, door),                                                           \
		  "Only bytes that went this way: syscall, direct, mmap or splice." },               \
		{ 0,                                                                                 \
		  "span",                                                                            \
		  "NAME",                                                                            \
		  OPTION_STRING,                                                                     \
		  FILTER_OPTION(at, span),                                                           \
		  "Only operations in a span of this name, or in one within." },                     \
	{                                                                                            \
		0, "min-duration", "TIME", OPTION_TIME, FILTER_OPTION(at, min_duration_ns),          \
			"Only operations that took as long, such as 10us."                           \
	}

/* Returns 0, or an exit status after a line on stderr. */
int filters_check(const struct filter *filter);

#endif
