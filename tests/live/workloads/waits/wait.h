/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The current wait, and the state that its steps share. */
#pragma once

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "blocked.h"

/* Times are of CLOCK_MONOTONIC. */
static struct wait {
	pid_t tid;
	uint64_t before, asleep, ended, after;
	pid_t waker_pid, waker_tid; /* -1: unknown */
	pid_t owner;		    /* thread that has the lock; 0: its kind has no known owner */
	uint64_t object;
	bool begun;
} it;

/* The waiting thread uses ends[0]. A negative descriptor: the kernel lacks this kind of wait. */
static int ends[2], other_end, third;
static pthread_t waiter, helper;
static char byte;

/* A step that is one expression, which must be true. */
#define STEP(name, ...)                                                                            \
	static void name(void)                                                                     \
	{                                                                                          \
		require((__VA_ARGS__));                                                            \
	}

/* Returns a while after the waiting thread is blocked. */
static void wait_until_asleep(pid_t pid)
{
	while (!__atomic_load_n(&it.begun, __ATOMIC_ACQUIRE))
		sched_yield();
	wait_until_blocked(pid, it.tid);
	it.asleep = now_ns();
	rest();
}

/* The current thread is about to end the wait. */
static void wake(pid_t pid, pid_t tid)
{
	it.waker_pid = pid;
	it.waker_tid = tid;
	it.ended = now_ns();
}

static uint64_t inode_of(int file)
{
	struct stat status;

	require(!fstat(file, &status));
	return status.st_ino;
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

static void close_third_and_ends(void)
{
	close(third);
	close_ends();
}

STEP(close_third, !close(third));
STEP(close_end, !close(ends[1]));
STEP(byte_end, write(ends[1], "", 1) == 1);
STEP(kick_end, !pthread_kill(waiter, SIGUSR1));
STEP(join_helper, !pthread_join(helper, NULL));

static void on_signal(int number)
{
	(void)number;
}

static void catch_signal(int number)
{
	struct sigaction action = { .sa_handler = on_signal };

	require(!sigaction(number, &action, NULL));
}

static void pipe_prepare(void)
{
	require(!pipe2(ends, O_CLOEXEC));
	it.object = inode_of(ends[0]);
}
