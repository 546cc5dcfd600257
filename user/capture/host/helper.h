/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Helper processes: children of ours that do not execute a program. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Forks a child that sends no signal at its end and that only a wait with __WCLONE or __WALL finds:
 * waiting for the command's children must not wait for it. Returns as fork does.
 */
pid_t helper_fork(void);

#define HELPER_DESCRIPTORS_MAX 256

/* Closes all descriptors but these, at most HELPER_DESCRIPTORS_MAX: the command's pipes, the trace,
 * and output pipes of our caller, whose readers wait for EOF. The first three become /dev/null. */
void helper_keep_descriptors(const int *kept, size_t count);
