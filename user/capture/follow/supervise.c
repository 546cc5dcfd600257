/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for the command and forwards signals. */
#include "capture/follow/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/host/host.h"

static const int handed_on[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				 SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };
#define HANDED_ON_COUNT (sizeof(handed_on) / sizeof(handed_on[0]))

static void handled_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < HANDED_ON_COUNT; i++)
		sigaddset(set, handed_on[i]);
}

/* A failed write must not kill this process: the command would go on without its wrapper. If the
 * caller ignored SIGCHLD, the end of the command would not be noticed. */
static const struct {
	int number;
	void (*handler)(int);
} changed[] = { { SIGPIPE, SIG_IGN }, { SIGXFSZ, SIG_IGN }, { SIGCHLD, SIG_DFL } };
#define CHANGED_COUNT (sizeof(changed) / sizeof(changed[0]))

/* The original state, which the command gets back. */
static struct {
	sigset_t mask;
	struct sigaction actions[CHANGED_COUNT];
} inherited;

int supervise_prepare(bool adopt)
{
	sigset_t set;

	handled_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, &inherited.mask))
		return -errno;
	for (size_t i = 0; i < CHANGED_COUNT; i++) {
		const struct sigaction action = { .sa_handler = changed[i].handler };

		if (sigaction(changed[i].number, &action, &inherited.actions[i]))
			return -errno;
	}
	if (adopt && prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -errno;
	return 0;
}

void supervise_undo(void)
{
	for (size_t i = 0; i < CHANGED_COUNT; i++)
		sigaction(changed[i].number, &inherited.actions[i], NULL);
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

/* Reaps processes that have ended. Returns true when there is nothing more to wait for. */
static bool reap(const struct supervision *supervision, int *status, bool *command_ended)
{
	int code;
	pid_t pid;

	while ((pid = waitpid(-1, &code, WNOHANG)) > 0) {
		if (pid != supervision->pid)
			continue;
		*status = code;
		*command_ended = true;
	}
	if (!supervision->wait_children)
		return *command_ended;
	return pid < 0 && errno == ECHILD;
}

/* The terminal sends its signals to the command as well, but reports a hangup only to the session
 * leader. */
static bool is_ours_to_hand_on(const struct signalfd_siginfo *info)
{
	if (info->ssi_code != SI_KERNEL)
		return true;
	return (info->ssi_signo == SIGHUP || info->ssi_signo == SIGCONT) && getsid(0) == getpid();
}

static bool is_end(int signal)
{
	return signal == SIGINT || signal == SIGTERM;
}

/* Returns the time `ns` from now; UINT64_MAX (never) if it is 0. */
static uint64_t after_ns(uint64_t ns)
{
	return ns ? host_now_ns() + ns : UINT64_MAX;
}

/* Returns whether that time has come; true only once. */
static bool has_come(uint64_t *at_ns)
{
	if (host_now_ns() < *at_ns)
		return false;
	*at_ns = UINT64_MAX;
	return true;
}

/* Returns the time until `until_ns` in ms, at most a second. */
static int wait_ms(uint64_t until_ns)
{
	uint64_t now = host_now_ns();

	if (until_ns <= now)
		return 0;
	return until_ns - now < 1000000000 ? (until_ns - now) / 1000000 + 1 : 1000;
}

int supervise(const struct supervision *supervision, int *status)
{
	uint64_t begin_ns = after_ns(supervision->begin_ns);
	uint64_t over_ns = after_ns(supervision->over_ns);
	bool command_ended = false, started = !supervision->begin_ns, over = false;
	unsigned int ends = 0;
	time_t last_tick = 0;
	int err = 0, fd;
	sigset_t set;

	*status = -1;
	handled_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	while (!reap(supervision, status, &command_ended)) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		struct signalfd_siginfo info;
		time_t now;

		if (poll(&wait, 1, wait_ms(started ? over_ns : begin_ns)) < 0 && errno != EINTR) {
			err = -errno;
			break;
		}
		while (read(fd, &info, sizeof(info)) == sizeof(info)) {
			int number = info.ssi_signo;

			if (number == SIGCHLD)
				continue;
			if (is_end(number) && ++ends > 1) {
				err = 1;
				goto out;
			}
			if (number == SIGUSR2 && started && !over)
				supervision->on_signal(supervision->context);
			else if (number == SIGUSR2)
				continue;
			else if (is_ours_to_hand_on(&info) && !command_ended)
				kill(supervision->pid, number);
		}
		if (!command_ended && has_come(&begin_ns)) {
			started = true;
			supervision->begin(supervision->context);
		}
		if (has_come(&over_ns)) {
			over = true;
			supervision->over(supervision->context);
		}
		now = time(NULL);
		if (supervision->tick && started && !over && now != last_tick) {
			supervision->tick(supervision->context);
			last_tick = now;
		}
	}
out:
	close(fd);
	return err;
}

int supervise_exit_code(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}
