/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for locks of threads, processes and files. */
#include <semaphore.h>
#include <sys/file.h>
#include <sys/sem.h>

#include "wait.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static bool met;

static void mutex_prepare(void)
{
	require(!pthread_mutex_lock(&mutex));
	it.object = (uint64_t)&mutex;
}

STEP(mutex_block, !pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
STEP(mutex_end, !pthread_mutex_unlock(&mutex));

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

STEP(lending_block, !pthread_mutex_lock(&lending) && !pthread_mutex_unlock(&lending));
STEP(lending_end, !pthread_mutex_unlock(&lending));

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

STEP(semaphore_block, !sem_wait(&semaphore));
STEP(semaphore_end, !sem_post(&semaphore));

static void *help_by_exit(void *nothing)
{
	wait_until_asleep(getpid());
	wake(getpid(), own_tid());
	return nothing;
}

STEP(join_prepare, !pthread_create(&helper, NULL, help_by_exit, NULL));

static void semop_prepare(void)
{
	third = semget(IPC_PRIVATE, 1, 0600);
	require(third >= 0);
	it.object = third;
}

STEP(semop_block, !semop(third, &(struct sembuf) { .sem_op = -1 }, 1));
STEP(semop_end, !semop(third, &(struct sembuf) { .sem_op = 1 }, 1));
STEP(semop_clean, !semctl(third, 0, IPC_RMID));

static char lock_path[4096];

static void two_files(void)
{
	ends[0] = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ends[1] = open(lock_path, O_RDWR | O_CLOEXEC);
	require(ends[0] >= 0 && ends[1] >= 0);
	it.object = inode_of(ends[0]);
}

static void flock_prepare(void)
{
	two_files();
	require(!flock(ends[1], LOCK_EX));
}

STEP(flock_block, !flock(ends[0], LOCK_EX));
STEP(flock_end, !flock(ends[1], LOCK_UN));

static struct flock whole = { .l_type = F_WRLCK }, none = { .l_type = F_UNLCK };

static void record_prepare(void)
{
	two_files();
	require(!fcntl(ends[1], F_OFD_SETLK, &whole));
}

STEP(record_block, !fcntl(ends[0], F_OFD_SETLKW, &whole));
STEP(record_end, !fcntl(ends[1], F_OFD_SETLK, &none));
