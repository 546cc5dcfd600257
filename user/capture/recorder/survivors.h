/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Followed processes that are still alive. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/session/session.h"

/* Stores up to `max` of their pids in `pids` and returns their number. */
size_t survivors_find(struct session *session, uint64_t *pids, size_t max);
/* Writes the name (comm) of a process, or "?" if it has ended. */
void survivors_name(uint64_t pid, char *out, size_t size);
