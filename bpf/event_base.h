/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the headers of what crosses from the kernel side to the user side have in common: types of
 * fixed width, the sizes that structs keep, and that of a task's name.
 */
#ifndef FAULTLINE_EVENT_BASE_H
#define FAULTLINE_EVENT_BASE_H

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

#endif
