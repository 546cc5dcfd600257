// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Maps a cold file and populates all of it with one call. Reports in OUT how long that took. Exits
 * with 77 if the kernel lacks the call.
 *
 *   populate mlockall|process_madvise|io_uring FILE OUT
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "io_uring/ring.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static void by_process_madvise(char *map, size_t bytes)
{
	struct iovec range = { map, bytes };
	int self = syscall(SYS_pidfd_open, getpid(), 0);
	size_t done = 0;

	require(self >= 0);
	while (done < bytes) {
		/*
		 * Before 6.13, process_madvise on oneself only accepts MADV_WILLNEED and similar
		 * hints.
		 */
		long n = syscall(SYS_process_madvise, self, &range, 1, MADV_POPULATE_READ, 0);

		if (n < 0)
			exit(77);
		done += n;
	}
}

static void by_ring(char *map, size_t bytes)
{
	struct ring ring;

	ring_open(&ring, 0);
	ring_ask(&ring, (struct io_uring_sqe) {
				.opcode = IORING_OP_MADVISE,
				.fd = -1,
				.addr = (uint64_t)map,
				.len = bytes,
				.fadvise_advice = MADV_POPULATE_READ,
			});
	require(syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	ring_reap(&ring, 1, 0);
}

int main(int argc, char **argv)
{
	struct stat st;
	uint64_t start;
	FILE *out;
	char *map;
	int file;

	require(argc == 4);
	file = open(argv[2], O_RDONLY);
	require(file >= 0 && !fstat(file, &st));
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, file, 0);
	require(map != MAP_FAILED);
	start = now_ns();
	if (!strcmp(argv[1], "mlockall"))
		require(!mlockall(MCL_CURRENT));
	else if (!strcmp(argv[1], "process_madvise"))
		by_process_madvise(map, st.st_size);
	else
		by_ring(map, st.st_size);
	start = now_ns() - start;
	out = fopen(argv[3], "w");
	require(out);
	fprintf(out, "{\"took_ns\": %lu}\n", start);
	require(!fclose(out));
	return 0;
}
