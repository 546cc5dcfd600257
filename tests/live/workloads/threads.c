// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many threads, and threads that are blocked when their process ends.
 *
 *   threads pool          4 threads that compute, sleep and yield at each line of standard input
 *   threads crowd N       N threads that live at the same time, and sleep
 *   threads short N       N short threads, one after the other
 *   threads exec OUT [N]  the second of three blocked threads executes `threads short 1`; its id
 *                         differs from a blocked one's by a multiple of N
 *   threads exit          exits while three threads are blocked
 *   threads read FILE     reads FILE in pieces of 64 KiB with O_DIRECT
 */
#include "waits/blocked.h"

#define PIECE 65536

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

static int apart = 1; /* see above: N */

static bool differs(int tid)
{
	return (own_tid() - tid) % apart;
}

static void *execute(void *out)
{
	FILE *account;

	if (differs(tids[0]) && differs(tids[1]))
		return NULL;
	account = fopen(out, "w");

	require(account);
	fprintf(account, "{\"pid\": %d, \"tid\": %d}\n", getpid(), own_tid());
	require(!fclose(account));
	rest();
	execl("/proc/self/exe", "threads", "short", "1", (char *)NULL);
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
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			sched_yield();
		wait_until_blocked(getpid(), tids[i]);
		rest();
	}
}

/* Asks the kernel for a next id that differs from a blocked thread's by N, to create no threads
 * with those before. */
static void skip_ids(void)
{
	FILE *last = apart > 1 ? fopen("/proc/sys/kernel/ns_last_pid", "w") : NULL;

	if (!last)
		return;
	fprintf(last, "%d", tids[0] + (tids[0] < 2 * apart ? apart : -apart) - 1);
	fclose(last);
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
		if (argc > 3)
			apart = atoi(argv[3]);
		skip_ids();
		for (;;) {
			require(!pthread_create(&thread, NULL, execute, (void *)value));
			pthread_join(thread, NULL);
		}
	} else
		return WORKLOAD_BROKEN;
	return 0;
}
