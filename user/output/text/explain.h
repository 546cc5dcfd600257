/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Explains a finding: its rule, advice and thresholds; if `verbose`, also the sources of the
 * thresholds, and its evidence.
 */
#pragma once

#include "analysis/finding/finding.h"
#include "output/base/sink.h"

/* Lists all findings, one per line, with id and title. */
void explain_list(struct sink *out);
void explain_finding(struct sink *out, const struct finding_rule *rule, size_t width, bool verbose);
