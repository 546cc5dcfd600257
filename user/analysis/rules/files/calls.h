/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about calls that match a pattern of I/O: see io_patterns.h. */
#pragma once

#include "analysis/finding/finding.h"

struct calls {
	struct table_text path, file;
	uint64_t files, other_files; /* other_files: without that one; TABLE_NO_UINT: none */
	uint64_t count, bytes, bytes_each, time_ns, each_ns;
};

/* For structs that begin with a struct calls. */
#define CALLS_COLUMNS                                                                              \
	FACT(calls, path, "path", NONE, "file with the most time; null: unknown"),                 \
		FACT(calls, file, "file", NONE, "its name"),                                       \
		FACT(calls, files, "files", COUNT,                                                 \
		     "files with such calls; null: missing from a summary, or mode profile ran "   \
		     "out of slots"),                                                              \
		FACT(calls, other_files, "other files", COUNT,                                     \
		     "other files with such calls; null: none, or unknown"),                       \
		FACT(calls, count, "count", COUNT, "calls"),                                       \
		FACT(calls, bytes, "bytes", BYTES, "bytes moved"),                                 \
		FACT(calls, bytes_each, "each", BYTES, "average bytes per call"),                  \
		COLUMN(calls, time_ns, "time", NS, UNION,                                          \
		       "time with at least one call in flight"),                                   \
		FACT(calls, each_ns, "each", NS, "average time per call")

extern const struct finding_evidence calls_evidence;

/* Returns what the calls of the rule's pattern moved; *cost_ns receives their time that compute
 * does not overlap. */
struct calls calls_of(const struct findings *findings, const struct finding_rule *rule,
		      uint64_t *cost_ns);
/* Returns whether there are enough calls, by the first of the rule's thresholds. */
bool calls_are_enough(const struct findings *findings, const struct finding_rule *rule,
		      const struct calls *calls, uint64_t cost_ns);
/* A `find` that adds the finding if there are enough calls. */
int calls_find(struct findings *findings, const struct finding_rule *rule);
