/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starts the command. */
#include "capture/follow/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/follow/supervise.h"
#include "base/log.h"
#include "span/tracer.h"

int child_find_user(const char *name, struct child_user *user)
{
	const char *sudo = getenv("SUDO_UID");
	const char *wanted = name ? name : sudo;
	struct passwd *entry;
	char *end;

	memset(user, 0, sizeof(*user));
	user->uid = geteuid();
	user->gid = getegid();
	if (!wanted || !*wanted || (!name && geteuid() != 0))
		return 0;
	entry = getpwnam(wanted);
	if (!entry) {
		unsigned long uid = strtoul(wanted, &end, 10);

		if (!*end && wanted[0] >= '0' && wanted[0] <= '9')
			entry = getpwuid(uid);
	}
	if (!entry) {
		log_error("%s %s: no such user", name ? "--user" : "SUDO_UID", wanted);
		return -ENOENT;
	}
	if (entry->pw_uid == user->uid)
		return 0;
	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	user->name = entry->pw_name;
	user->home = entry->pw_dir;
	user->shell = entry->pw_shell;
	return 0;
}

static int become(const struct child_user *user)
{
	if (!user->name)
		return 0;
	if (initgroups(user->name, user->gid) || setgid(user->gid) || setuid(user->uid))
		return -errno;
	return 0;
}

/* Keeps outer tracers in the list: programs must ask them, too. */
static void name_tracer(const char *tracer)
{
	const char *outer = getenv(TRACER_VARIABLE);
	char *all;

	if (!outer || !*outer || asprintf(&all, "%s;%s", outer, tracer) < 0)
		setenv(TRACER_VARIABLE, tracer, 1);
	else
		setenv(TRACER_VARIABLE, all, 1);
}

static void __attribute__((noreturn))
be_child(char **argv, const struct child_user *user, char **environment, int hold_fd, int exec_fd)
{
	int err = become(user);
	char tracer[256] = "";
	size_t length = 0;
	ssize_t n = 0;

	environ = environment; /* not earlier: it may belong to a user with fewer rights */
	/* If the tracer dies here, the command still runs. */
	while (!err && length < sizeof(tracer) - 1 &&
	       ((n = read(hold_fd, tracer + length, sizeof(tracer) - 1 - length)) > 0 ||
		(n < 0 && errno == EINTR)))
		length += n > 0 ? n : 0;
	if (length)
		name_tracer(tracer);
	if (!err) {
		supervise_undo();
		execvp(argv[0], argv);
		err = -errno;
	}
	if (write(exec_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(err == -ENOENT ? 127 : 126);
}

int child_start(struct child *child, char **argv, const struct child_user *user, char **environment)
{
	int hold[2] = { -1, -1 }, exec[2] = { -1, -1 }, err = 0;

	if (pipe2(hold, O_CLOEXEC) || pipe2(exec, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	child->pid = fork();
	if (child->pid < 0) {
		err = -errno;
		goto out;
	}
	if (!child->pid) {
		close(hold[1]);
		close(exec[0]);
		be_child(argv, user, environment, hold[0], exec[1]);
	}
	child->hold_fd = hold[1];
	child->exec_fd = exec[0];
	hold[1] = exec[0] = -1;
out:
	if (err)
		log_error("cannot start the command: %s", strerror(-err));
	for (int i = 0; i < 2; i++) {
		if (hold[i] >= 0)
			close(hold[i]);
		if (exec[i] >= 0)
			close(exec[i]);
	}
	return err;
}

int child_release(struct child *child, const char *tracer)
{
	int err = 0;
	ssize_t n;

	if (tracer && write(child->hold_fd, tracer, strlen(tracer)) < 0)
		log_warning("spans may be missed: %s", strerror(errno));
	close(child->hold_fd);
	do
		n = read(child->exec_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(child->exec_fd);
	if (n != sizeof(err))
		return 0; /* the exec closed it */
	waitpid(child->pid, NULL, 0);
	return err;
}

void child_cancel(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	close(child->hold_fd);
	close(child->exec_fd);
}
