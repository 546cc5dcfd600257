// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads that each wait for one thing, and others that end those waits.
 *
 *   waits each OUT      one thread after the other, one for each kind of wait
 *   waits pool          4 threads that compute, sleep and yield at each line of standard input
 *   waits crowd N OUT   N threads that live at the same time, and sleep
 *   waits short N       N short threads, one after the other
 *   waits exec OUT      the second of three blocked threads executes `waits short 1`
 *   waits exit          exits while three threads are blocked
 *   waits read FILE     reads FILE in pieces of 64 KiB with O_DIRECT
 *
 * Times are of CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "live.h"

#define PAUSE_NS 2000000 /* waits of 1 ms or longer are recorded */
#define PIECE 65536

/* The current wait, and the thread that ends it. */
static struct wait {
	pid_t tid;
	uint64_t before, asleep, ended, after;
	pid_t waker_pid, waker_tid;
	pid_t owner; /* thread that has the lock; 0: not of a kind whose owner is known */
	uint64_t object;
	bool begun;
} it;

static int ends[2], other_end, third;
static pthread_t waiter, helper;

static pid_t own_tid(void)
{
	return syscall(SYS_gettid);
}

static void rest(void)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };

	require(!nanosleep(&pause, NULL));
}

/* Whether a thread has no CPU and is blocked. Its status says so before it leaves the CPU; this
 * file does when it has. */
static bool is_blocked(pid_t pid, pid_t tid)
{
	char path[64], text[8] = "";
	int file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	require(file >= 0);
	require(read(file, text, sizeof(text) - 1) > 0);
	close(file);
	return strcmp(text, "running");
}

/* Returns a while after the waiting thread is blocked. */
static void wait_until_asleep(pid_t pid)
{
	while (!__atomic_load_n(&it.begun, __ATOMIC_ACQUIRE))
		sched_yield();
	while (!is_blocked(pid, it.tid))
		sched_yield();
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

static void on_signal(int number)
{
	(void)number;
}

static void catch (int number)
{
	struct sigaction action = { .sa_handler = on_signal };

	require(!sigaction(number, &action, NULL));
}

/* --- locks --- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static bool met;

static void mutex_prepare(void)
{
	require(!pthread_mutex_lock(&mutex));
	it.object = (uint64_t)&mutex;
}

static void mutex_block(void)
{
	require(!pthread_mutex_lock(&mutex));
	require(!pthread_mutex_unlock(&mutex));
}

static void mutex_end(void)
{
	require(!pthread_mutex_unlock(&mutex));
}

/* A lock that lends its waiter's priority: the kernel knows which thread has it. */
static pthread_mutex_t lending;

static void lending_make(void)
{
	pthread_mutexattr_t attributes;

	require(!pthread_mutexattr_init(&attributes));
	require(!pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
	require(!pthread_mutex_init(&lending, &attributes));
	it.object = (uint64_t)&lending;
}

static void lending_prepare(void)
{
	lending_make();
	require(!pthread_mutex_lock(&lending));
	it.owner = own_tid();
}

static void lending_block(void)
{
	require(!pthread_mutex_lock(&lending));
	require(!pthread_mutex_unlock(&lending));
}

static void lending_end(void)
{
	require(!pthread_mutex_unlock(&lending));
}

static void *own_until_asleep(void *nothing)
{
	require(!pthread_mutex_lock(&lending));
	__atomic_store_n(&it.owner, own_tid(), __ATOMIC_RELEASE);
	wait_until_asleep(getpid());
	wake(getpid(), own_tid());
	require(!pthread_mutex_unlock(&lending));
	return nothing;
}

static void lent_by_thread_prepare(void)
{
	lending_make();
	require(!pthread_create(&helper, NULL, own_until_asleep, NULL));
	while (!__atomic_load_n(&it.owner, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void join_helper(void)
{
	require(!pthread_join(helper, NULL));
}

static void condition_block(void)
{
	require(!pthread_mutex_lock(&mutex));
	while (!met)
		require(!pthread_cond_wait(&condition, &mutex));
	require(!pthread_mutex_unlock(&mutex));
}

static void condition_end(void)
{
	met = true;
	require(!pthread_cond_signal(&condition));
}

static void semaphore_prepare(void)
{
	require(!sem_init(&semaphore, 0, 0));
	it.object = (uint64_t)&semaphore;
}

static void semaphore_block(void)
{
	require(!sem_wait(&semaphore));
}

static void semaphore_end(void)
{
	require(!sem_post(&semaphore));
}

static void *help_by_exit(void *nothing)
{
	wait_until_asleep(getpid());
	wake(getpid(), own_tid());
	return nothing;
}

static void join_prepare(void)
{
	require(!pthread_create(&helper, NULL, help_by_exit, NULL));
}

static void join_block(void)
{
	require(!pthread_join(helper, NULL));
}

static void semop_prepare(void)
{
	third = semget(IPC_PRIVATE, 1, 0600);
	require(third >= 0);
	it.object = third;
}

static void semop_block(void)
{
	struct sembuf take = { .sem_op = -1 };

	require(!semop(third, &take, 1));
}

static void semop_end(void)
{
	struct sembuf give = { .sem_op = 1 };

	require(!semop(third, &give, 1));
}

static void semop_clean(void)
{
	require(!semctl(third, 0, IPC_RMID));
}

static char scratch[4096];

static void two_files(void)
{
	ends[0] = open(scratch, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ends[1] = open(scratch, O_RDWR | O_CLOEXEC);
	require(ends[0] >= 0 && ends[1] >= 0);
	it.object = inode_of(ends[0]);
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

static void flock_prepare(void)
{
	two_files();
	require(!flock(ends[1], LOCK_EX));
}

static void flock_block(void)
{
	require(!flock(ends[0], LOCK_EX));
}

static void flock_end(void)
{
	require(!flock(ends[1], LOCK_UN));
}

static void close_end(void)
{
	require(!close(ends[1]));
}

static struct flock whole = { .l_type = F_WRLCK };

static void record_prepare(void)
{
	two_files();
	require(!fcntl(ends[1], F_OFD_SETLK, &whole));
}

static void record_block(void)
{
	require(!fcntl(ends[0], F_OFD_SETLKW, &whole));
}

static void record_end(void)
{
	struct flock none = { .l_type = F_UNLCK };

	require(!fcntl(ends[1], F_OFD_SETLK, &none));
}

/* --- pipes and sockets --- */

static void pipe_prepare(void)
{
	require(!pipe2(ends, O_CLOEXEC));
	it.object = inode_of(ends[0]);
}

static void pipe_block(void)
{
	char byte;

	require(read(ends[0], &byte, 1) >= 0);
}

static void byte_end(void)
{
	require(write(ends[1], "", 1) == 1);
}

static void full_prepare(void)
{
	static char page[4096];

	pipe_prepare();
	require(fcntl(ends[1], F_SETPIPE_SZ, sizeof(page)) == sizeof(page));
	require(write(ends[1], page, sizeof(page)) == sizeof(page));
}

static void full_block(void)
{
	require(write(ends[1], "", 1) == 1);
}

static void full_end(void)
{
	static char page[4096];

	require(read(ends[0], page, sizeof(page)) == sizeof(page));
}

static void duplicate_end(void)
{
	require(dup3(2, ends[1], O_CLOEXEC) == ends[1]);
}

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

static void kick_end(void)
{
	require(!pthread_kill(waiter, SIGUSR1));
}

static void interrupted_block(void)
{
	char byte;

	catch (SIGUSR1);
	require(read(ends[0], &byte, 1) < 0);
}

static void pair_prepare(void)
{
	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	it.object = inode_of(ends[0]);
}

static void message_block(void)
{
	char byte;

	require(recv(ends[0], &byte, 1, 0) == 1);
}

static void message_end(void)
{
	require(send(ends[1], "", 1, 0) == 1);
}

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

static void accept_block(void)
{
	other_end = accept(ends[0], NULL, NULL);
	require(other_end >= 0);
}

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

static void tcp_block(void)
{
	char byte;

	require(read(other_end, &byte, 1) == 1);
}

static void tcp_clean(void)
{
	close(other_end);
	close_ends();
}

static void event_prepare(void)
{
	ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC);
	require(ends[0] >= 0);
}

static void event_block(void)
{
	uint64_t count;

	require(read(ends[0], &count, sizeof(count)) == sizeof(count));
}

static void event_end(void)
{
	uint64_t one = 1;

	require(write(ends[1], &one, sizeof(one)) == sizeof(one));
}

static void watched_prepare(void)
{
	pipe_prepare();
	it.object = 0;
}

static void poll_block(void)
{
	struct pollfd watched = { ends[0], POLLIN, 0 };

	require(poll(&watched, 1, -1) == 1);
}

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

	pipe_prepare();
	third = epoll_create1(EPOLL_CLOEXEC);
	require(third >= 0);
	require(!epoll_ctl(third, EPOLL_CTL_ADD, ends[0], &event));
	it.object = 0; /* the inode of all anonymous files */
}

static void epoll_block(void)
{
	struct epoll_event event;

	require(epoll_wait(third, &event, 1, -1) == 1);
}

static void epoll_clean(void)
{
	close(third);
	close_ends();
}

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

static void queue_block(void)
{
	char byte;

	require(mq_receive(third, &byte, 1, NULL) == 1);
}

static void queue_end(void)
{
	require(!mq_send(third, "", 1, 0));
}

static void close_third(void)
{
	close(third);
}

static void sysv_prepare(void)
{
	third = msgget(IPC_PRIVATE, 0600);
	require(third >= 0);
}

static void sysv_block(void)
{
	struct msgbuf message;

	require(msgrcv(third, &message, 1, 0, 0) == 1);
}

static void sysv_end(void)
{
	struct msgbuf message = { .mtype = 1 };

	require(!msgsnd(third, &message, 1, 0));
}

static void sysv_clean(void)
{
	require(!msgctl(third, IPC_RMID, NULL));
}

static void splice_block(void)
{
	require(splice(ends[0], NULL, third, NULL, 1, 0) == 1);
}

static void splice_prepare(void)
{
	pipe_prepare();
	third = open("/dev/null", O_WRONLY | O_CLOEXEC);
	require(third >= 0);
}

/* --- children --- */

static void child_prepare(void)
{
	other_end = fork();
	require(other_end >= 0);
	if (!other_end)
		for (;;)
			pause();
}

static void child_block(void)
{
	require(waitpid(other_end, NULL, 0) == other_end);
}

static void child_id_block(void)
{
	siginfo_t status;

	require(!waitid(P_PID, other_end, &status, WEXITED));
}

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

/* --- sleep --- */

static void sleep_block(void)
{
	wake(0, 0);
	rest();
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

static void signal_end(void)
{
	require(!pthread_kill(waiter, SIGUSR2));
}

static void pause_block(void)
{
	catch (SIGUSR1);
	require(pause() < 0);
}

/* --- devices --- */

static void log_prepare(void)
{
	struct stat status;

	ends[0] = open("/dev/kmsg", O_RDWR | O_CLOEXEC);
	if (ends[0] < 0)
		return;
	ends[1] = dup(ends[0]);
	require(lseek(ends[0], 0, SEEK_END) >= 0);
	require(!fstat(ends[0], &status));
	it.object = (uint64_t)major(status.st_rdev) << 20 | minor(status.st_rdev);
}

static void log_block(void)
{
	char line[8192];

	require(read(ends[0], line, sizeof(line)) > 0);
}

/* The kernel wakes readers in an interrupt. */
static void log_end(void)
{
	it.waker_pid = -1;
	static const char line[] = "<7>faultline: a test\n";

	require(write(ends[1], line, sizeof(line) - 1) == sizeof(line) - 1);
}

static sem_t may_ask, listens;

/* A thread whose calls of getppid() are answered by whoever waits in ioctl(). */
static void *asks(void *nothing)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	require(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ends[0] = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &filter);
	require(!sem_post(&listens));
	if (ends[0] < 0)
		return nothing;
	require(!sem_wait(&may_ask));
	syscall(SYS_getppid);
	return nothing;
}

static void ioctl_prepare(void)
{
	require(!sem_init(&may_ask, 0, 0) && !sem_init(&listens, 0, 0));
	require(!pthread_create(&helper, NULL, asks, NULL));
	require(!sem_wait(&listens));
}

static void ioctl_block(void)
{
	struct seccomp_notif question = {};

	require(!ioctl(ends[0], SECCOMP_IOCTL_NOTIF_RECV, &question));
}

static void ioctl_end(void)
{
	it.waker_pid = -1;
	require(!sem_post(&may_ask));
}

static void ioctl_clean(void)
{
	close(ends[0]);
	require(!pthread_join(helper, NULL));
}

/* --- storage, and other waits --- */

static struct io_uring_params parameters;
static struct io_uring_sqe *entries;
static char *rings;

static void uring_prepare(void)
{
	static char byte;

	pipe_prepare();
	memset(&parameters, 0, sizeof(parameters));
	third = syscall(SYS_io_uring_setup, 1, &parameters);
	if (third < 0) {
		close_ends();
		ends[0] = -1;
		return;
	}
	rings = mmap(NULL, parameters.sq_off.array + sizeof(uint32_t), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, third, IORING_OFF_SQ_RING);
	entries = mmap(NULL, sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       third, IORING_OFF_SQES);
	require(rings != MAP_FAILED && entries != MAP_FAILED);
	*entries = (struct io_uring_sqe) { .opcode = IORING_OP_READ, .fd = ends[0], .len = 1 };
	entries->addr = (uint64_t)&byte;
	*(uint32_t *)(rings + parameters.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(rings + parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
}

static void uring_block(void)
{
	require(syscall(SYS_io_uring_enter, third, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
}

static char *absent;

static void absent_prepare(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	ends[0] = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (ends[0] < 0)
		return;
	ends[1] = -1;
	require(!ioctl(ends[0], UFFDIO_API, &api));
	absent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(absent != MAP_FAILED);
	range.range.start = (uint64_t)absent;
	range.range.len = 4096;
	require(!ioctl(ends[0], UFFDIO_REGISTER, &range));
}

static void absent_block(void)
{
	*(volatile char *)absent = 1;
}

static void absent_end(void)
{
	struct uffdio_zeropage fill = { .range = { (uint64_t)absent, 4096 } };

	it.waker_pid = -1;
	require(!ioctl(ends[0], UFFDIO_ZEROPAGE, &fill));
}

/* --- each of them --- */

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
	{ "join", "lock", "futex", join_prepare, join_block, NULL, NULL },
	{ "semop", "lock", "semop|semtimedop", semop_prepare, semop_block, semop_end, semop_clean },
	{ "flock", "lock", "flock", flock_prepare, flock_block, flock_end, close_ends },
	{ "flock, closed", "lock", "flock", flock_prepare, flock_block, close_end, close_ends },
	{ "record lock", "lock", "fcntl", record_prepare, record_block, record_end, close_ends },
	{ "pipe", "pipe", "read", pipe_prepare, pipe_block, byte_end, close_ends },
	{ "full pipe", "pipe", "write", full_prepare, full_block, full_end, close_ends },
	{ "closed pipe", "pipe", "read", pipe_prepare, pipe_block, close_end, close_ends },
	{ "replaced pipe", "pipe", "read", pipe_prepare, pipe_block, duplicate_end, close_ends },
	{ "pipe closed by exec", "pipe", "read", execute_prepare, pipe_block, execute_end,
	  execute_clean },
	{ "interrupted", "pipe", "read", pipe_prepare, interrupted_block, kick_end, close_ends },
	{ "socket pair", "pipe", "recvfrom", pair_prepare, message_block, message_end, close_ends },
	{ "accept", "pipe", "accept", listen_prepare, accept_block, connect_end, tcp_clean },
	{ "tcp", "pipe", "read", tcp_prepare, tcp_block, byte_end, tcp_clean },
	{ "eventfd", "pipe", "read", event_prepare, event_block, event_end, close_ends },
	{ "poll", "pipe", "poll|ppoll", watched_prepare, poll_block, byte_end, close_ends },
	{ "select", "pipe", "select|pselect6", watched_prepare, select_block, byte_end,
	  close_ends },
	{ "epoll", "pipe", "epoll_wait|epoll_pwait", epoll_prepare, epoll_block, byte_end,
	  epoll_clean },
	{ "message queue", "pipe", "mq_timedreceive", queue_prepare, queue_block, queue_end,
	  close_third },
	{ "messages", "pipe", "msgrcv", sysv_prepare, sysv_block, sysv_end, sysv_clean },
	{ "splice", "pipe", "splice", splice_prepare, splice_block, byte_end, epoll_clean },
	{ "wait4", "child", "wait4", child_prepare, child_block, child_end, NULL },
	{ "waitid", "child", "waitid", child_prepare, child_id_block, child_end, NULL },
	{ "vfork", "child", "vfork|clone|clone3", NULL, vfork_block, NULL, NULL },
	{ "vfork, exec", "child", "vfork|clone|clone3", NULL, vfork_exec_block, NULL, NULL },
	{ "sleep", "sleep", "nanosleep|clock_nanosleep", NULL, sleep_block, NULL, NULL },
	{ "signal", "sleep", "rt_sigtimedwait", NULL, signal_block, signal_end, NULL },
	{ "pause", "sleep", "pause|ppoll", NULL, pause_block, kick_end, NULL },
	{ "kernel log", "device", "read", log_prepare, log_block, log_end, close_ends },
	{ "ioctl", "device", "ioctl", ioctl_prepare, ioctl_block, ioctl_end, ioctl_clean },
	{ "io_uring", "storage", "", uring_prepare, uring_block, byte_end, epoll_clean },
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
	snprintf(scratch, sizeof(scratch), "%s.lock", out);
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

/* --- many threads --- */

static int starts[2], is_done[2];

static void compute(unsigned int rounds)
{
	volatile unsigned int sum = 0;

	for (unsigned int i = 0; i < rounds; i++)
		sum += i;
}

static void *work(void *nothing)
{
	char byte;

	while (read(starts[0], &byte, 1) == 1) {
		for (int i = 0; i < 20; i++) {
			compute(300000);
			sched_yield();
			if (i % 4 == 0)
				rest();
		}
		require(write(is_done[1], "", 1) == 1);
	}
	return nothing;
}

#define POOL 4

static void pool(void)
{
	pthread_t threads[POOL];
	char line[2], bytes[POOL];

	require(!pipe(starts) && !pipe(is_done));
	for (int i = 0; i < POOL; i++)
		require(!pthread_create(&threads[i], NULL, work, NULL));
	while (read(0, line, 1) == 1) {
		require(write(starts[1], bytes, POOL) == POOL);
		for (int i = 0; i < POOL; i++)
			require(read(is_done[0], bytes, 1) == 1);
		require(write(1, "done\n", 5) == 5);
	}
	_exit(0);
}

static void *sleep_once(void *nothing)
{
	rest();
	return nothing;
}

static void *compute_once(void *nothing)
{
	compute(1000);
	return nothing;
}

static pthread_barrier_t all_are_here;

static void *sleep_among(void *nothing)
{
	pthread_barrier_wait(&all_are_here);
	rest();
	pthread_barrier_wait(&all_are_here);
	return nothing;
}

static void crowd(long count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;

	require(threads && !pthread_barrier_init(&all_are_here, NULL, count));
	require(!pthread_attr_init(&attributes));
	require(!pthread_attr_setstacksize(&attributes, 64 << 10));
	for (long i = 0; i < count; i++)
		require(!pthread_create(&threads[i], &attributes, sleep_among, NULL));
	for (long i = 0; i < count; i++)
		require(!pthread_join(threads[i], NULL));
}

static void one_by_one(long count)
{
	pthread_t thread;

	for (long i = 0; i < count; i++) {
		require(!pthread_create(&thread, NULL, i % 16 ? compute_once : sleep_once, NULL));
		require(!pthread_join(thread, NULL));
	}
}

static pid_t tids[2];

static void *execute(void *out)
{
	FILE *account = fopen(out, "w");

	require(account);
	fprintf(account, "{\"pid\": %d, \"tid\": %d}\n", getpid(), own_tid());
	require(!fclose(account));
	rest();
	execl("/proc/self/exe", "waits", "short", "1", (char *)NULL);
	_exit(WORKLOAD_BROKEN);
}

static void *block(void *number)
{
	char byte;

	__atomic_store_n(&tids[(size_t)number], own_tid(), __ATOMIC_RELEASE);
	require(read(starts[0], &byte, 1) == 1);
	return NULL;
}

/* Two threads that are blocked in a pipe. */
static void two_blocked(void)
{
	pthread_t threads[2];

	require(!pipe(starts));
	for (size_t i = 0; i < 2; i++) {
		require(!pthread_create(&threads[i], NULL, block, (void *)i));
		memset(&it, 0, sizeof(it));
		while (!(it.tid = __atomic_load_n(&tids[i], __ATOMIC_ACQUIRE)))
			sched_yield();
		it.begun = true;
		wait_until_asleep(getpid());
	}
}

static void read_direct(const char *path)
{
	int file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	void *piece;

	require(file >= 0 && !posix_memalign(&piece, 4096, PIECE));
	for (off_t at = 0; pread(file, piece, PIECE, at) == PIECE; at += PIECE)
		;
	close(file);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *value = argc > 2 ? argv[2] : NULL;
	pthread_t thread;

	if (!strcmp(what, "pool"))
		pool();
	else if (!strcmp(what, "each") && value)
		each(value);
	else if (!strcmp(what, "crowd") && value)
		crowd(atol(value));
	else if (!strcmp(what, "short") && value)
		one_by_one(atol(value));
	else if (!strcmp(what, "read") && value)
		read_direct(value);
	else if (!strcmp(what, "exit") || (!strcmp(what, "exec") && value)) {
		two_blocked();
		if (!value)
			exit(0);
		require(!pthread_create(&thread, NULL, execute, (void *)value));
		pthread_join(thread, NULL);
	} else
		return WORKLOAD_BROKEN;
	return 0;
}
