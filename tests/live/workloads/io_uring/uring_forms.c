// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * io_uring requests in all forms: chains, registered files that one request opens and another
 * closes, requests that suppress their completions, paths, a ring shared with a child, multishot
 * requests; and libaio operations that end with their process. Writes one line per request to OUT,
 * with its arguments and result. Exits with 77 if the kernel lacks io_uring.
 *
 *   uring_forms DIRECTORY OUT
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "live.h"

#define ENTRIES 32
#define BLOCK 4096
#define BLOCKS 64
/* Since 6.7 and 5.19; headers may be older. */
#define OP_READ_MULTISHOT 49
#define OP_SETXATTR 42
#define OP_GETXATTR 44
#define ADDR3_AT 48
#define DIRECT_SLOT 2

/* As in the man page of the trace format. */
#define FIXED_FILE (1u << 17)
#define LINKED (1u << 18)
#define MULTISHOT (1u << 19)
#define SILENT (1u << 21)
#define UNFINISHED (1u << 12)
#define DONTNEED (1u << 26)
#define FOR_WRITING (1u << 4)
#define PATH_CUT (1u << 10)

static struct io_uring_params params;
static char *queue, *done;
static struct io_uring_sqe *entries;
static int ring;
static char buffer[ENTRIES][BLOCK];
static FILE *out;
static const char *directory;

static void *map_ring(size_t bytes, off_t offset)
{
	void *map =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);

	require(map != MAP_FAILED);
	return map;
}

static unsigned int *field(char *map, unsigned int offset)
{
	return (unsigned int *)(map + offset);
}

static void open_ring(void)
{
	ring = syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (ring < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	require(ring >= 0);
	queue = map_ring(params.sq_off.array + ENTRIES * sizeof(unsigned int), IORING_OFF_SQ_RING);
	done = map_ring(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
			IORING_OFF_CQ_RING);
	entries = map_ring(ENTRIES * sizeof(*entries), IORING_OFF_SQES);
}

/* The next request, as it will be reported. */
static struct asked {
	const char *op, *path, *path2;
	unsigned int flags;
	long offset, bytes;
	bool silent; /* has no completion; `bytes` is its expected result */
} asked[ENTRIES];
static unsigned int asked_count;

static struct io_uring_sqe *ask(struct asked what, struct io_uring_sqe how)
{
	unsigned int *tail = field(queue, params.sq_off.tail), at = *tail & (ENTRIES - 1);

	require(asked_count < ENTRIES);
	how.user_data = asked_count;
	entries[at] = how;
	field(queue, params.sq_off.array)[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	asked[asked_count++] = what;
	return &entries[at];
}

static void emit(const struct asked *what, long result)
{
	fprintf(out,
		"{\"pid\": %d, \"op\": \"%s\", \"path\": \"%s%s%s\", \"path2\": \"%s%s%s\", "
		"\"flags\": %u, \"offset\": %ld, \"asked\": %ld, \"result\": %ld}\n",
		(int)getpid(), what->op, what->path ? directory : "", what->path ? "/" : "",
		what->path ? what->path : "", what->path2 ? directory : "", what->path2 ? "/" : "",
		what->path2 ? what->path2 : "", what->flags, what->offset, what->bytes, result);
}

/* Submits the queued requests, and reports each as it completes. */
static void carry_out(void)
{
	unsigned int *head = field(done, params.cq_off.head),
		     *tail = field(done, params.cq_off.tail);
	struct io_uring_cqe *completions = (void *)(done + params.cq_off.cqes);
	unsigned int expected = 0;

	for (unsigned int i = 0; i < asked_count; i++)
		expected += !asked[i].silent;
	require(syscall(SYS_io_uring_enter, ring, asked_count, expected, IORING_ENTER_GETEVENTS,
			NULL, 0) == asked_count);
	while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) - *head < expected)
		require(!syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	for (; expected; expected--, __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE)) {
		const struct io_uring_cqe *completion =
			&completions[*head & (params.cq_entries - 1)];

		require(completion->user_data < asked_count);
		emit(&asked[completion->user_data], completion->res);
	}
	for (unsigned int i = 0; i < asked_count; i++)
		if (asked[i].silent)
			emit(&asked[i], asked[i].bytes);
	asked_count = 0;
}

/* A read of one block. */
static void ask_read(int fd, long block, unsigned int bytes, struct asked what, unsigned int flags)
{
	what.op = "io_uring_read";
	what.offset = block * BLOCK;
	what.bytes = bytes;
	ask(what, (struct io_uring_sqe) { .opcode = IORING_OP_READ,
					  .flags = flags,
					  .fd = fd,
					  .addr = (uint64_t)buffer[asked_count],
					  .len = bytes,
					  .off = what.offset });
}

static void ask_nop(void)
{
	ask((struct asked) { .op = "io_uring_nop", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_NOP });
}

/* --- forms --- */

static void vectors_and_positions(int data, int made)
{
	struct iovec parts[2] = { { buffer[0], 100 }, { buffer[1], 3000 } };

	ask((struct asked) { "io_uring_readv", "data", .offset = BLOCK, .bytes = 3100 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_READV,
				    .fd = data,
				    .addr = (uint64_t)parts,
				    .len = 2,
				    .off = BLOCK });
	carry_out();
	ask((struct asked) { "io_uring_writev", "made", .offset = 5, .bytes = 3100 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_WRITEV,
				    .fd = made,
				    .addr = (uint64_t)parts,
				    .len = 2,
				    .off = 5 });
	carry_out();
	/* At the file position, twice. */
	for (int i = 0; i < 2; i++) {
		ask((struct asked) { "io_uring_read", "data", .offset = i * 1000, .bytes = 1000 },
		    (struct io_uring_sqe) { .opcode = IORING_OP_READ,
					    .fd = data,
					    .addr = (uint64_t)buffer[0],
					    .len = 1000,
					    .off = -1 });
		carry_out();
	}
	ask((struct asked) { "io_uring_fallocate", "made", .offset = BLOCK, .bytes = 3 * BLOCK },
	    (struct io_uring_sqe) {
		    .opcode = IORING_OP_FALLOCATE, .fd = made, .off = BLOCK, .addr = 3 * BLOCK });
	ask((struct asked) { "io_uring_fadvise", "made", .flags = DONTNEED, .offset = BLOCK,
			     .bytes = 2 * BLOCK },
	    (struct io_uring_sqe) { .opcode = IORING_OP_FADVISE,
				    .fd = made,
				    .off = BLOCK,
				    .len = 2 * BLOCK,
				    .fadvise_advice = POSIX_FADV_DONTNEED });
	carry_out();
}

/* The last request of a chain runs only if all before it succeed. */
static void chains(int data, int made)
{
	ask((struct asked) { "io_uring_write", "made", .flags = LINKED, .offset = 0,
			     .bytes = BLOCK },
	    (struct io_uring_sqe) { .opcode = IORING_OP_WRITE,
				    .flags = IOSQE_IO_LINK,
				    .fd = made,
				    .addr = (uint64_t)buffer[0],
				    .len = BLOCK });
	ask((struct asked) { "io_uring_fsync", "made", .flags = LINKED },
	    (struct io_uring_sqe) {
		    .opcode = IORING_OP_FSYNC, .flags = IOSQE_IO_LINK, .fd = made });
	ask_read(made, 0, BLOCK, (struct asked) { .path = "made", .flags = LINKED }, 0);
	carry_out();
	/* Short at the end of the file: the next request is cancelled, but its file is still known.

	 */
	ask_read(data, BLOCKS, BLOCK, (struct asked) { .path = "data", .flags = LINKED },
		 IOSQE_IO_LINK);
	ask_read(data, 3, BLOCK, (struct asked) { .path = "data", .flags = LINKED }, 0);
	carry_out();
}

/* A file that never has a descriptor: opened into a fixed-file slot, read, closed. */
static void slots(void)
{
	static char path[4096];
	int none[4] = { -1, -1, -1, -1 };
	/* Before 5.17 a request gets its file when it is submitted. */
	bool late = params.features & IORING_FEAT_LINKED_FILE;
	unsigned int linked = late ? LINKED : 0;

	snprintf(path, sizeof(path), "%s/data", directory);
	require(!syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, none, 4));
	ask((struct asked) { "io_uring_openat", "data", .flags = linked, .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_OPENAT,
				    .flags = late ? IOSQE_IO_LINK : 0,
				    .fd = AT_FDCWD,
				    .addr = (uint64_t)path,
				    .file_index = DIRECT_SLOT + 1 });
	if (!late)
		carry_out();
	ask_read(DIRECT_SLOT, 7, BLOCK,
		 (struct asked) { .path = "data", .flags = linked | FIXED_FILE }, IOSQE_FIXED_FILE);
	carry_out();
	ask((struct asked) { "io_uring_close", "data", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_CLOSE, .file_index = DIRECT_SLOT + 1 });
	carry_out();
	require(!syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0));
}

static void silent(int data)
{
	if (!(params.features & IORING_FEAT_CQE_SKIP)) /* since 5.17 */
		return;
	for (int i = 0; i < 5; i++)
		ask_read(data, 10 + i, BLOCK,
			 (struct asked) { .path = "data", .flags = SILENT, .silent = true },
			 IOSQE_CQE_SKIP_SUCCESS);
	/* Short transfers do complete visibly. */
	ask_read(data, BLOCKS, BLOCK, (struct asked) { .path = "data" }, IOSQE_CQE_SKIP_SUCCESS);
	carry_out();
	for (int i = 0; i < 3; i++) {
		ask_nop();
		carry_out();
	}
}

/* File names: missing, created, renamed and removed. */
static void names(int place)
{
	static struct statx found;

	ask((struct asked) { "io_uring_openat", "absent", .offset = -1 },
	    (struct io_uring_sqe) {
		    .opcode = IORING_OP_OPENAT, .fd = place, .addr = (uint64_t) "absent" });
	carry_out();
	ask((struct asked) { "io_uring_statx", "data", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_STATX,
				    .fd = place,
				    .addr = (uint64_t) "data",
				    .len = STATX_SIZE,
				    .addr2 = (uint64_t)&found });
	carry_out();
	require(found.stx_size == BLOCKS * BLOCK);
	ask((struct asked) { "io_uring_mkdirat", "new", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_MKDIRAT,
				    .fd = place,
				    .addr = (uint64_t) "new",
				    .len = 0755 });
	carry_out();
	ask((struct asked) { "io_uring_renameat", "new", "newer", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_RENAMEAT,
				    .fd = place,
				    .addr = (uint64_t) "new",
				    .len = place,
				    .addr2 = (uint64_t) "newer" });
	carry_out();
	ask((struct asked) { "io_uring_unlinkat", "newer", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_UNLINKAT,
				    .fd = place,
				    .addr = (uint64_t) "newer",
				    .unlink_flags = AT_REMOVEDIR });
	carry_out();
	ask((struct asked) { "io_uring_symlinkat", "symbolic", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_SYMLINKAT,
				    .fd = place,
				    .addr = (uint64_t) "data",
				    .addr2 = (uint64_t) "symbolic" });
	carry_out();
	ask((struct asked) { "io_uring_linkat", "data", "hard", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_LINKAT,
				    .fd = place,
				    .addr = (uint64_t) "data",
				    .len = place,
				    .addr2 = (uint64_t) "hard" });
	carry_out();
}

static bool has_operation(int opcode)
{
	static struct {
		struct io_uring_probe probe;
		struct io_uring_probe_op operations[256];
	} known;

	return !syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, &known, 256) &&
	       known.probe.last_op >= opcode;
}

/* Attributes of a file by its name. */
static void attributes(void)
{
	static const struct {
		const char *name;
		int opcode;
	} each[] = { { "io_uring_setxattr", OP_SETXATTR }, { "io_uring_getxattr", OP_GETXATTR } };
	static char path[4096], value[4];

	snprintf(path, sizeof(path), "%s/data", directory);
	for (size_t i = 0; i < 2 && has_operation(OP_GETXATTR); i++) {
		struct io_uring_sqe how = { .opcode = each[i].opcode,
					    .addr = (uint64_t) "user.faultline",
					    .addr2 = (uint64_t)value,
					    .len = sizeof(value) };
		const uint64_t name = (uint64_t)path;

		memcpy((char *)&how + ADDR3_AT, &name, sizeof(name));
		ask((struct asked) { each[i].name, "data", .offset = -1 }, how);
		carry_out();
	}
}

/* A FIFO, then a file by a name that is too long to be kept, by the same request structure. */
static void long_name(int place)
{
	static char name[2048];

	for (int i = 0; i < 1000; i++)
		strcat(name, "./");
	strcat(name, "data");
	require(!mkfifoat(place, "fifo", 0600));
	ask((struct asked) { "io_uring_openat", "fifo", .flags = FOR_WRITING, .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_OPENAT,
				    .fd = place,
				    .addr = (uint64_t) "fifo",
				    .open_flags = O_RDWR });
	carry_out();
	ask((struct asked) { "io_uring_openat", "data", .flags = PATH_CUT, .offset = -1 },
	    (struct io_uring_sqe) {
		    .opcode = IORING_OP_OPENAT, .fd = place, .addr = (uint64_t)name });
	carry_out();
}

/* From a file, into a pipe, and into a file. */
static void splices(int data, int made)
{
	int ends[2];

	require(!pipe(ends));
	ask((struct asked) { "io_uring_splice", "data", .offset = 2 * BLOCK, .bytes = BLOCK },
	    (struct io_uring_sqe) { .opcode = IORING_OP_SPLICE,
				    .fd = ends[1],
				    .off = -1,
				    .splice_fd_in = data,
				    .splice_off_in = 2 * BLOCK,
				    .len = BLOCK });
	carry_out();
	ask((struct asked) { "io_uring_splice", NULL, "made", .offset = -1, .bytes = BLOCK },
	    (struct io_uring_sqe) { .opcode = IORING_OP_SPLICE,
				    .fd = made,
				    .off = 0,
				    .splice_fd_in = ends[0],
				    .splice_off_in = -1,
				    .len = BLOCK });
	carry_out();
	close(ends[0]);
	close(ends[1]);
}

/* A child submits to the ring inherited from its parent. */
static void shared(int data)
{
	int status;
	pid_t child;

	fflush(out);
	child = fork();
	require(child >= 0);
	if (!child) {
		for (int i = 0; i < 4; i++)
			ask_read(data, 20 + i, BLOCK, (struct asked) { .path = "data" }, 0);
		carry_out();
		fflush(out);
		_exit(0);
	}
	require(waitpid(child, &status, 0) == child && !status);
}

/* The same request over and over: addresses repeat, files and offsets do not. */
static void again(int data, int made)
{
	for (int i = 0; i < 200; i++) {
		bool odd = i & 1;

		ask_read(odd ? made : data, odd ? 0 : i % BLOCKS, 1 + i,
			 (struct asked) { .path = odd ? "made" : "data" }, 0);
		carry_out();
	}
}

/* The same with libaio: one iocb, at one address. */
static void again_by_libaio(int data, int made)
{
	struct iocb block, *list = &block;
	aio_context_t context = 0;
	struct io_event event;

	require(!syscall(SYS_io_setup, 1, &context));
	for (int i = 0; i < 200; i++) {
		bool odd = i & 1;
		struct asked what = { "libaio_pread", odd ? "made" : "data",
				      .offset = odd ? 0 : i % BLOCKS * BLOCK, .bytes = 1 + i };

		block = (struct iocb) { .aio_lio_opcode = IOCB_CMD_PREAD,
					.aio_fildes = odd ? made : data,
					.aio_buf = (uint64_t)buffer[0],
					.aio_nbytes = what.bytes,
					.aio_offset = what.offset };
		require(syscall(SYS_io_submit, context, 1, &list) == 1);
		require(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
		emit(&what, event.res);
	}
	require(!syscall(SYS_io_destroy, context));
}

/* A read without data, until its process ends. */
static void waiting(void)
{
	const struct asked what = { "io_uring_read", NULL, .flags = UNFINISHED, .offset = -1,
				    .bytes = BLOCK };
	int ends[2];

	open_ring();
	require(!pipe(ends));
	ask(what, (struct io_uring_sqe) { .opcode = IORING_OP_READ,
					  .fd = ends[0],
					  .addr = (uint64_t)buffer,
					  .len = BLOCK,
					  .off = -1 });
	require(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1);
	emit(&what, -EINTR);
	asked_count = 0;
}

/* A process ends with unreaped operations of both kinds. */
static void unfinished(int data)
{
	struct iocb blocks[3] = { 0 }, *list[3];
	aio_context_t context = 0;
	int status;
	pid_t child;

	fflush(out);
	child = fork();
	require(child >= 0);
	if (child) {
		require(waitpid(child, &status, 0) == child && !status);
		return;
	}
	waiting();
	require(!syscall(SYS_io_setup, 3, &context));
	for (int i = 0; i < 3; i++) {
		const struct asked what = { "libaio_pread", "data", .flags = UNFINISHED,
					    .offset = i * BLOCK, .bytes = BLOCK };

		blocks[i] = (struct iocb) { .aio_lio_opcode = IOCB_CMD_PREAD,
					    .aio_fildes = data,
					    .aio_buf = (uint64_t)buffer[i],
					    .aio_nbytes = BLOCK,
					    .aio_offset = i * BLOCK };
		list[i] = &blocks[i];
		emit(&what, -EINTR);
	}
	require(syscall(SYS_io_submit, context, 3, list) == 3);
	fflush(out);
	_exit(0);
}

/* Pipes are read whenever data arrives: the kernel takes buffers from a provided group. */
static void multishot(void)
{
	unsigned int *head = field(done, params.cq_off.head),
		     *tail = field(done, params.cq_off.tail);
	struct io_uring_cqe *completions = (void *)(done + params.cq_off.cqes);
	const struct asked what = { "io_uring_read_multishot", NULL, .flags = MULTISHOT,
				    .offset = -1 };
	int first[2], second[2], *ends;

	require(!pipe(first) && !pipe(second));
	ask((struct asked) { .op = "io_uring_provide_buffers", .offset = -1 },
	    (struct io_uring_sqe) { .opcode = IORING_OP_PROVIDE_BUFFERS,
				    .fd = 8,
				    .addr = (uint64_t)buffer,
				    .len = BLOCK,
				    .buf_group = 1 });
	carry_out();
	if (!has_operation(OP_READ_MULTISHOT))
		return;
	for (int i = 0; i < 2; i++) {
		ends = i ? second : first;
		ask(what, (struct io_uring_sqe) { .opcode = OP_READ_MULTISHOT,
						  .flags = IOSQE_BUFFER_SELECT,
						  .fd = ends[0],
						  .off = -1,
						  .buf_group = 1 });
		require(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1);
		asked_count = 0; /* so both have the same user data */
	}
	for (int i = 0; i < 7; i++) {
		const struct io_uring_cqe *completion;

		ends = i < 4 ? first : second;
		if (i == 3 || i == 6)
			close(ends[1]);
		else
			require(write(ends[1], buffer, 10 + i) == 10 + i);
		while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head)
			require(!syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS,
					 NULL, 0));
		completion = &completions[*head & (params.cq_entries - 1)];
		emit(&what, completion->res);
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	}
	close(first[0]);
	close(second[0]);
}

int main(int argc, char **argv)
{
	int place, data, made;

	require(argc == 3);
	directory = argv[1];
	place = open(directory, O_RDONLY | O_DIRECTORY);
	require(place >= 0);
	made = openat(place, "data", O_WRONLY | O_CREAT, 0644);
	for (int i = 0; i < BLOCKS; i++)
		require(write(made, buffer[0], BLOCK) == BLOCK);
	close(made);
	data = openat(place, "data", O_RDONLY);
	made = openat(place, "made", O_RDWR | O_CREAT, 0644);
	out = fopen(argv[2], "w");
	require(data >= 0 && made >= 0 && out);
	open_ring();
	vectors_and_positions(data, made);
	chains(data, made);
	slots();
	silent(data);
	names(place);
	attributes();
	long_name(place);
	splices(data, made);
	shared(data);
	again(data, made);
	again_by_libaio(data, made);
	unfinished(data);
	multishot();
	require(!fclose(out));
	return 0;
}
