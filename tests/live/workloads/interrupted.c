// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Waits in system calls that signals interrupt, and counts its calls and their results: calls that
 * the kernel restarts are one call to the program.
 *
 *   interrupted DIR OUT
 *
 * A helper holds the awaited resource and releases it after sending its signals; each signal is
 * sent once the waiting process sleeps and has handled the previous one.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "live.h"

#define SIGNALS 4

enum { FLOCK, SETLK, SETLKW, READ, FSTAT, CALLS };
static const char *const names[CALLS] = { "flock", "fcntl_setlk", "fcntl_setlkw", "read", "fstat" };

static struct {
	volatile long calls[CALLS], errors[CALLS];
	volatile long held, waiting, handled, waited_ns;
} * shared;

static char path[600], fifo[600];
static int lock_fd; /* descriptor of the waiting process */

static long made(int which, long result)
{
	__sync_fetch_and_add(&shared->calls[which], 1);
	if (result < 0)
		__sync_fetch_and_add(&shared->errors[which], 1);
	return result;
}

static long call_fcntl(int fd, int command, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 10 };

	return made(command == F_SETLKW ? SETLKW : SETLK, syscall(SYS_fcntl, fd, command, &lock));
}

/* A system call during the interrupted call. */
static void handle(int number)
{
	struct stat st;

	(void)number;
	made(FSTAT, syscall(SYS_fstat, lock_fd, &st));
	shared->handled++;
}

static bool sleeps(pid_t pid)
{
	char name[64], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	fd = open(name, O_RDONLY);
	if (fd < 0)
		return false;
	/* Not read, which is counted. */
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	end = strrchr(text, ')');
	return end && end[1] && end[2] == 'S';
}

static void pause_a_little(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
}

static void wait_asleep(pid_t pid)
{
	while (!shared->waiting || !sleeps(pid))
		pause_a_little();
}

/* --- three resources that the helper holds and releases --- */

static int hold_flock(void)
{
	int fd = open(path, O_RDWR);

	require(fd >= 0 && made(FLOCK, syscall(SYS_flock, fd, LOCK_EX)) == 0);
	return fd;
}

static void release_flock(int fd)
{
	require(made(FLOCK, syscall(SYS_flock, fd, LOCK_UN)) == 0);
}

static long wait_flock(void)
{
	return made(FLOCK, syscall(SYS_flock, lock_fd, LOCK_EX));
}

static void end_flock(void)
{
	require(made(FLOCK, syscall(SYS_flock, lock_fd, LOCK_UN)) == 0);
}

static int hold_fcntl(void)
{
	int fd = open(path, O_RDWR);

	require(fd >= 0 && call_fcntl(fd, F_SETLK, F_WRLCK) == 0);
	return fd;
}

static void release_fcntl(int fd)
{
	require(call_fcntl(fd, F_SETLK, F_UNLCK) == 0);
}

static long wait_fcntl(void)
{
	return call_fcntl(lock_fd, F_SETLKW, F_WRLCK);
}

static void end_fcntl(void)
{
	require(call_fcntl(lock_fd, F_SETLK, F_UNLCK) == 0);
}

static int hold_fifo(void)
{
	return open(fifo, O_RDWR);
}

static void release_fifo(int fd)
{
	require(write(fd, "x", 1) == 1);
}

static int fifo_fd;

static long wait_fifo(void)
{
	char byte;

	return made(READ, syscall(SYS_read, fifo_fd, &byte, 1));
}

static void end_fifo(void)
{
}

static const struct way {
	int (*hold)(void);
	void (*release)(int fd);
	long (*wait)(void);
	void (*end)(void);
} ways[] = {
	{ hold_flock, release_flock, wait_flock, end_flock },
	{ hold_fcntl, release_fcntl, wait_fcntl, end_fcntl },
	{ hold_fifo, release_fifo, wait_fifo, end_fifo },
};

/* A handler that does not return: its call is left. */
static sigjmp_buf left;

static void leave(int number)
{
	(void)number;
	__sync_fetch_and_add(&shared->calls[FLOCK], 1);
	shared->handled++;
	siglongjmp(left, 1);
}

/* The same call, further down the stack. */
static __attribute__((noinline)) long wait_deeper(void)
{
	volatile char room[4096] = { 0 };

	return wait_flock() + room[1];
}

/* Begins each wait again, twice at the same place and then at another, as with a timeout. */
static void wait_again(void)
{
	static volatile int tries;

	sigsetjmp(left, 1);
	require((tries++ & 2 ? wait_deeper() : wait_flock()) == 0);
}

static void wait_to_end(const struct way *way)
{
	while (way->wait() < 0)
		require(errno == EINTR);
}

/* Waits once, and is interrupted SIGNALS times while waiting. */
static void be_interrupted(const struct way *way, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	pid_t waiter = getpid(), helper;
	int status;

	require(!sigaction(SIGUSR1, &action, NULL));
	shared->held = shared->waiting = shared->handled = 0;
	helper = fork();
	if (!helper) {
		int fd = way->hold();

		shared->held = 1;
		for (long i = 0; i < SIGNALS; i++) {
			wait_asleep(waiter);
			require(!kill(waiter, SIGUSR1));
			while (shared->handled <= i)
				pause_a_little();
		}
		wait_asleep(waiter);
		way->release(fd);
		_exit(0);
	}
	while (!shared->held)
		pause_a_little();
	shared->waiting = 1;
	if (handler == leave)
		wait_again();
	else
		wait_to_end(way);
	shared->waiting = 0;
	way->end();
	require(waitpid(helper, &status, 0) == helper && !status);
}

/* A process killed while it waits. */
static void be_killed(void)
{
	int holder = hold_flock(), status;
	pid_t victim;
	uint64_t since;

	shared->waiting = 0;
	victim = fork();
	if (!victim) {
		lock_fd = open(path, O_RDWR);
		shared->waiting = 1;
		wait_flock();
		_exit(WORKLOAD_BROKEN);
	}
	wait_asleep(victim);
	since = now_ns();
	for (int i = 0; i < 20; i++)
		pause_a_little();
	shared->waited_ns = now_ns() - since;
	require(!kill(victim, SIGKILL));
	require(waitpid(victim, &status, 0) == victim && WIFSIGNALED(status));
	__sync_fetch_and_add(&shared->calls[FLOCK], 1);
	release_flock(holder);
}

int main(int argc, char **argv)
{
	FILE *out;

	require(argc == 3);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	require(shared != MAP_FAILED);
	snprintf(path, sizeof(path), "%s/lock", argv[1]);
	snprintf(fifo, sizeof(fifo), "%s/fifo", argv[1]);
	lock_fd = open(path, O_RDWR | O_CREAT, 0644);
	require(lock_fd >= 0 && !mkfifo(fifo, 0600));
	fifo_fd = open(fifo, O_RDWR);
	require(fifo_fd >= 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		be_interrupted(&ways[i], handle, SA_RESTART);
		be_interrupted(&ways[i], handle, 0);
	}
	be_interrupted(&ways[0], leave, 0);
	be_killed();
	out = fopen(argv[2], "w");
	require(out);
	for (int i = 0; i < CALLS; i++)
		fprintf(out, "%s\"%s\": [%ld, %ld]", i ? ", " : "{", names[i], shared->calls[i],
			shared->errors[i]);
	fprintf(out, ", \"waited_ns\": %ld}\n", shared->waited_ns);
	require(!fclose(out));
	return 0;
}
