/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What /proc tells of a process.
 */
#ifndef FAULTLINE_PROC_H
#define FAULTLINE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether /proc has the numbers that the kernel side tells: not in a namespace of pids with a /proc
 * of its own, where another process may be called so. */
bool proc_is_of_kernel_side(void);

/* Whether /proc keeps processes of others from the caller (mounted with hidepid). */
bool proc_hides_others(void);

/* Reads a file of /proc/PID as far as `most` bytes, which *bytes tells; to be freed. NULL and 0 for
 * what is empty or cannot be read. */
char *proc_read(uint32_t pid, const char *name, size_t most, size_t *bytes);

/* The same as a text that ends, less than `most` bytes of it. */
char *proc_text(uint32_t pid, const char *name, size_t most);

/* Its command line: arguments with a NUL between, none at the end; else as proc_read. */
char *proc_arguments(uint32_t pid, size_t most, size_t *bytes);

/* What a process is called, in a line: its command line with spaces between, or its name in
 * brackets. Cut to `size`; "" when it is gone. */
void proc_command(uint32_t pid, char *out, size_t size);

/* Whether it is there; `ours` receives whether all of its user ids are `uid`. */
bool proc_owner(uint32_t pid, uid_t uid, bool *ours);

/* Whether it is a thread of the kernel's. */
bool proc_is_kernel(uint32_t pid);

#endif
