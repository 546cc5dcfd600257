/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whose requests a device served, for the table "device_users" and for those who draw conclusions
 * from it.
 */
#ifndef FAULTLINE_DEVICE_USERS_H
#define FAULTLINE_DEVICE_USERS_H

#include "analysis/measured.h"
#include "analysis/base/interval.h"
#include "analysis/size_class.h"

/*
 * A user is a program that the run's command started, with all that this started in turn, or the
 * command itself with what it has forked; or the kernel.
 */
struct device_user {
	uint32_t process; /* number of the first one; PROCESS_UNKNOWN: the kernel */
	uint64_t requests, bytes;
	uint64_t sizes[SIZE_CLASSES]; /* requests by size, as a whole */
	struct interval_union time;   /* with at least one of its requests under way */
};

struct device_users_view {
	struct trace_string name;
	uint64_t dev;
	const struct device_user *users;
	size_t count;
	uint64_t shared_ns; /* with requests of two programs at least under way */
};

/* False behind the last device. */
bool device_users_of(const struct measured *measured, size_t number,
		     struct device_users_view *view);

#endif
