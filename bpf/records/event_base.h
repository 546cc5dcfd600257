/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the headers that define the interface between kernel side and user side: fixed-width
 * types, size assertions, and the length of a task name.
 */
#pragma once

#ifndef __bpf__
#include <assert.h>
#include <stddef.h>
#include <linux/types.h>
#endif

#define EVENT_COMM_BYTES 16

#ifdef __bpf__
#define EVENT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#else
#define EVENT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#endif
