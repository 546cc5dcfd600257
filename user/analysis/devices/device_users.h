/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which programs' requests a device served, for the table "device_users" and for findings. */
#pragma once

#include "analysis/shared/results.h"
#include "collections/interval.h"
#include "analysis/shared/size_class.h"

/*
 * A user is a program started by the run's command, with all its descendants; or the command itself
 * with its forks; or the kernel.
 */
struct device_user {
	uint32_t process; /* number of its first process; PROCESS_UNKNOWN: the kernel */
	uint64_t requests, bytes;
	uint64_t sizes[SIZE_CLASSES]; /* whole requests by size */
	struct interval_union time;   /* with at least one of its requests in flight */
};

struct device_users_view {
	struct trace_string name;
	uint64_t dev;
	const struct device_user *users;
	size_t count;
	uint64_t shared_ns; /* with requests of at least two programs in flight */
};

/* Returns false past the last device. */
bool device_users_of(const struct results *results, size_t number, struct device_users_view *view);
