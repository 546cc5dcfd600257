/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How bytes came and went, for the table "methods" and for those who draw conclusions from it.
 */
#ifndef FAULTLINE_METHODS_H
#define FAULTLINE_METHODS_H

#include "analysis/measured.h"
#include "analysis/model/tally.h"

#define METHODS (METHOD_UNKNOWN + 1)

enum method_side { SIDE_READ, SIDE_WRITE, SIDES };

/* Lost events included, but for merged time. Of several reports (measured->job is NULL) no more
 * than counts, bytes and times. */
struct tally methods_tally(const struct measured *measured, enum io_method method,
			   enum method_side side);

#endif
