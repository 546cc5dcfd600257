/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Giving up what is no longer needed.
 */
#ifndef FAULTLINE_PRIVILEGES_H
#define FAULTLINE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the caller's rights are its own, root's or those that whoever started it has given it (a
 * service manager, say): then it may be shown what anybody does. Else it has none, or the program's
 * file lends them to any user who executes it, who is shown what is that user's.
 */
bool privileges_are_own(void);

/* Makes /proc/PID and ptrace of this process a matter for root: a user could otherwise take over a
 * thread without capabilities, and by it the memory of those that have some. Returns 0 or a
 * negative errno. */
int privileges_hide(void);

/* For a command that does not trace, before it opens anything: leaves the rights that the caller
 * has without this program, and takes away what the program's file lends. Nobody but root keeps a
 * capability; root keeps those by which it reads and writes the files of other users. Returns 0 or
 * a negative errno. */
int privileges_keep_own(void);

/* Capabilities belong to threads: each gives up its own, and threads made later have no more. */

/* Keeps CAP_BPF (reading the totals on kernels before 5.19) and CAP_KILL (handing signals to a
 * command of another user); if need be CAP_PERFMON (events of CPUs that come online). */
int privileges_drop(bool keep_perf_events);

/* Keeps what it takes to look at the files that processes map and to attach to markers in them:
 * CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN, without which the
 * kernel makes no uprobe for all processes, and CAP_SETUID, CAP_SETGID and CAP_KILL, to have what
 * is hostile read by somebody else. */
int privileges_keep_attaching(void);
/* Keeps CAP_DAC_READ_SEARCH, to open what is told by its number. */
int privileges_keep_looking(void);
/* Keeps none. */
int privileges_drop_all(void);

/*
 * Leaves the calling thread, and no other, without any capability and as this user, whose disk
 * quota then counts. A thread that writes root's own files loses the claim to the blocks that a
 * file system keeps for root. Returns 0 or a negative errno.
 */
int privileges_become(uid_t uid, gid_t gid);

/* The same for a thread that creates files: root's may write wherever root may. */
int privileges_keep_writing(uid_t uid, gid_t gid);

#endif
