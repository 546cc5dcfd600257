// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes an io_uring worker thread read a file into a file mapping: the worker does the read's I/O
 * and takes the faults of the copy. Reports in OUT how many faults were not its own. Exits with 77
 * if the kernel lacks io_uring.
 *
 *   worker FILE MEMORY OUT      MEMORY is as long as FILE
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "live.h"

static void *map(int fd, size_t bytes, off_t offset)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	require(address != MAP_FAILED);
	return address;
}

static long faults(int who)
{
	struct rusage usage;

	require(!getrusage(who, &usage));
	return usage.ru_minflt + usage.ru_majflt;
}

/* Faults of the process's other threads: the workers. */
static long others_faults(void)
{
	return faults(RUSAGE_SELF) - faults(RUSAGE_THREAD);
}

int main(int argc, char **argv)
{
	struct io_uring_params params = { 0 };
	struct io_uring_sqe *entry;
	struct io_uring_cqe *done;
	int ring, file, memory;
	struct stat stat;
	long before;
	char *queue;
	FILE *out;

	require(argc == 4);
	file = open(argv[1], O_RDONLY);
	memory = open(argv[2], O_RDWR);
	require(file >= 0 && memory >= 0 && !fstat(file, &stat));
	ring = syscall(SYS_io_uring_setup, 1, &params);
	if (ring < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	require(ring >= 0 && params.features & IORING_FEAT_SINGLE_MMAP);
	queue = map(ring, params.cq_off.cqes + params.cq_entries * sizeof(*done),
		    IORING_OFF_SQ_RING);
	entry = map(ring, sizeof(*entry), IORING_OFF_SQES);
	*entry = (struct io_uring_sqe) {
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = file,
		.addr = (uint64_t)map(memory, stat.st_size, 0),
		.len = stat.st_size,
	};
	*(unsigned int *)(queue + params.sq_off.array) = 0;
	__atomic_store_n((unsigned int *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	before = others_faults();
	require(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	done = (struct io_uring_cqe *)(queue + params.cq_off.cqes);
	require(done->res == stat.st_size);
	out = fopen(argv[3], "w");
	require(out);
	fprintf(out, "{\"pid\": %d, \"faults\": %ld}\n", (int)getpid(), others_faults() - before);
	require(!fclose(out));
	return 0;
}
