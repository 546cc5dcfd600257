/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting until programs that have been detached run no more. Knows no program.
 */
#ifndef FAULTLINE_QUIESCE_H
#define FAULTLINE_QUIESCE_H

#include <stdbool.h>

/* `preempted`: tasks may be preempted while they run one. */
void quiesce(bool preempted);

#endif
