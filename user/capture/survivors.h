/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Followed processes that are still alive.
 */
#ifndef FAULTLINE_SURVIVORS_H
#define FAULTLINE_SURVIVORS_H

#include <stddef.h>
#include <stdint.h>

#include "capture/session.h"

/* Puts the pids of at most `max` of them into `pids`; returns how many. */
size_t survivors_find(struct session *session, uint64_t *pids, size_t max);
/* The name (comm) of a process, "?" when it is gone. */
void survivors_name(uint64_t pid, char *out, size_t size);

#endif
