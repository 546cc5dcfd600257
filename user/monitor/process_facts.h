/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What /proc tells of a process that is to be booked on: whether it is still the same, and in which
 * cgroup it is. Knows nothing of the ledger.
 */
#ifndef FAULTLINE_MONITOR_PROCESS_FACTS_H
#define FAULTLINE_MONITOR_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/job_labels.h"

struct process_facts {
	uint64_t start_ns; /* CLOCK_MONOTONIC, up to 10 ms too early */
	uint32_t uid;
	char comm[16];
	char cgroup[JOB_CGROUP_BYTES * 8];
};

/* When the process of that pid began; 0: there is none. */
uint64_t process_start_ns(uint32_t pid);
/* False: it is gone, or so far gone that nobody knows where it was. */
bool process_cgroup(uint32_t pid, char *path, size_t size);
/* Everything; false: it is gone, or a thread of the kernel's. */
bool process_look(uint32_t pid, struct process_facts *facts);
/* What /proc/PID/stat says: of the text the name and the start in ticks. False for nonsense. */
bool process_parse_stat(const char *text, char comm[16], uint64_t *start_ticks);

#endif
