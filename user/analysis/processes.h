/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each process did, for the table "processes" and for those who draw conclusions from it.
 */
#ifndef FAULTLINE_PROCESSES_H
#define FAULTLINE_PROCESSES_H

#include "analysis/analysis.h"
#include "analysis/measure.h"

/* By number in the job's table; `measure` is an enum io_class or MEASURE_IO. */
const struct tally *processes_tally(const struct measured *measured, uint32_t process,
				    unsigned int measure);

#endif
