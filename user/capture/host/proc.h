/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Information on processes from /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns whether PIDs in /proc are those that the kernel side records. False in a PID namespace
 * with its own /proc, where a PID may belong to another process. */
bool proc_is_of_kernel_side(void);

/* Returns whether /proc hides other users' processes from the caller (mounted with hidepid). */
bool proc_hides_others(void);

/* Reads up to `max` bytes of a file in /proc/PID; *bytes receives the length. The caller frees the
 * result. Returns NULL, and 0 in *bytes, if the file is empty or cannot be read. */
char *proc_read(uint32_t pid, const char *name, size_t max, size_t *bytes);

/* The same as NUL-terminated text of less than `max` bytes. */
char *proc_text(uint32_t pid, const char *name, size_t max);

/* The command line: arguments separated by NULs, without one at the end; else as proc_read. */
char *proc_arguments(uint32_t pid, size_t max, size_t *bytes);

/* Describes a process in one line: its command line, separated by spaces, or its name in brackets.
 * Truncates to `size`; writes "" if the process has ended. */
void proc_command(uint32_t pid, char *out, size_t size);

/* Returns whether the process exists; `ours` receives whether all of its user ids are `uid`. */
bool proc_owner(uint32_t pid, uid_t uid, bool *ours);

/* Returns whether it is a kernel thread. */
bool proc_is_kernel(uint32_t pid);
