/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command under observation: started, held before its exec, released.
 */
#ifndef FAULTLINE_CHILD_H
#define FAULTLINE_CHILD_H

#include <sys/types.h>

struct child {
	pid_t pid;
	int hold_fd; /* closing it lets the child go; what was written is the tracer's address */
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

/* Forks; the child waits. It gets the signals back as they were before supervise_prepare, and this
 * environment (environment_make), in whose PATH it is looked up. */
int child_start(struct child *child, char **argv, const struct child_user *user,
		char **environment);
/* Lets it exec. `tracer`, or NULL, is how programs that carry markers reach who listens to them: it
 * joins those that the environment names already (see span/tracer.h). Returns 0 once it has, or the
 * negative errno of the failed exec; it has then ended and been waited for. */
int child_release(struct child *child, const char *tracer);
/* Ends a child that was not released. */
void child_cancel(struct child *child);

#endif
