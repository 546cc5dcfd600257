/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The traced command: started, held before its exec, released. */
#pragma once

#include <sys/types.h>

struct child {
	pid_t pid;
	int hold_fd; /* closing it releases the child; carries the tracer's address */
	int exec_fd; /* carries the errno of a failed exec */
};

/* The user to run the command as. */
struct child_user {
	uid_t uid;
	gid_t gid;
	const char *name; /* NULL: the current user */
	const char *home;
	const char *shell;
};

/*
 * Finds the user to run as: `name` (a user name or number) if given, otherwise the caller of sudo
 * (SUDO_UID), otherwise the current user. Logs and returns -ENOENT for an unknown user. Texts are
 * static.
 */
int child_find_user(const char *name, struct child_user *user);

/* Forks; the child waits. It gets its signals as they were before supervise_prepare, and this
 * environment (environment_make), whose PATH is searched for the command. */
int child_start(struct child *child, char **argv, const struct child_user *user,
		char **environment);
/* Lets the child exec. `tracer`, or NULL, is the address at which programs with markers reach the
 * listener; it is added to those already in the environment (see span/tracer.h). Returns 0 after
 * the exec, or the negative errno of a failed exec; the child has then been reaped. */
int child_release(struct child *child, const char *tracer);
/* Kills a child that was not released. */
void child_cancel(struct child *child);
