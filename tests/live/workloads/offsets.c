// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads and writes at known offsets and reports where every call took effect: each block of the
 * file begins with its own number, so that the content reveals the offset.
 *
 *   offsets FILE OUT shared     threads read one descriptor to its end
 *   offsets FILE OUT positioned threads read with pread64, preadv and preadv2 at random offsets
 *   offsets FILE OUT alone      one thread, every call that moves or ignores the file position
 *
 * OUT lists [tid, call, offset, result] in each thread's order.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "live.h"

#define THREADS 4
#define BLOCK 16384 /* large: a read takes long compared with the return from the kernel */
#define BLOCKS 3000
#define POSITIONED 3000

struct entry {
	const char *call;
	int64_t offset, result;
};

struct log {
	int fd;
	pid_t tid;
	size_t count;
	struct entry entries[BLOCKS + 16];
};

static void add(struct log *log, const char *call, int64_t offset, int64_t result)
{
	require(log->count < sizeof(log->entries) / sizeof(log->entries[0]));
	log->entries[log->count++] = (struct entry) { call, offset, result };
}

static int64_t offset_of(const char *block)
{
	uint64_t number;

	memcpy(&number, block, sizeof(number));
	return number * BLOCK;
}

static void make_blocks(int fd)
{
	char *all = calloc(BLOCKS, BLOCK);

	require(all != NULL);
	for (uint64_t i = 0; i < BLOCKS; i++)
		memcpy(all + i * BLOCK, &i, sizeof(i));
	require(write(fd, all, BLOCKS * BLOCK) == BLOCKS * BLOCK);
	free(all);
}

static void *read_shared(void *argument)
{
	struct log *log = argument;
	char block[BLOCK];
	struct iovec two[2] = { { block, 8 }, { block + 8, BLOCK - 8 } };
	ssize_t got = 1;

	log->tid = gettid();
	for (int turn = 0; got; turn++) {
		got = turn % 2 ? readv(log->fd, two, 2) : read(log->fd, block, BLOCK);
		require(got == BLOCK || got == 0);
		add(log, turn % 2 ? "readv" : "read", got ? offset_of(block) : BLOCKS * BLOCK, got);
	}
	return NULL;
}

static void *read_positioned(void *argument)
{
	static const char *const names[] = { "pread64", "preadv", "preadv2" };
	struct log *log = argument;
	uint64_t state;
	char block[BLOCK];
	struct iovec two[2] = { { block, 8 }, { block + 8, BLOCK - 8 } };

	log->tid = gettid();
	state = log->tid;
	for (int turn = 0; turn < POSITIONED; turn++) {
		off_t at = next_random(&state) % BLOCKS * BLOCK;
		ssize_t got = turn % 3 == 0   ? pread(log->fd, block, BLOCK, at)
			      : turn % 3 == 1 ? preadv(log->fd, two, 2, at)
					      : preadv2(log->fd, two, 2, at, 0);

		require(got == BLOCK && offset_of(block) == at);
		add(log, names[turn % 3], at, got);
	}
	return NULL;
}

/* The kernel's file position; queried outside the logged calls. */
static int64_t position(int fd)
{
	int64_t at = syscall(SYS_lseek, fd, 0l, SEEK_CUR);

	require(at >= 0);
	return at;
}

static void read_and_write_alone(struct log *log, const char *path)
{
	char block[BLOCK];
	struct iovec two[2] = { { block, 100 }, { block + 100, 200 } };
	int fd = log->fd, append = open(path, O_WRONLY | O_APPEND);
	int64_t at;

	require(append >= 0);
	log->tid = gettid();
	for (int turn = 0; turn < 50; turn++) {
		at = position(fd);
		add(log, "read", at, read(fd, block, 77));
		at = position(fd);
		add(log, "readv", at, readv(fd, two, 2));
		add(log, "pread64", 12345 + turn, pread(fd, block, 10, 12345 + turn));
		at = position(fd);
		add(log, "preadv2", at, preadv2(fd, two, 2, -1, 0));
		add(log, "preadv2", 999, preadv2(fd, two, 2, 999, 0));
		add(log, "preadv", 5l << 32, preadv(fd, two, 2, 5l << 32)); /* past the end */
		at = position(fd);
		add(log, "write", at, write(fd, block, 33));
		at = position(fd);
		add(log, "writev", at, writev(fd, two, 2));
		add(log, "pwrite64", turn, pwrite(fd, block, 3, turn));
		add(log, "pwritev", 50 + turn, pwritev(fd, two, 2, 50 + turn));
		at = position(fd);
		add(log, "pwritev2", at, pwritev2(fd, two, 2, -1, 0));
		at = lseek(fd, 0, SEEK_END);
		add(log, "write", at, write(append, block, 21));
		at += 21;
		add(log, "writev", at, writev(append, two, 2));
		lseek(fd, 1000 + turn * 1000, SEEK_SET);
	}
}

int main(int argc, char **argv)
{
	struct log *logs = calloc(THREADS, sizeof(*logs));
	pthread_t threads[THREADS];
	void *(*work)(void *) = read_shared;
	int fd, count = THREADS;
	const char *comma = "";
	FILE *out;

	require(argc == 4 && logs != NULL);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	require(fd >= 0);
	make_blocks(fd);
	require(lseek(fd, 0, SEEK_SET) == 0);
	for (int i = 0; i < THREADS; i++)
		logs[i].fd = fd;
	if (!strcmp(argv[3], "alone")) {
		read_and_write_alone(&logs[0], argv[1]);
		count = 0;
	} else if (!strcmp(argv[3], "positioned")) {
		work = read_positioned;
	} else {
		require(!strcmp(argv[3], "shared"));
	}
	for (int i = 0; i < count; i++)
		require(!pthread_create(&threads[i], NULL, work, &logs[i]));
	for (int i = 0; i < count; i++)
		require(!pthread_join(threads[i], NULL));
	out = fopen(argv[2], "w");
	require(out != NULL);
	fprintf(out, "[");
	for (int i = 0; i < THREADS; i++)
		for (size_t k = 0; k < logs[i].count; k++) {
			const struct entry *entry = &logs[i].entries[k];

			fprintf(out, "%s[%d, \"%s\", %ld, %ld]", comma, logs[i].tid, entry->call,
				entry->offset, entry->result);
			comma = ",\n";
		}
	fprintf(out, "]\n");
	require(fclose(out) == 0);
	return 0;
}
