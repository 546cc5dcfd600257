/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running what reads hostile input in a process of its own, which can do nothing but that.
 */
#ifndef FAULTLINE_CONFINED_H
#define FAULTLINE_CONFINED_H

#include <stddef.h>

#define CONFINED_BYTES_MAX 65536 /* of what it hands over */

/*
 * Runs `work` in a child without privileges: no capabilities, user nobody where we may choose, no
 * new descriptors, 64 MiB of memory more than there are, two seconds. It writes `size` bytes to
 * `out`, which is all that comes back. Returns 0; -ETIMEDOUT, or -EPROTO when the child died or
 * said nothing. Descriptors that are open here are open there.
 */
int confined_run(void (*work)(void *context, void *out), void *context, void *out, size_t size);

#endif
