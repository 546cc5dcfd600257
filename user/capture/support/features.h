/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What some kernels lack, and what a recording loses without it. Checks the kernel's types or tries
 * the feature, never the version, which means little for a distribution's kernel.
 */
#pragma once

#include "capture/support/kernel.h"

struct feature {
	const char *name;
	const char *cost; /* of its absence */
};

/* Returns the first missing feature from `*at` on, and moves `*at` past it; NULL: none. */
const struct feature *features_missing(struct kernel *kernel, size_t *at);
