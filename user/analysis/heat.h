/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "device_heat": how long requests took and how large they were, over the course of the
 * run, for those who draw it.
 */
#ifndef FAULTLINE_HEAT_H
#define FAULTLINE_HEAT_H

#include "analysis/analysis.h"

#define HEAT_STRETCHES 60 /* of time */

/* Rows of one device, kind of request and measure follow each other, the smallest first. */
enum heat_column {
	HEAT_NAME,
	HEAT_DEV,
	HEAT_OP,
	HEAT_MEASURE,
	HEAT_ABOVE,
	HEAT_UPTO,
	HEAT_REQUESTS,
	HEAT_STRETCH,
	HEAT_OVER_TIME,
	HEAT_COLUMNS,
};

/* ... of a cell of HEAT_OVER_TIME. */
enum heat_time_column { HEAT_TIME_START, HEAT_TIME_REQUESTS, HEAT_TIME_COLUMNS };

#define HEAT_LATENCY "latency_ns" /* values of HEAT_MEASURE; ABOVE and UPTO are in this unit */
#define HEAT_SIZE "size_bytes"

#endif
