/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Block devices, as far as the run used them, for those who conclude something from it.
 */
#ifndef FAULTLINE_DEVICES_H
#define FAULTLINE_DEVICES_H

#include "analysis/analysis.h"
#include "analysis/histogram.h"

enum device_use { DEVICE_READS, DEVICE_WRITES, DEVICE_DISCARDS, DEVICE_FLUSHES, DEVICE_USES };

/* Requests with bios of the run in them, or all that the device had. */
struct device_sum {
	uint64_t requests, bytes, merges, requeues, errors;
	uint64_t time_ns; /* summed up over requests, from when they were made to their ends */
	uint64_t queue_ns,
		service_ns; /* of it, before the driver had them and after; of the run's */
};

/* How requests are spread over the run; in classes of powers of two. */
#define HEAT_BINS 64
#define HEAT_CLASSES 40
enum heat { HEAT_READ_LATENCY, HEAT_WRITE_LATENCY, HEAT_READ_SIZE, HEAT_WRITE_SIZE, HEATS };

struct device {
	uint32_t host, dev;
	struct trace_string name;
	struct device_sum own[DEVICE_USES], all[DEVICE_USES];
	bool all_known;
	struct histogram *latency[DEVICE_USES], *service[DEVICE_USES]; /* NULL: no requests */
	uint32_t heat[HEATS][HEAT_CLASSES][HEAT_BINS];
};

struct devices {
	const struct job *job;
	struct device **all;
	size_t count, room;
	uint64_t beyond; /* requests of devices that there was no room for */
	uint64_t bin_ns;
};

/* NULL where the block layer was not recorded. */
const struct devices *devices_view(const struct measured *measured);

#endif
