/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* I/O by access method, for the table "methods" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/events/method_side.h"
#include "analysis/events/tally.h"

#define METHODS (METHOD_UNKNOWN + 1)

/* Includes lost events, except in merged time. For merged reports (results->job is NULL) only
 * counts, bytes and times are set. */
struct tally methods_tally(const struct results *results, enum io_method method,
			   enum method_side side);
