/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Giving up what is no longer needed.
 */
#ifndef FAULTLINE_PRIVILEGES_H
#define FAULTLINE_PRIVILEGES_H

/* Keeps CAP_BPF (reading the totals on kernels before 5.19) and CAP_KILL (handing signals to a
 * command of another user) of what this thread, and threads made later, may do. */
int privileges_drop(void);

#endif
