/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The descriptors of a child process that goes on without executing a program.
 */
#ifndef FAULTLINE_DESCRIPTORS_H
#define FAULTLINE_DESCRIPTORS_H

#include <stddef.h>

#define DESCRIPTORS_MAX 16

/* Closes all descriptors but these, at most DESCRIPTORS_MAX: the command's pipes, the trace, and
 * output pipes of our caller, whose readers wait for EOF. The first three become /dev/null. */
void descriptors_keep_only(const int *kept, size_t count);

#endif
