/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "device_heat": latencies and sizes of requests over the run, for heat maps. */
#pragma once

#include "analysis/shared/analysis.h"

#define HEAT_STRETCHES 60 /* time intervals */

/* Rows of one device, kind of request and measure are consecutive, smallest class first. */
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

/* Columns within a cell of HEAT_OVER_TIME. */
enum heat_time_column { HEAT_TIME_START, HEAT_TIME_REQUESTS, HEAT_TIME_COLUMNS };

#define HEAT_LATENCY "latency_ns" /* values of HEAT_MEASURE, and the unit of ABOVE and UPTO */
#define HEAT_SIZE "size_bytes"
