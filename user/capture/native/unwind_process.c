/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A parent that starts a child again when a file makes it crash or hang: a file can be truncated
 * while it is mapped, for example. The request that crashed it gets an answer without frames.
 */
#include "capture/native/unwind_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/host/privileges.h"
#include "capture/host/rlimits.h"
#include "capture/native/unwind.h"

#define CRASHES_MAX 32 /* without an hour between two of them */
#define FORGIVEN_NS 3600000000000ull
#define STUCK_SECONDS 30
#define FILES_BYTES (64ull << 30) /* mapped by libdw, for all processes */

static void confine(void)
{
	struct rlimit files;
	FILE *score = fopen("/proc/self/oom_score_adj", "we");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (score) {
		fputs("1000\n", score); /* rather this process than a traced one */
		fclose(score);
	}
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, 3, ~0u, 0);
	if (!getrlimit(RLIMIT_NOFILE, &files))
		rlimits_set(RLIMIT_NOFILE, files.rlim_max);
	/* Against what a damaged file makes libdw allocate; mappings of files count, too. */
	rlimits_set_memory((uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) + FILES_BYTES);
	rlimits_set(RLIMIT_CORE, 0);
	rlimits_set(RLIMIT_FSIZE, 0);
	privileges_keep_unwinding();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	privileges_hide();
	unsetenv("DEBUGINFOD_URLS"); /* never asks the network */
}

/* Answers the request that the child was processing. */
static void answer_without(struct unwind_queue *queue)
{
	const uint32_t done = atomic_load(&queue->done);
	struct unwind_slot *slot = &queue->slots[done % UNWIND_SLOTS];

	if (done == atomic_load(&queue->given))
		return;
	slot->status = UNWIND_FAILED;
	slot->count = 0;
	atomic_store(&queue->done, done + 1);
}

static void __attribute__((noreturn)) serve(struct unwind_queue *queue)
{
	struct unwind *unwind = unwind_make(queue);

	if (!unwind)
		_exit(1);
	for (;;) {
		const uint32_t done = atomic_load(&queue->done);

		if (done == atomic_load(&queue->given)) {
			syscall(SYS_futex, &queue->given, FUTEX_WAIT, done, NULL, NULL, 0);
			continue;
		}
		alarm(STUCK_SECONDS); /* a file may make libdw search without end */
		unwind_answer(unwind, &queue->slots[done % UNWIND_SLOTS]);
		alarm(0);
		atomic_store(&queue->done, done + 1);
	}
}

void unwind_process_run(struct unwind_queue *queue)
{
	prctl(PR_SET_NAME, "faultline-stack");
	confine();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after confine: a change of capabilities clears it */
	if (getppid() == 1)
		_exit(1);
	for (int crashes = 0; crashes < CRASHES_MAX; crashes++) {
		const uint64_t started_ns = clock_now_ns(CLOCK_MONOTONIC);
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(queue);
		}
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		answer_without(queue);
		if (clock_now_ns(CLOCK_MONOTONIC) - started_ns >= FORGIVEN_NS)
			crashes = 0;
	}
	atomic_store(&queue->over, 1);
	_exit(1);
}
