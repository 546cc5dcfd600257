/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits until detached programs no longer run. */
#pragma once

#include <stdbool.h>

/* `preempted`: tasks may be preempted while they run a program. Returns false, with one warning, if
 * there is no way to wait. */
bool quiesce(bool preempted);
/* The same for callers in no hurry: waits for a grace period if the kernel allows it. */
bool quiesce_slowly(void);
