/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of block devices, for timelines. They are loaded first, since a device's row may follow its
 * requests.
 */
#pragma once

#include "analysis/job/job.h"

#define DEVICE_NAMES_MAX 256
#define DEVICE_TITLE_BYTES 192

struct device_name {
	uint64_t device; /* see event_device */
	uint32_t host;
	struct trace_string name; /* from the latest row */
};

struct device_names {
	struct device_name all[DEVICE_NAMES_MAX];
	size_t count;
};

/* Reads the device rows of all traces; devices beyond DEVICE_NAMES_MAX have no name. Returns 0 or
 * an error of walk_run. */
int device_names_load(struct device_names *names, struct job *job, struct trace_error *error);
/* Writes "device sda (8:0)", or "device 8:0" if it has no name. */
void device_names_title(const struct device_names *names, uint32_t host, uint64_t device,
			char title[DEVICE_TITLE_BYTES]);
