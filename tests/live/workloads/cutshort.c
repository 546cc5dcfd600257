// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Faults that never end: touches pages of a mapping and is cut off.
 *
 * usage: cutshort exit FILE THREADS MILLISECONDS   threads touch distant pages; the process ends
 *                                                  while they do
 *        cutshort sigbus FILE OUT TIMES            touches pages beyond the file's end, then
 *                                                  computes
 *        cutshort touch FILE OUT                   touches one page after the other, forever;
 *                                                  OUT: when it began (monotonic, ns)
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "live.h"

#define PAGE 4096ul

static volatile unsigned char *map;
static size_t size;
static unsigned long threads;
static volatile unsigned int sum;
static sigjmp_buf back;

static void open_map(const char *path, size_t extra)
{
	struct stat status;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status)) {
		perror(path);
		exit(1);
	}
	size = status.st_size;
	map = mmap(NULL, size + extra, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
}

/* Each thread has its own part of the file, so that many wait at once. */
static void *touch_part(void *argument)
{
	size_t part = size / threads, start = (size_t)argument * part;

	for (size_t at = 0; at < part; at += PAGE)
		sum += map[start + at];
	pause();
	return NULL;
}

static int mode_exit(const char *path, const char *count, const char *milliseconds)
{
	pthread_t thread;

	open_map(path, 0);
	threads = strtoul(count, NULL, 10);
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, touch_part, (void *)i))
			return 1;
	usleep(strtoul(milliseconds, NULL, 10) * 1000);
	_exit(0);
}

static void jump_back(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static int mode_sigbus(const char *path, const char *out, const char *count)
{
	static volatile unsigned long i;
	unsigned long times = strtoul(count, NULL, 10);
	volatile uint64_t longest = 0, start;
	FILE *file;

	signal(SIGBUS, jump_back);
	open_map(path, times * PAGE);
	for (i = 0; i < times; i++) {
		start = now_ns();
		if (!sigsetjmp(back, 1))
			sum += map[size + i * PAGE];
		if (now_ns() - start > longest)
			longest = now_ns() - start;
	}
	/* Without calls or faults: the time of anything still considered in flight would grow. */
	for (start = now_ns(); now_ns() - start < 20 * longest + 50000000;)
		;
	file = fopen(out, "w");
	fprintf(file, "{\"size\": %zu, \"longest_ns\": %llu}\n", size, (unsigned long long)longest);
	return fclose(file);
}

static int mode_touch(const char *path, const char *out)
{
	FILE *file;

	open_map(path, 0);
	file = fopen(out, "w");
	fprintf(file, "%llu\n", (unsigned long long)now_ns());
	fclose(file);
	for (size_t at = 0; at < size; at += PAGE)
		sum += map[at];
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "exit"))
		return mode_exit(argv[2], argv[3], argv[4]);
	if (argc == 5 && !strcmp(argv[1], "sigbus"))
		return mode_sigbus(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "touch"))
		return mode_touch(argv[2], argv[3]);
	fprintf(stderr, "usage: cutshort exit|sigbus|touch FILE ...\n");
	return 2;
}
