/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "reopens": files that a process opens again and again, and how long it takes each time
 * until it reads something that it did not read after the opens before, such as the header, the
 * footer or the directory of an archive. That time has what parsing takes in it, too.
 */
#ifndef FAULTLINE_REOPENS_H
#define FAULTLINE_REOPENS_H

#include "analysis/measured.h"

/* Time with a thread between the open of a data file and the first new read; 0 for none. */
uint64_t reopens_time_ns(const struct measured *measured);

#endif
