/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What devices did, for the table "devices" and for those who draw conclusions from it. Knows
 * nothing of who waited for it.
 */
#ifndef FAULTLINE_DEVICES_H
#define FAULTLINE_DEVICES_H

#include "analysis/analysis.h"

#define DEVICES_MOST 256

enum device_use { DEVICE_READS, DEVICE_WRITES, DEVICE_DISCARDS, DEVICE_FLUSHES, DEVICE_USES };

/* As operations call them, behind "request_". */
extern const char *const device_use_names[DEVICE_USES];

/* What a request or a part of one does, or DEVICE_USES. */
enum device_use device_use_of(const struct job *job, const struct event *event);

#endif
