/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "reopens": files that a process opens repeatedly, and how long each open takes until the
 * first read of something that was not read after earlier opens: the time for e.g. the header, the
 * footer or the directory of an archive. Includes the time to parse them.
 */
#pragma once

#include "analysis/shared/results.h"

/* Returns the time with at least one thread between opening a data file and its first new read; 0
 * if there is none. */
uint64_t reopens_time_ns(const struct results *results);

/* Estimates the same for all opens but one by each process: those that were learned from cost as
 * much as the others. */
uint64_t reopens_estimated_ns(const struct results *results);

/* Returns the share of these opens after which something new was read; 1 if it is unknown. */
double reopens_fresh_share(const struct results *results);
