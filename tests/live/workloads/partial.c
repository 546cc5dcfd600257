// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes parts of distant pages of a cold file, and reports in OUT how many bytes the kernel read
 * from storage for it. Exits with 77 if the kernel lacks io_uring.
 *
 *   partial call|io_uring|libaio FILE OUT
 */
#include <fcntl.h>
#include <linux/aio_abi.h>

#include "io_uring/ring.h"

#define WRITES 100
#define STEP 163840
#define BYTES 1000

static char buffer[BYTES];
static struct ring ring;
static aio_context_t context;

/* Includes threads and io workers. */
static long read_bytes(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	char line[128];
	long bytes = -1;

	require(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "read_bytes: %ld", &bytes);
	fclose(file);
	require(bytes >= 0);
	return bytes;
}

static void write_by_ring(int file, long offset)
{
	ring_ask(&ring, (struct io_uring_sqe) {
				.opcode = IORING_OP_WRITE,
				.fd = file,
				.addr = (uint64_t)buffer,
				.len = BYTES,
				.off = offset,
			});
	require(syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	ring_reap(&ring, 1, BYTES);
}

static void write_by_libaio(int file, long offset)
{
	struct iocb block = {
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = file,
		.aio_buf = (uint64_t)buffer,
		.aio_nbytes = BYTES,
		.aio_offset = offset,
	};
	struct iocb *list[] = { &block };
	struct io_event event;

	require(syscall(SYS_io_submit, context, 1, list) == 1);
	require(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
	require(event.res == BYTES);
}

/* Makes the file system read its extent metadata, once. */
static void warm(int file)
{
	for (int i = 0; i < WRITES; i++)
		require(pread(file, buffer, BYTES, (i + 0.5) * STEP) == BYTES);
}

int main(int argc, char **argv)
{
	long before;
	FILE *out;
	int file;

	require(argc == 4);
	file = open(argv[2], O_RDWR);
	require(file >= 0);
	if (!strcmp(argv[1], "io_uring"))
		ring_open(&ring, 0);
	if (!strcmp(argv[1], "libaio"))
		require(!syscall(SYS_io_setup, 1, &context));
	require(!posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
	warm(file);
	before = read_bytes();
	for (int i = 0; i < WRITES; i++) {
		long offset = (long)i * STEP + 100;

		if (ring.fd)
			write_by_ring(file, offset);
		else if (context)
			write_by_libaio(file, offset);
		else
			require(pwrite(file, buffer, BYTES, offset) == BYTES);
	}
	out = fopen(argv[3], "w");
	require(out);
	fprintf(out, "{\"read_bytes\": %ld}\n", read_bytes() - before);
	require(!fclose(out));
	return 0;
}
