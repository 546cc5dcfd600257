/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits on process descriptors, which become readable when a process ends, and polls the cgroup. */
#include "capture/follow/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/follow/cgroup_target.h"
#include "capture/host/host.h"

#define LOOK_NS 250000000ull /* between checks of the cgroup */
#define SECOND_NS 1000000000ull

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

static void handled_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR2);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(set, ending[i]);
}

int watch_prepare(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	handled_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) || sigaction(SIGPIPE, &ignore, NULL) ||
	    sigaction(SIGXFSZ, &ignore, NULL))
		return -errno;
	return 0;
}

/* Returns the time until the next timed action, in ms for poll(). */
static int wait_ms(const struct watch *watch, uint64_t now_ns, uint64_t end_ns, uint64_t look_ns,
		   uint64_t tick_ns)
{
	uint64_t next = UINT64_MAX;

	if (watch->max_ns && end_ns < next)
		next = end_ns;
	if (watch->cgroup && look_ns < next)
		next = look_ns;
	if (watch->tick && tick_ns < next)
		next = tick_ns;
	if (next == UINT64_MAX)
		return -1;
	if (next <= now_ns)
		return 0;
	next = (next - now_ns + 999999) / 1000000;
	return next > 1000 ? 1000 : next;
}

/* Returns whether a signal ends the wait. */
static bool take_signals(const struct watch *watch, int fd)
{
	struct signalfd_siginfo info;
	bool ends = false;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR2)
			watch->on_signal(watch->context);
		else
			ends = true;
	}
	return ends;
}

int watch_wait(const struct watch *watch)
{
	struct pollfd *fds = calloc(1 + watch->count, sizeof(*fds));
	uint64_t now_ns = host_now_ns(), end_ns = now_ns + watch->max_ns;
	uint64_t look_ns = now_ns, tick_ns = now_ns + SECOND_NS;
	size_t alive = watch->count;
	int status = -1, fd = -1;
	sigset_t set;

	if (!fds)
		return -ENOMEM;
	handled_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		status = -errno;
		goto out;
	}
	fds[0] = (struct pollfd) { .fd = fd, .events = POLLIN };
	for (size_t i = 0; i < watch->count; i++)
		fds[1 + i] = (struct pollfd) { .fd = watch->pidfds[i], .events = POLLIN };
	while (status < 0) {
		int ready = poll(fds, 1 + watch->count,
				 wait_ms(watch, now_ns, end_ns, look_ns, tick_ns));

		if (ready < 0 && errno != EINTR) {
			status = -errno;
			goto out;
		}
		now_ns = host_now_ns();
		for (size_t i = 1; ready > 0 && i <= watch->count; i++)
			if (fds[i].fd >= 0 && fds[i].revents) {
				fds[i].fd = -1; /* has ended: no longer polled */
				alive--;
			}
		if (ready > 0 && fds[0].revents && take_signals(watch, fd))
			status = WATCH_SIGNAL;
		else if (watch->count && !alive)
			status = WATCH_ENDED;
		else if (watch->max_ns && now_ns >= end_ns)
			status = WATCH_TIME;
		if (status < 0 && watch->cgroup && now_ns >= look_ns) {
			if (!cgroup_target_populated(watch->cgroup))
				status = WATCH_ENDED;
			look_ns = now_ns + LOOK_NS;
		}
		if (watch->tick && now_ns >= tick_ns) {
			watch->tick(watch->context);
			tick_ns = now_ns + SECOND_NS;
		}
	}
out:
	if (fd >= 0)
		close(fd);
	free(fds);
	return status;
}
