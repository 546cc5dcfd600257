// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One thread after the other that waits for something, one for each kind of wait, and others that
 * end those waits. usage: waits OUT
 */
#include "waits/channels.h"
#include "waits/children.h"
#include "waits/devices.h"
#include "waits/locks.h"

#include "waits/opens.h"

static const struct {
	const char *name, *state, *call;
	void (*prepare)(void), (*block)(void), (*end)(void), (*clean)(void);
} waits[] = {
	{ "mutex", "lock", "futex", mutex_prepare, mutex_block, mutex_end, NULL },
	{ "lending mutex", "lock", "futex", lending_prepare, lending_block, lending_end, NULL },
	{ "thread's lending mutex", "lock", "futex", lent_by_thread_prepare, lending_block, NULL,
	  join_helper },
	{ "condition", "lock", "futex", NULL, condition_block, condition_end, NULL },
	{ "semaphore", "lock", "futex", semaphore_prepare, semaphore_block, semaphore_end, NULL },
	{ "join", "lock", "futex", join_prepare, join_helper, NULL, NULL },
	{ "semop", "lock", "semop|semtimedop", semop_prepare, semop_block, semop_end, semop_clean },
	{ "flock", "lock", "flock", flock_prepare, flock_block, flock_end, close_ends },
	{ "flock, closed", "lock", "flock", flock_prepare, flock_block, close_end, close_ends },
	{ "record lock", "lock", "fcntl", record_prepare, record_block, record_end, close_ends },
	{ "pipe", "pipe", "read", pipe_prepare, pipe_block, byte_end, close_ends },
	{ "full pipe", "pipe", "write", full_prepare, byte_end, full_end, close_ends },
	{ "closed pipe", "pipe", "read", pipe_prepare, pipe_block, close_end, close_ends },
	{ "replaced pipe", "pipe", "read", pipe_prepare, pipe_block, duplicate_end, close_ends },
	{ "pipe closed by exec", "pipe", "read", execute_prepare, pipe_block, execute_end,
	  execute_clean },
	{ "interrupted", "pipe", "read", pipe_prepare, interrupted_block, kick_end, close_ends },
	{ "FIFO", "pipe", "open|openat", fifo_prepare, fifo_block, fifo_end, fifo_clean },
	{ "socket pair", "pipe", "recvfrom", pair_prepare, message_block, message_end, close_ends },
	{ "tcp", "pipe", "read", tcp_prepare, tcp_block, byte_end, tcp_clean },
	{ "accept", "pipe", "accept", listen_prepare, accept_block, connect_end, tcp_clean },
	{ "eventfd", "pipe", "read", event_prepare, event_block, event_end, close_ends },
	{ "poll", "pipe", "poll|ppoll", watched_prepare, poll_block, byte_end, close_ends },
	{ "select", "pipe", "select|pselect6", watched_prepare, select_block, byte_end,
	  close_ends },
	{ "epoll", "pipe", "epoll_wait|epoll_pwait", epoll_prepare, epoll_block, byte_end,
	  close_third_and_ends },
	{ "message queue", "pipe", "mq_timedreceive", queue_prepare, queue_block, queue_end,
	  close_third },
	{ "messages", "pipe", "msgrcv", sysv_prepare, sysv_block, sysv_end, sysv_clean },
	{ "splice", "pipe", "splice", splice_prepare, splice_block, byte_end,
	  close_third_and_ends },
	{ "wait4", "child", "wait4", child_prepare, child_block, child_end, NULL },
	{ "waitid", "child", "waitid", child_prepare, child_id_block, child_end, NULL },
	{ "vfork", "child", "vfork|clone|clone3", NULL, vfork_block, NULL, NULL },
	{ "vfork, exec", "child", "vfork|clone|clone3", NULL, vfork_exec_block, NULL, NULL },
	{ "sleep", "sleep", "nanosleep|clock_nanosleep", NULL, sleep_block, NULL, NULL },
	{ "signal", "sleep", "rt_sigtimedwait", NULL, signal_block, signal_end, NULL },
	{ "pause", "sleep", "pause|ppoll", NULL, pause_block, kick_end, NULL },
	{ "kernel log", "device", "read", log_prepare, log_block, log_end, close_ends },
	{ "ioctl", "device", "ioctl", ioctl_prepare, ioctl_block, ioctl_end, ioctl_clean },
	{ "io_uring", "storage", "", uring_prepare, uring_block, byte_end, close_third_and_ends },
	{ "absent page", "other", "", absent_prepare, absent_block, absent_end, close_ends },
};
#define WAIT_COUNT (sizeof(waits) / sizeof(waits[0]))

static void *run_one(void *number)
{
	it.tid = own_tid();
	it.before = now_ns();
	__atomic_store_n(&it.begun, true, __ATOMIC_RELEASE);
	waits[(size_t)number].block();
	it.after = now_ns();
	return NULL;
}

static void each(const char *out)
{
	FILE *account = fopen(out, "w");

	require(account);
	snprintf(lock_path, sizeof(lock_path), "%s.lock", out);
	fprintf(account, "[");
	for (size_t i = 0; i < WAIT_COUNT; i++) {
		memset(&it, 0, sizeof(it));
		ends[0] = ends[1] = 0;
		if (waits[i].prepare)
			waits[i].prepare();
		if (ends[0] < 0) /* this kernel or its settings do not allow it */
			continue;
		require(!pthread_create(&waiter, NULL, run_one, (void *)i));
		if (waits[i].end) {
			wait_until_asleep(getpid());
			wake(getpid(), own_tid());
			waits[i].end();
		}
		require(!pthread_join(waiter, NULL));
		if (waits[i].clean)
			waits[i].clean();
		fprintf(account,
			"%s\n{\"name\": \"%s\", \"state\": \"%s\", \"call\": \"%s\", \"pid\": %d, "
			"\"tid\": %d, \"before\": %llu, \"asleep\": %llu, \"ended\": %llu, "
			"\"after\": %llu, \"waker\": [%d, %d], \"owner\": %d, "
			"\"object\": %llu}",
			i ? "," : "", waits[i].name, waits[i].state, waits[i].call, getpid(),
			it.tid, (unsigned long long)it.before, (unsigned long long)it.asleep,
			(unsigned long long)it.ended, (unsigned long long)it.after, it.waker_pid,
			it.waker_tid, it.owner, (unsigned long long)it.object);
	}
	fprintf(account, "]\n");
	require(!fclose(account));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return WORKLOAD_BROKEN;
	each(argv[1]);
	return 0;
}
