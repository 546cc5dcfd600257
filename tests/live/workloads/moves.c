// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Moves bytes to and from files through every transfer system call, each with its own files, and
 * reports the number of calls and bytes.
 *
 *   moves make DIR      creates the files to read
 *   moves DIR OUT
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "live.h"

#define FILE_BYTES (1 << 20)
#define PIECE 4096
#define READS 100
#define VECTORS 30
#define WRITES 50
#define STEP (3 * PIECE) /* between reads, cyclically */
#define CHUNK 200000	 /* per transfer */

struct sums {
	uint64_t calls, bytes;
};

static const char *directory;
static char buffer[FILE_BYTES];

static int file_open(const char *name, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags, 0644);
	require(fd >= 0);
	return fd;
}

static void make(void)
{
	static const char *const names[] = { "pread", "preadv", "sent", "spliced", "copied" };
	uint64_t random = 1;

	for (size_t i = 0; i < sizeof(buffer); i++)
		buffer[i] = next_random(&random);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = file_open(names[i], O_WRONLY | O_CREAT | O_TRUNC);

		require(write(fd, buffer, sizeof(buffer)) == sizeof(buffer));
		require(!fsync(fd) && !close(fd));
	}
}

static struct sums read_pieces(void)
{
	struct sums sums = { 0 };
	int fd = file_open("pread", O_RDONLY);

	for (; sums.calls < READS; sums.calls++) {
		off_t at = sums.calls * STEP % FILE_BYTES;

		require(pread(fd, buffer, PIECE, at) == PIECE);
		sums.bytes += PIECE;
	}
	close(fd);
	return sums;
}

static struct sums read_vectors(void)
{
	struct iovec vector[] = { { buffer, 1000 }, { buffer + PIECE, 2000 } };
	struct sums sums = { 0 };
	int fd = file_open("preadv", O_RDONLY);

	for (; sums.calls < VECTORS; sums.calls++) {
		require(preadv(fd, vector, 2, sums.calls * PIECE) == 3000);
		sums.bytes += 3000;
	}
	close(fd);
	return sums;
}

static struct sums write_pieces(const char *name, int flags)
{
	struct sums sums = { 0 };
	int fd = file_open(name, O_WRONLY | O_CREAT | O_TRUNC | flags);

	for (; sums.calls < WRITES; sums.calls++) {
		require(write(fd, buffer, 5000) == 5000);
		sums.bytes += 5000;
	}
	require(!fsync(fd));
	close(fd);
	return sums;
}

static struct sums write_vectors(void)
{
	struct iovec vector[] = { { buffer, 700 }, { buffer + PIECE, 800 } };
	struct sums sums = { 0 };
	int fd = file_open("writev", O_WRONLY | O_CREAT | O_TRUNC);

	for (; sums.calls < VECTORS; sums.calls++) {
		require(writev(fd, vector, 2) == 1500);
		sums.bytes += 1500;
	}
	close(fd);
	return sums;
}

/* Moves a whole file by calls of one kind; `move` returns the bytes moved by one call. */
static struct sums transfer(const char *from_name, const char *to_name, ssize_t (*move)(int, int))
{
	int from = file_open(from_name, O_RDONLY), to = file_open(to_name, O_WRONLY | O_CREAT);
	struct sums sums = { 0 };
	ssize_t moved;

	do {
		moved = move(from, to);
		require(moved >= 0);
		sums.calls++;
		sums.bytes += moved;
	} while (moved);
	require(sums.bytes == FILE_BYTES);
	close(from);
	close(to);
	return sums;
}

static ssize_t send_chunk(int from, int to)
{
	return sendfile(to, from, NULL, CHUNK);
}

static ssize_t splice_chunk(int from, int to)
{
	static int ends[2];
	ssize_t moved;

	if (!ends[1])
		require(!pipe(ends));
	moved = splice(from, NULL, ends[1], NULL, 16 * PIECE, 0);
	for (ssize_t left = moved; left > 0;) {
		ssize_t out = splice(ends[0], NULL, to, NULL, left, 0);

		require(out > 0);
		left -= out;
	}
	return moved;
}

static ssize_t copy_chunk(int from, int to)
{
	return copy_file_range(from, NULL, to, NULL, CHUNK, 0);
}

static void say(FILE *out, const char *name, struct sums sums, const char *end)
{
	fprintf(out, "\"%s\": {\"calls\": %llu, \"bytes\": %llu}%s", name,
		(unsigned long long)sums.calls, (unsigned long long)sums.bytes, end);
}

int main(int argc, char **argv)
{
	FILE *out;

	require(argc == 3);
	if (!strcmp(argv[1], "make")) {
		directory = argv[2];
		make();
		return 0;
	}
	directory = argv[1];
	out = fopen(argv[2], "w");
	require(out);
	fputc('{', out);
	say(out, "pread", read_pieces(), ", ");
	say(out, "preadv", read_vectors(), ", ");
	say(out, "write", write_pieces("write", 0), ", ");
	say(out, "append", write_pieces("append", O_APPEND), ", ");
	say(out, "writev", write_vectors(), ", ");
	say(out, "sent", transfer("sent", "sent_to", send_chunk), ", ");
	say(out, "spliced", transfer("spliced", "spliced_to", splice_chunk), ", ");
	say(out, "copied", transfer("copied", "copied_to", copy_chunk), "}\n");
	require(!fclose(out));
	return 0;
}
