/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sums by device, which devices.c collects and devices_table.c turns into the table "devices". */
#pragma once

#include "analysis/devices/device_unseen.h"
#include "analysis/devices/devices.h"
#include "analysis/devices/round_trips.h"
#include "analysis/events/device_list.h"
#include "collections/histogram.h"
#include "collections/map.h"

/* Requests that contain bios of the run, or all requests of the device. */
struct device_sum {
	uint64_t requests, bytes, merges, requeues, errors;
	uint64_t time_ns; /* summed over requests, from creation to completion */
	/* For the run's requests: that time split before and after the driver received them, where
	 * the latest created request ends, and how many began where the previous one ended, or
	 * elsewhere. */
	uint64_t queue_ns, service_ns;
	uint64_t end_sector;
	uint64_t sequential, random;
	uint64_t resent, retransmits, rtt_ns; /* of NFS; resent: requests sent more than once */
};

#define DEVICE_NUMBERS_MAX 16

/* A small set of device numbers. */
struct numbers {
	uint32_t devs[DEVICE_NUMBERS_MAX];
	unsigned int count;
};

struct device {
	size_t number;				    /* index in the list */
	struct numbers served;			    /* st_dev of the files that it holds */
	struct numbers parts;			    /* its partitions that received requests */
	struct device_waits waits[DEVICE_USES + 1]; /* as `own` */
	/* own[DEVICE_USES]: of a mount, its other requests: lookups, attributes, opens, ... */
	struct device_sum own[DEVICE_USES + 1], all[DEVICE_USES];
	/* Of `all`: from traces that ended before `trace`, and the lower bound from other
	 * traces. */
	struct device_sum before[DEVICE_USES], min[DEVICE_USES];
	/* With requests in flight that a thread waits for and that are sent again later. */
	struct interval_union resent[DEVICE_USES + 1];
	struct device_unseen unseen;
	uint32_t trace; /* that the latest sums come from */
	bool all_known;
	bool queue_known;	   /* of a mount's requests */
	bool rtt_known;		   /* and how often they were sent */
	struct round_trips *trips; /* of a mount; NULL: none */
	uint64_t *op_time; /* time of a mount's requests, by number of the operation; or NULL */
	struct histogram *latency[DEVICE_USES + 1], *service[DEVICE_USES + 1]; /* NULL: none */
	struct histogram *small_reads; /* times; see struct device_view */
};

struct devices {
	const struct job *job;
	struct arena *arena;
	/* Device and use, process, tid -> union of the thread's parts: measure, end. */
	struct map waiters;
	struct map ends; /* of a mount's requests: device and use, node -> end of the latest */
	struct device_list list;
	struct device **all; /* indexed as in the list until the table is filled */
	size_t room;
};

/* Fills the table. */
void devices_fill(void *state, struct table *table);
