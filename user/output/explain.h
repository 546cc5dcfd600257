/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a finding means, in words: its rule, what to do about it, its thresholds; if `verbose`,
 * where these come from, and its evidence.
 */
#ifndef FAULTLINE_EXPLAIN_H
#define FAULTLINE_EXPLAIN_H

#include "analysis/finding/finding.h"
#include "output/sink.h"

/* A line for each that there is: what it is called, and what it says. */
void explain_list(struct sink *out);
void explain_finding(struct sink *out, const struct finding_rule *rule, size_t width, bool verbose);

#endif
