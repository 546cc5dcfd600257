/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for data, or for room for it: pipes, sockets, queues, and calls that watch them. */
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "wait.h"

/* --- pipes --- */

static char page[65536]; /* no kernel here has larger ones */
static eventfd_t events;

STEP(pipe_block, read(ends[0], &byte, 1) >= 0);

static void full_prepare(void)
{
	pipe_prepare();
	require(fcntl(ends[1], F_SETPIPE_SZ, getpagesize()) == getpagesize());
	require(write(ends[1], page, getpagesize()) == getpagesize());
}

STEP(full_end, read(ends[0], page, getpagesize()) == getpagesize());
STEP(duplicate_end, dup3(2, ends[1], O_CLOEXEC) == ends[1]);

/* A child has the last descriptor of the other end, and executes a program. */
static void execute_prepare(void)
{
	pipe_prepare();
	other_end = fork();
	require(other_end >= 0);
	if (!other_end) {
		close(ends[0]);
		require(!prctl(PR_SET_PDEATHSIG, SIGKILL));
		raise(SIGSTOP);
		execl("/bin/true", "true", (char *)NULL);
		_exit(WORKLOAD_BROKEN);
	}
	require(waitpid(other_end, NULL, WUNTRACED) == other_end);
	close(ends[1]);
}

static void execute_end(void)
{
	it.waker_pid = it.waker_tid = other_end;
	require(!kill(other_end, SIGCONT));
}

static void execute_clean(void)
{
	require(waitpid(other_end, NULL, 0) == other_end);
	close(ends[0]);
}

static void interrupted_block(void)
{
	catch_signal(SIGUSR1);
	require(read(ends[0], &byte, 1) < 0);
}

static void splice_prepare(void)
{
	pipe_prepare();
	third = open("/dev/null", O_WRONLY | O_CLOEXEC);
	require(third >= 0);
}

STEP(splice_block, splice(ends[0], NULL, third, NULL, 1, 0) == 1);

/* --- sockets --- */

static void pair_prepare(void)
{
	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	it.object = inode_of(ends[0]);
}

STEP(message_block, recv(ends[0], &byte, 1, 0) == 1);
STEP(message_end, send(ends[1], "", 1, 0) == 1);

static struct sockaddr_in loopback = { .sin_family = AF_INET };

static void listen_prepare(void)
{
	socklen_t length = sizeof(loopback);

	loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	loopback.sin_port = 0;
	ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(ends[0] >= 0);
	require(!bind(ends[0], (struct sockaddr *)&loopback, length));
	require(!getsockname(ends[0], (struct sockaddr *)&loopback, &length));
	require(!listen(ends[0], 1));
	it.object = inode_of(ends[0]);
	other_end = -1;
}

STEP(accept_block, (other_end = accept(ends[0], NULL, NULL)) >= 0);

static void connect_end(void)
{
	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(!connect(ends[1], (struct sockaddr *)&loopback, sizeof(loopback)));
}

static void tcp_prepare(void)
{
	listen_prepare();
	connect_end();
	accept_block();
	it.object = inode_of(other_end);
}

STEP(tcp_block, read(other_end, &byte, 1) == 1);

static void tcp_clean(void)
{
	close(other_end);
	close_ends();
}

/* --- queues --- */

static void queue_prepare(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	char name[32];

	snprintf(name, sizeof(name), "/faultline-%d", getpid());
	third = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attributes);
	require(third >= 0);
	require(!mq_unlink(name));
	it.object = inode_of(third);
}

STEP(queue_block, mq_receive(third, &byte, 1, NULL) == 1);
STEP(queue_end, !mq_send(third, "", 1, 0));

STEP(sysv_prepare, (third = msgget(IPC_PRIVATE, 0600)) >= 0);
STEP(sysv_block, msgrcv(third, &(struct msgbuf) { 0 }, 1, 0, 0) == 1);
STEP(sysv_end, !msgsnd(third, &(struct msgbuf) { .mtype = 1 }, 1, 0));
STEP(sysv_clean, !msgctl(third, IPC_RMID, NULL));

/* --- events --- */

STEP(event_prepare, (ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC)) >= 0);
STEP(event_block, !eventfd_read(ends[0], &events));
STEP(event_end, !eventfd_write(ends[1], 1));

static void watched_prepare(void)
{
	pipe_prepare();
	it.object = 0; /* there may be several */
}

STEP(poll_block, poll(&(struct pollfd) { ends[0], POLLIN, 0 }, 1, -1) == 1);

static void select_block(void)
{
	fd_set watched;

	FD_ZERO(&watched);
	FD_SET(ends[0], &watched);
	require(select(ends[0] + 1, &watched, NULL, NULL, NULL) == 1);
}

static void epoll_prepare(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	watched_prepare(); /* epoll's own inode is that of all anonymous files */
	third = epoll_create1(EPOLL_CLOEXEC);
	require(third >= 0);
	require(!epoll_ctl(third, EPOLL_CTL_ADD, ends[0], &event));
}

STEP(epoll_block, epoll_wait(third, &(struct epoll_event) { 0 }, 1, -1) == 1);
