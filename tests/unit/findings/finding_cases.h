/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A list of cases, which each adds itself to. Include after cmocka.h. */
#pragma once

#include "findings_made.h"

/* A trace that has a finding, or, if `sound`, a similar one that does not. Defines the function
 * that makes it, and adds it to the cases. */
struct finding_case {
	const char *id;
	void (*make)(struct made_trace *made, bool sound);
};

static struct finding_case cases[256];
static size_t case_count;

#define FINDING_CASE(finding, name)                                                                \
	static void name(struct made_trace *made, bool sound);                                     \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		cases[case_count++] = (struct finding_case) { finding, name };                     \
	}                                                                                          \
	static void name(struct made_trace *made, bool sound)
