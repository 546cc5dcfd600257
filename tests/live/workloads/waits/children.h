/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for children and signals, and sleep. */
#include "wait.h"

static void child_prepare(void)
{
	other_end = fork();
	require(other_end >= 0);
	while (!other_end)
		pause();
	it.object = other_end;
}

STEP(child_block, waitpid(other_end, NULL, 0) == other_end);
STEP(child_id_block, !waitid(P_PID, other_end, &(siginfo_t) { 0 }, WEXITED));

static void child_end(void)
{
	it.waker_pid = it.waker_tid = other_end;
	require(!kill(other_end, SIGKILL));
}

/* The child shares the memory, and no lock is taken. */
static void vfork_child(bool executes)
{
	pid_t child = vfork();

	require(child >= 0);
	if (child) {
		require(waitpid(child, NULL, 0) == child);
		return;
	}
	wait_until_asleep(getppid());
	wake(getpid(), getpid());
	if (executes)
		execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}

static void vfork_block(void)
{
	vfork_child(false);
}

static void vfork_exec_block(void)
{
	vfork_child(true);
}

static void sleep_block(void)
{
	/* Long, since it may leave its CPU late. */
	struct timespec pause = { .tv_nsec = 10 * PAUSE_NS };

	wake(0, 0);
	require(!nanosleep(&pause, NULL));
	it.asleep = it.ended; /* it ends by itself: nothing is known about when */
}

static void signal_block(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	require(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	require(!sigwait(&set, &number));
}

STEP(signal_end, !pthread_kill(waiter, SIGUSR2));

static void pause_block(void)
{
	catch_signal(SIGUSR1);
	require(pause() < 0);
}
