/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command under observation: started, held before its exec, released.
 */
#ifndef FAULTLINE_CHILD_H
#define FAULTLINE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int hold_fd; /* a byte, or closing it, lets the child go */
	int exec_fd; /* says the errno of a failed exec */
};

/* Who the command is to run as. */
struct child_user {
	uid_t uid;
	gid_t gid;
	const char *name; /* NULL: as ourselves */
	const char *home;
	const char *shell;
};

/*
 * Finds whom to run as: `name` (a user or a number) if given, else who called sudo (SUDO_UID), else
 * ourselves. Logs and returns -ENOENT for an unknown one. Texts are static.
 */
int child_find_user(const char *name, struct child_user *user);

/* Forks; the child waits. It gets the signals back as they were before supervise_prepare. */
int child_start(struct child *child, char **argv, const struct child_user *user);
/* Lets it exec; with `marked`, FAULTLINE_RUN=1 in its environment tells libraries that carry
 * markers to wait until they are attached to. Returns 0 once it has, or the negative errno of the
 * failed exec; it has then ended and been waited for. */
int child_release(struct child *child, bool marked);
/* Ends a child that was not released. */
void child_cancel(struct child *child);

#endif
