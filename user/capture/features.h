/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What some kernels lack, and what a recording is the worse for there. Asked of the kernel's types
 * and by trying; never of its version, which says little of a distribution's kernel.
 */
#ifndef FAULTLINE_FEATURES_H
#define FAULTLINE_FEATURES_H

#include "capture/kernel.h"

struct feature {
	const char *name;
	const char *cost; /* of its absence */
};

/* The first feature from `*at` on that is missing, with `*at` behind it; NULL when there is none.
 */
const struct feature *features_missing(struct kernel *kernel, size_t *at);

#endif
