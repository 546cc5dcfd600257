/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for devices and storage, and for a page that another thread provides. */
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>

#include "wait.h"

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

STEP(log_block, read(ends[0], (char[8192]) { 0 }, 8192) > 0);

/* The kernel wakes readers in an interrupt. */
static void log_end(void)
{
	static const char line[] = "<7>faultline: a test\n";

	it.waker_pid = -1;
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

STEP(ioctl_block, !ioctl(ends[0], SECCOMP_IOCTL_NOTIF_RECV, &(struct seccomp_notif) { 0 }));

static void ioctl_end(void)
{
	it.waker_pid = -1;
	require(!sem_post(&may_ask));
}

static void ioctl_clean(void)
{
	close(ends[0]);
	join_helper();
}

/* --- storage, and absent pages --- */

static struct io_uring_params parameters;
static struct io_uring_sqe *entries;
static char *rings;

static void uring_prepare(void)
{
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

STEP(uring_block, syscall(SYS_io_uring_enter, third, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);

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
	absent = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	require(absent != MAP_FAILED);
	range.range.start = (uint64_t)absent;
	range.range.len = getpagesize();
	require(!ioctl(ends[0], UFFDIO_REGISTER, &range));
}

static void absent_block(void)
{
	*(volatile char *)absent = 1;
}

static void absent_end(void)
{
	struct uffdio_zeropage fill = { .range = { (uint64_t)absent, getpagesize() } };

	it.waker_pid = -1;
	require(!ioctl(ends[0], UFFDIO_ZEROPAGE, &fill));
}
