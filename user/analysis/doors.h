/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How bytes came and went, for the table "doors" and for those who draw conclusions from it.
 */
#ifndef FAULTLINE_DOORS_H
#define FAULTLINE_DOORS_H

#include "analysis/measured.h"
#include "analysis/model/tally.h"

#define DOORS (DOOR_UNKNOWN + 1)

enum door_side { SIDE_READ, SIDE_WRITE, SIDES };

/* Lost events included, but for merged time. Of several reports (measured->job is NULL) no more
 * than counts, bytes and times. */
struct tally doors_tally(const struct measured *measured, enum io_door door, enum door_side side);

#endif
