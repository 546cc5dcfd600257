// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A job that runs before Faultline attaches, and counts its operations from when the test says so.
 *
 *   present storm FILE SHARED
 *            consecutive short-lived processes and threads, each of which reads
 *   present work FILE SHARED OUT
 *            threads that read and fault on a mapping; FILE is opened and mapped beforehand
 *   present wait FILE SHARED OUT
 *            a thread blocks in flock() during the attach
 *   present touch FILE SHARED OUT
 *            faults on a mapping, the first during the attach
 *
 * A storm prints its number of reads at its end; the others write their counts to OUT.
 *
 * SHARED is a page of memory shared with the test: whether to count, and the counts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "live.h"

#define WORKERS 4
#define THREADS 3
#define READS 500
#define COUNTED_BYTES 17 /* length of counted reads; others differ */
#define STRIDE (64 << 10)

static struct shared {
	atomic_uint ready, stop, started;
	atomic_uint pad;
	atomic_ullong counted;
} * shared;

static int file;

static void read_one(void)
{
	bool counts = atomic_load(&shared->ready);
	char buffer[64];

	require(pread(file, buffer, counts ? COUNTED_BYTES : 18, 0) > 0);
	if (counts)
		atomic_fetch_add(&shared->counted, 1);
}

static void *read_in_thread(void *unused)
{
	read_one();
	return unused;
}

/* --- storm --- */

/* Each waits for its children: none is orphaned. */
static void generation(int depth)
{
	pthread_t thread;
	pid_t child;

	read_one();
	require(!pthread_create(&thread, NULL, read_in_thread, NULL));
	require(!pthread_join(thread, NULL));
	if (depth) {
		child = fork();
		require(child >= 0);
		if (!child) {
			generation(depth - 1);
			_exit(0);
		}
		require(waitpid(child, NULL, 0) == child);
	}
	read_one();
}

static void *spawn_threads(void *unused)
{
	while (!atomic_load(&shared->stop)) {
		pthread_t thread;

		require(!pthread_create(&thread, NULL, read_in_thread, NULL));
		require(!pthread_join(thread, NULL));
	}
	return unused;
}

static void storm(void)
{
	for (int i = 0; i < WORKERS; i++) {
		pid_t worker = fork();

		require(worker >= 0);
		if (!worker) {
			pthread_t thread;

			require(!pthread_create(&thread, NULL, spawn_threads, NULL));
			atomic_fetch_add(&shared->started, 1);
			while (!atomic_load(&shared->stop))
				generation(2);
			require(!pthread_join(thread, NULL));
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("%llu\n", (unsigned long long)atomic_load(&shared->counted));
}

/* --- work --- */

static void await_ready(void)
{
	while (!atomic_load(&shared->ready))
		usleep(1000);
}

static void *read_many(void *unused)
{
	await_ready();
	for (int i = 0; i < READS; i++)
		read_one();
	return unused;
}

static void work(const char *out)
{
	struct rusage before, after;
	pthread_t threads[THREADS];
	uint64_t start, sum = 0;
	volatile char *mapped;
	off_t size;
	FILE *account;

	size = lseek(file, 0, SEEK_END);
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	require(mapped != MAP_FAILED);
	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, read_many, NULL));
	atomic_store(&shared->started, 1);
	await_ready();
	getrusage(RUSAGE_THREAD, &before);
	start = now_ns();
	for (off_t at = 0; at < size; at += STRIDE)
		sum += mapped[at];
	getrusage(RUSAGE_THREAD, &after);
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL));
	account = fopen(out, "w");
	require(account);
	fprintf(account,
		"{\"pid\": %d, \"start\": %llu, \"end\": %llu, \"major\": %ld, \"minor\": %ld, "
		"\"sum\": %llu}\n",
		getpid(), (unsigned long long)start, (unsigned long long)now_ns(),
		after.ru_majflt - before.ru_majflt, after.ru_minflt - before.ru_minflt,
		(unsigned long long)sum);
	require(!fclose(account));
}

/* --- wait --- */

static void *stand_in_lock(void *path)
{
	int fd = open(path, O_RDONLY);

	atomic_fetch_add(&shared->started, 1);
	require(!flock(fd, LOCK_EX));
	read_one();
	return NULL;
}

static void stand(char *path, const char *out)
{
	FILE *account;
	pthread_t thread;

	require(!flock(file, LOCK_EX));
	require(!pthread_create(&thread, NULL, stand_in_lock, path));
	await_ready();
	require(!flock(file, LOCK_UN));
	require(!pthread_join(thread, NULL));
	account = fopen(out, "w");
	require(account);
	fprintf(account, "{\"pid\": %d}\n", getpid());
	require(!fclose(account));
}

/* --- touch --- */

static void touch(const char *out)
{
	off_t size = lseek(file, 0, SEEK_END);
	volatile char *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	struct rusage before, after;
	uint64_t sum = 0;
	FILE *account;

	require(mapped != MAP_FAILED && !madvise((void *)mapped, size, MADV_RANDOM));
	atomic_store(&shared->started, 1);
	sum += mapped[0];
	getrusage(RUSAGE_THREAD, &before);
	for (off_t at = STRIDE; at < size; at += STRIDE)
		sum += mapped[at];
	getrusage(RUSAGE_THREAD, &after);
	account = fopen(out, "w");
	require(account);
	fprintf(account, "{\"pid\": %d, \"major\": %ld, \"sum\": %llu}\n", getpid(),
		after.ru_majflt - before.ru_majflt, (unsigned long long)sum);
	require(!fclose(account));
}

int main(int argc, char **argv)
{
	int fd;

	require(argc > 3);
	file = open(argv[2], O_RDONLY);
	fd = open(argv[3], O_RDWR);
	require(file >= 0 && fd >= 0);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	require(shared != MAP_FAILED);
	if (!strcmp(argv[1], "storm"))
		storm();
	else if (!strcmp(argv[1], "work"))
		work(argv[4]);
	else if (!strcmp(argv[1], "touch"))
		touch(argv[4]);
	else
		stand(argv[2], argv[4]);
	return 0;
}
