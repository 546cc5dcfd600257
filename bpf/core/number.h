/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic that saturates instead of wrapping. */
#pragma once

#include "core/kernel.h"

/* Returns at least 0. */
static __always_inline __u64 number_sub(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

static __always_inline __u64 number_min(__u64 a, __u64 b)
{
	return a < b ? a : b;
}
