/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Gives up privileges that are no longer needed. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns whether the caller's privileges are its own: root's, or granted by whoever started it
 * (for example a service manager). It may then see the activity of all users. Otherwise it has
 * none, or the program's file grants them to any user who executes it; such a user may see only
 * their own activity.
 */
bool privileges_are_own(void);

/* Restricts /proc/PID and ptrace of this process to root. Otherwise a user could take over a thread
 * without capabilities and, through shared memory, threads that have some. Returns 0 or a negative
 * errno. */
int privileges_hide(void);

/* For commands that do not trace; must run before anything is opened. Keeps the privileges that the
 * caller has without this program and drops those that the program's file grants. Only root keeps
 * capabilities: those to read and write files of other users. Returns 0 or a negative errno. */
int privileges_keep_own(void);

/* Capabilities are per thread: each thread drops its own, and later threads have no more. */

/* Keeps CAP_BPF (to read the totals on kernels before 5.19), CAP_KILL (to forward signals to
 * another user's command) and optionally CAP_PERFMON (for events of CPUs that come online). */
int privileges_drop(bool keep_perf_events);

/* Keeps what is needed to read files that processes map and to attach to markers in them: CAP_BPF,
 * CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH; CAP_SYS_ADMIN, which the kernel requires for a
 * uprobe on all processes; and CAP_SETUID, CAP_SETGID and CAP_KILL, to read hostile files as
 * another user. */
int privileges_keep_attaching(void);
/* Keeps what is needed to read the memory of processes: CAP_SYS_PTRACE; and CAP_BPF, to look into
 * maps. */
int privileges_keep_reading(void);
/* Keeps what is needed to read files that processes map, as the kernel names them: CAP_SYS_PTRACE,
 * CAP_DAC_READ_SEARCH, and CAP_CHECKPOINT_RESTORE, or CAP_SYS_ADMIN if that is missing. */
int privileges_keep_unwinding(void);
/* Keeps what is needed to read root's files and the environments of processes: CAP_SYS_PTRACE and
 * CAP_DAC_READ_SEARCH. */
int privileges_keep_naming(void);
/* Keeps CAP_DAC_READ_SEARCH, to open files by handle. */
int privileges_keep_looking(void);
/* Keeps no capability. */
int privileges_drop_all(void);

/*
 * Drops all capabilities of the calling thread, and no other, and switches it to this user, whose
 * disk quota then applies. A thread that writes root's own files loses the claim to blocks that a
 * file system reserves for root. Returns 0 or a negative errno.
 */
int privileges_become(uid_t uid, gid_t gid);

/* The same for a thread that creates files, but root's thread may still write wherever root may. */
int privileges_keep_writing(uid_t uid, gid_t gid);
