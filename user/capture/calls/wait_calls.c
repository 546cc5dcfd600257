/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The system calls in which threads wait, the state of a thread that is blocked in one, and which
 * waits of other threads a call may end.
 */
#include "capture/calls/wait_calls.h"

#include <sys/syscall.h>

/* Newer than some C libraries. */
#define NUMBER_futex_waitv 449
#define NUMBER_futex_wake 454
#define NUMBER_futex_wait 455
#define NUMBER_futex_requeue 456

#define WAKES(state) (1u << THREAD_##state)
#define WAKES_ALL ((1u << THREAD_STATE_COUNT) - 1)
/* A call on a descriptor, in which a thread waits until another thread makes such a call. */
#define TALKS(name) [SYS_##name] = { #name, { WAKES(PIPE), THREAD_BY_FILE, WAIT_ON_DESCRIPTOR } }
#define CALL(name, state, wakes) [SYS_##name] = { #name, { wakes, THREAD_##state, 0 } }
#define CALL_ON(name, state, wakes)                                                                \
	[SYS_##name] = { #name, { wakes, THREAD_##state, WAIT_ON_DESCRIPTOR } }
#define NUMBERED(name, state, wakes) [NUMBER_##name] = { #name, { wakes, THREAD_##state, 0 } }
/* Has no state of its own; ends waits of other threads. */
#define ENDS(name, wakes) [SYS_##name] = { #name, { wakes, 0, 0 } }

static const struct {
	const char *name;
	struct wait_call call;
} wait_calls[WAIT_CALL_COUNT] = {
	[SYS_futex] = { "futex", { WAKES(LOCK), THREAD_LOCK, WAIT_ON_FUTEX } },
	NUMBERED(futex_waitv, LOCK, 0),
	NUMBERED(futex_wait, LOCK, 0),
	NUMBERED(futex_wake, LOCK, WAKES(LOCK)),
	NUMBERED(futex_requeue, LOCK, WAKES(LOCK)),
	CALL(semop, LOCK, WAKES(LOCK)),
	CALL(semtimedop, LOCK, WAKES(LOCK)),
	ENDS(semctl, WAKES(LOCK)),
	CALL_ON(flock, LOCK, WAKES(LOCK)),
	CALL_ON(fcntl, LOCK, WAKES(LOCK)),
	ENDS(munmap, WAKES(LOCK)),

	/* Resumes a call after a stop; the number of that call is kept. */
	CALL(restart_syscall, RESTARTED, 0),

	TALKS(read),
	TALKS(readv),
	/* Also thaws a cgroup. */
	CALL_ON(write, BY_FILE, WAKES(PIPE) | WAKES(STOPPED)),
	TALKS(writev),
	TALKS(preadv2),
	TALKS(pwritev2),
	TALKS(sendto),
	TALKS(sendmsg),
	TALKS(sendmmsg),
	TALKS(recvfrom),
	TALKS(recvmsg),
	TALKS(recvmmsg),
	TALKS(accept),
	TALKS(accept4),
	TALKS(connect),
	TALKS(sendfile),
	CALL_ON(splice, PIPE, WAKES(PIPE)),
	TALKS(tee),
	TALKS(vmsplice),
	/* The open of a FIFO waits for its other end. Opens also wake these waiters, but are so
	 * frequent that a wakeup from an interrupt would often be credited to one. */
	ENDS(openat, 0),
#ifdef SYS_openat2
	ENDS(openat2, 0),
#endif
#ifdef SYS_open
	ENDS(open, 0),
	ENDS(creat, 0),
#endif
	ENDS(shutdown, WAKES(PIPE)),
#ifdef SYS_dup2
	ENDS(dup2, WAKES(PIPE) | WAKES(LOCK)),
#endif
	ENDS(dup3, WAKES(PIPE) | WAKES(LOCK)),
	ENDS(close, WAKES(PIPE) | WAKES(LOCK)),
#ifdef SYS_close_range
	ENDS(close_range, WAKES(PIPE) | WAKES(LOCK)),
#endif
#ifdef SYS_poll
	CALL(poll, BY_SECOND, 0),
	CALL(select, BY_FIRST, 0),
	CALL(epoll_wait, PIPE, 0),
#endif
	CALL(ppoll, BY_SECOND, 0),
	CALL(pselect6, BY_FIRST, 0),
	CALL(epoll_pwait, PIPE, 0),
#ifdef SYS_epoll_pwait2
	CALL(epoll_pwait2, PIPE, 0),
#endif
	CALL_ON(mq_timedsend, PIPE, WAKES(PIPE)),
	CALL_ON(mq_timedreceive, PIPE, WAKES(PIPE)),
	CALL(msgsnd, PIPE, WAKES(PIPE)),
	CALL(msgrcv, PIPE, WAKES(PIPE)),

	[SYS_wait4] = { "wait4", { 0, THREAD_CHILD, WAIT_ON_PID } },
	[SYS_waitid] = { "waitid", { 0, THREAD_CHILD, WAIT_ON_ID } },
	/* Until the child of vfork() ends or executes a program. */
	CALL(clone, CHILD, 0),
#ifdef SYS_clone3
	CALL(clone3, CHILD, 0),
#endif
#ifdef SYS_vfork
	CALL(vfork, CHILD, 0),
#endif
	/* These also end all other threads. */
	ENDS(execve, WAKES_ALL),
	ENDS(execveat, WAKES_ALL),
	ENDS(exit_group, WAKES_ALL),

	CALL(nanosleep, SLEEP, 0),
	CALL(clock_nanosleep, SLEEP, 0),
	CALL(rt_sigtimedwait, SLEEP, 0),
	CALL(rt_sigsuspend, SLEEP, 0),
#ifdef SYS_pause
	CALL(pause, SLEEP, 0),
#endif
	/* A signal ends any wait. */
	ENDS(kill, WAKES_ALL),
	ENDS(tkill, WAKES_ALL),
	ENDS(tgkill, WAKES_ALL),
	ENDS(rt_sigqueueinfo, WAKES_ALL),
	ENDS(rt_tgsigqueueinfo, WAKES_ALL),
#ifdef SYS_pidfd_send_signal
	ENDS(pidfd_send_signal, WAKES_ALL),
#endif
	ENDS(ptrace, WAKES(STOPPED)),

	CALL_ON(ioctl, BY_DRIVER, 0),

	CALL(io_getevents, STORAGE, 0),
#ifdef SYS_io_pgetevents
	CALL(io_pgetevents, STORAGE, 0),
#endif
#ifdef SYS_io_uring_enter
	CALL(io_uring_enter, STORAGE, WAKES(PIPE)),
#endif
};

void wait_calls_fill(struct wait_call *rows)
{
	for (size_t i = 0; i < WAIT_CALL_COUNT; i++)
		rows[i] = wait_calls[i].call;
}

const char *wait_call_name(unsigned int number)
{
	return number < WAIT_CALL_COUNT && wait_calls[number].name ? wait_calls[number].name : "";
}

#define STATE_NAME(id, name, ...) [THREAD_##id] = name,
const char *thread_state_name(unsigned int state)
{
	static const char *const names[THREAD_STATE_COUNT] = { THREAD_STATES(STATE_NAME) };

	return state < THREAD_STATE_COUNT ? names[state] : "";
}
