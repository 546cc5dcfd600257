/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting until programs that have been detached run no more. Knows no program.
 */
#ifndef FAULTLINE_QUIESCE_H
#define FAULTLINE_QUIESCE_H

#include <stdbool.h>

/* `preempted`: tasks may be preempted while they run one. False, and a warning once, where there is
 * no way to wait. */
bool quiesce(bool preempted);
/* The same for who is in no hurry: by a grace period of the kernel's, if it grants one. */
bool quiesce_slowly(void);

#endif
