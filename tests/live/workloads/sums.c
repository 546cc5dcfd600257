// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads and writes regular files from several processes and threads and adds up the results of the
 * calls, by kind; also reports /proc/self/io for the same work.
 *
 *   sums DIR OUT     DIR is on a file system with O_DIRECT; the sums go to OUT as JSON
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "live.h"

#define PROCESSES 3
#define THREADS 2
#define FILE_BYTES (1 << 20)
#define DIRECT_BYTES (256 << 10)

/* Bytes and calls by method, shared between the processes. */
struct sums {
	uint64_t read_bytes, read_count;
	uint64_t write_bytes, write_count;
	uint64_t direct_read_bytes, direct_read_count;
	uint64_t direct_write_bytes, direct_write_count;
	uint64_t transfer_bytes, transfer_count;
};

struct worker {
	const char *dir;
	int number;
};

static struct sums *sums;

static void add(uint64_t *bytes, uint64_t *count, ssize_t result)
{
	require(result >= 0);
	__atomic_fetch_add(bytes, result, __ATOMIC_RELAXED);
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static int open_in(const struct worker *worker, const char *name, int flags)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s-%d", worker->dir, name, worker->number);
	fd = open(path, flags, 0644);
	require(fd >= 0);
	return fd;
}

/* Writes a file of FILE_BYTES in pieces of many sizes, with every call that writes. */
static void write_file(int fd, char *buffer)
{
	uint64_t state = 88172645463325252ull, at = 0;

	for (int turn = 0; at < FILE_BYTES; turn++) {
		size_t n = 1 + next_random(&state) % 20000;
		struct iovec two[2] = { { buffer, n / 2 }, { buffer + n / 2, n - n / 2 } };
		ssize_t got;

		switch (turn % 5) {
		case 0:
			got = pwrite(fd, buffer, n, at);
			break;
		case 1:
			got = pwritev(fd, two, 2, at);
			break;
		case 2:
			got = pwritev2(fd, two, 2, at, 0);
			break;
		case 3:
			lseek(fd, at, SEEK_SET);
			got = write(fd, buffer, n);
			break;
		default:
			lseek(fd, at, SEEK_SET);
			got = writev(fd, two, 2);
			break;
		}
		add(&sums->write_bytes, &sums->write_count, got);
		at += got;
	}
}

/* Reads it back, and past its end. */
static void read_file(int fd, char *buffer)
{
	uint64_t state = 1234567, at = 0;
	ssize_t got = 1;

	lseek(fd, 0, SEEK_SET);
	for (int turn = 0; got; turn++) {
		size_t n = 1 + next_random(&state) % 20000;
		struct iovec two[2] = { { buffer, n / 2 }, { buffer + n / 2, n - n / 2 } };

		switch (turn % 5) {
		case 0:
			got = pread(fd, buffer, n, at);
			lseek(fd, at + got, SEEK_SET);
			break;
		case 1:
			got = preadv(fd, two, 2, at);
			lseek(fd, at + got, SEEK_SET);
			break;
		case 2:
			got = preadv2(fd, two, 2, -1, 0);
			break;
		case 3:
			got = read(fd, buffer, n);
			break;
		default:
			got = readv(fd, two, 2);
			break;
		}
		add(&sums->read_bytes, &sums->read_count, got);
		at += got;
	}
}

static void *work(void *argument)
{
	const struct worker *worker = argument;
	char *buffer =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd, to, direct;

	require(buffer != MAP_FAILED);
	memset(buffer, 'x', 1 << 20);
	fd = open_in(worker, "data", O_RDWR | O_CREAT | O_TRUNC);
	write_file(fd, buffer);
	read_file(fd, buffer);

	to = open_in(worker, "copy", O_RDWR | O_CREAT | O_TRUNC);
	lseek(fd, 0, SEEK_SET);
	add(&sums->transfer_bytes, &sums->transfer_count, sendfile(to, fd, NULL, 300000));
	add(&sums->transfer_bytes, &sums->transfer_count,
	    copy_file_range(fd, NULL, to, NULL, 200000, 0));

	direct = open_in(worker, "direct", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT);
	for (off_t at = 0; at < DIRECT_BYTES; at += 65536)
		add(&sums->direct_write_bytes, &sums->direct_write_count,
		    pwrite(direct, buffer, 65536, at));
	lseek(direct, 0, SEEK_SET);
	for (off_t at = 0; at < DIRECT_BYTES; at += 32768)
		add(&sums->direct_read_bytes, &sums->direct_read_count,
		    read(direct, buffer, 32768));
	return NULL;
}

static void work_in_threads(const char *dir, int process)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker) { dir, process * THREADS + i };
		require(!pthread_create(&threads[i], NULL, work, &workers[i]));
	}
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL));
}

/* rchar and wchar of this process and the children it has waited for. Returns the length read. */
static ssize_t read_io(uint64_t *rchar, uint64_t *wchar)
{
	char text[512];
	int fd = open("/proc/self/io", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	require(n > 0);
	text[n] = 0;
	require(sscanf(text, "rchar: %lu wchar: %lu", rchar, wchar) == 2);
	close(fd);
	return n;
}

int main(int argc, char **argv)
{
	uint64_t rchar[2], wchar[2];
	ssize_t own[2];
	FILE *out;

	require(argc == 3);
	sums = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	require(sums != MAP_FAILED);
	own[0] = read_io(&rchar[0], &wchar[0]);
	for (int i = 1; i < PROCESSES; i++)
		if (fork() == 0) {
			work_in_threads(argv[1], i);
			_exit(0);
		}
	work_in_threads(argv[1], 0);
	for (int i = 1; i < PROCESSES; i++) {
		int status;

		require(wait(&status) > 0 && status == 0);
	}
	/* The second reading includes the bytes of the first. */
	own[1] = read_io(&rchar[1], &wchar[1]);
	out = fopen(argv[2], "w");
	require(out != NULL);
	fprintf(out,
		"{\"read\": {\"bytes\": %lu, \"count\": %lu}, "
		"\"write\": {\"bytes\": %lu, \"count\": %lu}, "
		"\"direct_read\": {\"bytes\": %lu, \"count\": %lu}, "
		"\"direct_write\": {\"bytes\": %lu, \"count\": %lu}, "
		"\"transfer\": {\"bytes\": %lu, \"count\": %lu}, "
		"\"rchar\": %lu, \"wchar\": %lu, \"proc_bytes\": %zd}\n",
		sums->read_bytes, sums->read_count, sums->write_bytes, sums->write_count,
		sums->direct_read_bytes, sums->direct_read_count, sums->direct_write_bytes,
		sums->direct_write_count, sums->transfer_bytes, sums->transfer_count,
		rchar[1] - rchar[0] - own[0], wchar[1] - wchar[0], own[0] + own[1]);
	require(fclose(out) == 0);
	return 0;
}
