/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Facts from /proc about a process to be booked on: whether it is still the same, and its cgroup.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger/job_labels.h"

struct process_facts {
	uint64_t start_ns; /* CLOCK_MONOTONIC, up to 10 ms too early */
	uint32_t uid;
	char comm[16];
	char cgroup[JOB_CGROUP_BYTES * 8];
};

/* Returns the start time of the process with that pid; 0: there is none. */
uint64_t process_start_ns(uint32_t pid);
/* Returns false if it is gone, or so far gone that its cgroup is unknown. */
bool process_cgroup(uint32_t pid, char *path, size_t size);
/* Fills all facts; returns false if it is gone or a kernel thread. */
bool process_read_facts(uint32_t pid, struct process_facts *facts);
/* Parses the name and the start in ticks from the text of /proc/PID/stat. Returns false if
 * malformed. */
bool process_parse_stat(const char *text, char comm[16], uint64_t *start_ticks);
