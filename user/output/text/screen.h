/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first screen of the text report, for a reader in a hurry: what ran, what it waits for and
 * what to change, its timeline, and where time and bytes went.
 */
#pragma once

#include "analysis/report/report.h"
#include "output/base/style.h"

#define SCREEN_PLACES 5 /* rows */
#define SCREEN_THREAD_KINDS 5
#define SCREEN_LINES 3

/* Errors are kept in the sink. */
void screen_write(struct sink *out, const struct report *report, const struct style *style);
