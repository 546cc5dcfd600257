/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs a child that has given up every right to do harm. */
#include "capture/usdt/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/host/rlimits.h"

#define MEMORY_BYTES (64ull << 20)
#define SECONDS (CONFINED_LONGEST_NS / 1000000000)
#define NOBODY 65534

#ifndef P_PIDFD /* glibc before 2.36 */
#define P_PIDFD 3
#endif

/* Returns false if it keeps a right. */
static bool confine(void)
{
	rlimits_set_memory(MEMORY_BYTES);
	rlimits_set(RLIMIT_CPU, SECONDS);
	rlimits_set(RLIMIT_CORE, 0);
	rlimits_set(RLIMIT_FSIZE, 0);
	rlimits_set(RLIMIT_NOFILE, 0);
	/* As far as possible. The root of a container may lack this user, or the right to become
	 * it; without capabilities and descriptors, it can do no more than anyone else. */
	if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	    setresuid(NOBODY, NOBODY, NOBODY))
		return false;
	if (privileges_drop_all())
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* only now: a change of user clears it */
	prctl(PR_SET_DUMPABLE, 0);
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Reads the child's result. */
static int take(int fd, char *out, size_t size, uint64_t until)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t got = 0;

	while (got < size) {
		uint64_t now = host_now_ns();
		ssize_t n;

		if (now >= until)
			return -ETIMEDOUT;
		if (poll(&wait, 1, (until - now) / 1000000 + 1) <= 0)
			continue;
		n = read(fd, out + got, size - got);
		if (!n)
			return -EPROTO;
		if (n > 0)
			got += n;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* --- ending a child --- */

/* Killed children that still hung in the kernel when last checked. Used by one thread only. */
#define LEFT_MAX 16
#define END_MS 100 /* a killed child takes microseconds, unless it hangs in the kernel */
static int left[LEFT_MAX];
static unsigned int left_count;

static int open_child(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0);
}

/* Whether the child has ended or is no longer ours: other code in this process may have reaped it,
 * and its pid may have been reused. */
static bool is_reaped(int child)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PIDFD, child, &info, WEXITED | WNOHANG))
		return errno == ECHILD;
	return info.si_pid;
}

static void reap_left(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < left_count; i++) {
		if (is_reaped(left[i]))
			close(left[i]);
		else
			left[count++] = left[i];
	}
	left_count = count;
}

/* Kills it even after a result: a compromised child might never exit. Without a pidfd, its limits
 * end it. If too many hang in the kernel, some remain zombies until this process ends. */
static void end_child(int child)
{
	struct pollfd end = { .fd = child, .events = POLLIN };

	if (child < 0)
		return;
	syscall(SYS_pidfd_send_signal, child, SIGKILL, NULL, 0);
	poll(&end, 1, END_MS);
	if (!is_reaped(child) && left_count < LEFT_MAX)
		left[left_count++] = child;
	else
		close(child);
}

uint64_t confined_max_ns(const struct time_budget *time_budget)
{
	return number_min(CONFINED_SHARE_NS + time_budget->left_ns, CONFINED_LONGEST_NS);
}

void confined_took(struct time_budget *time_budget, uint64_t took_ns)
{
	uint64_t excess_ns = number_sub(took_ns, CONFINED_SHARE_NS);

	time_budget->left_ns = number_sub(time_budget->left_ns, excess_ns);
}

int confined_run(void (*work)(void *context, void *out), void *context, void *out, size_t size,
		 struct time_budget *time_budget)
{
	uint64_t start_ns = host_now_ns();
	int ends[2], err, child;
	pid_t pid;

	if (size > CONFINED_BYTES_MAX) /* fits into a pipe: the child never blocks */
		return -EINVAL;
	reap_left();
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		if (!confine())
			_exit(1);
		work(context, out);
		_exit(write(ends[1], out, size) != (ssize_t)size);
	}
	err = pid < 0 ? -errno : 0;
	child = pid > 0 ? open_child(pid) : -1;
	close(ends[1]);
	if (!err)
		err = take(ends[0], out, size, start_ns + confined_max_ns(time_budget));
	close(ends[0]);
	end_child(child);
	confined_took(time_budget, host_now_ns() - start_ns);
	return err;
}
