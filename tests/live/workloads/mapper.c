// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Brings a file into the page cache in one of many ways, and reports the kernel's counts: major
 * faults from getrusage, resident pages from mincore.
 *
 *   mapper MODE DATA OUT [OTHER]   DATA is cold; the counts go to OUT as JSON. OTHER is a second
 *                                  file for the modes that need one
 *   mapper list                    prints the modes
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "live.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

#define THREADS 4
#define PIECE (1ul << 20)
#define SPARSE_FROM (4ul << 30) /* first offset touched in sparse mode */
#define SPARSE_TOUCHES 600

struct job {
	int fd, other;
	size_t bytes, pages, page_bytes;
	volatile unsigned char *map; /* mapping of the data file */
	uint32_t *order;	     /* pages in the order they were touched */
	size_t touched;
};

static unsigned char sink;

/* --- access patterns --- */

static void map_file(struct job *job, int protection, int flags)
{
	job->map = mmap(NULL, job->bytes, protection, flags, job->fd, 0);
	require(job->map != MAP_FAILED);
}

static void read_page(struct job *job, size_t page)
{
	sink += job->map[page * job->page_bytes + page % job->page_bytes];
	job->order[job->touched++] = page;
}

static void write_page(struct job *job, size_t page)
{
	job->map[page * job->page_bytes + page % job->page_bytes] = 'w';
	job->order[job->touched++] = page;
}

/* Every page once in an order that is the same in every run. The caller frees it. */
static uint32_t *shuffle(size_t pages)
{
	uint32_t *order = malloc(pages * sizeof(*order));
	uint64_t state = 88172645463325252ull;

	require(order != NULL);
	for (size_t i = 0; i < pages; i++)
		order[i] = i;
	for (size_t i = pages - 1; i; i--) {
		size_t j = next_random(&state) % (i + 1);
		uint32_t swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	return order;
}

static void touch_a_third_at_random(struct job *job, void (*touch)(struct job *, size_t))
{
	uint32_t *order = shuffle(job->pages);

	for (size_t i = 0; i < job->pages / 3; i++)
		touch(job, order[i]);
	free(order);
}

/* --- the modes --- */

static void run_sequential(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	for (size_t i = 0; i < job->pages; i++)
		read_page(job, i);
}

static void run_random(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	touch_a_third_at_random(job, read_page);
}

static void run_advised_random(struct job *job)
{
	map_file(job, PROT_READ, MAP_PRIVATE);
	require(!madvise((void *)job->map, job->bytes, MADV_RANDOM));
	touch_a_third_at_random(job, read_page);
}

static void run_private_write(struct job *job)
{
	map_file(job, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	touch_a_third_at_random(job, write_page);
}

static void run_shared_write(struct job *job)
{
	map_file(job, PROT_READ | PROT_WRITE, MAP_SHARED);
	touch_a_third_at_random(job, write_page);
}

static void run_populate(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED | MAP_POPULATE);
}

static void run_mlock(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	require(!mlock((void *)job->map, job->bytes / 2));
}

static void run_mlock2(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	require(!mlock2((void *)job->map, job->bytes / 2, 0));
}

static void run_populate_read(struct job *job)
{
	map_file(job, PROT_READ, MAP_PRIVATE);
	require(!madvise((void *)job->map, job->bytes / 2, MADV_POPULATE_READ));
}

static void run_populate_write(struct job *job)
{
	map_file(job, PROT_READ | PROT_WRITE, MAP_SHARED);
	require(!madvise((void *)job->map, job->bytes / 2, MADV_POPULATE_WRITE));
}

static void run_willneed(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	require(!madvise((void *)job->map, job->bytes, MADV_WILLNEED));
}

/* Parent and child share the mapping and touch all of it from opposite ends. */
static void run_fork(struct job *job)
{
	pid_t child;
	int status;

	map_file(job, PROT_READ, MAP_SHARED);
	child = fork();
	require(child >= 0);
	if (child == 0) {
		for (size_t i = job->pages; i-- > job->pages / 3;)
			read_page(job, i);
		_exit(0);
	}
	for (size_t i = 0; i < job->pages * 2 / 3; i++)
		read_page(job, i);
	require(waitpid(child, &status, 0) == child && status == 0);
	job->touched = 0; /* two concurrent orders have no single order */
}

struct share {
	struct job *job;
	const uint32_t *order;
	size_t first;
};

static void *touch_share(void *argument)
{
	struct share *share = argument;
	unsigned char sum = 0;

	for (size_t i = share->first; i < share->job->pages / 2; i += THREADS)
		sum += share->job->map[share->order[i] * share->job->page_bytes];
	__atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
	return NULL;
}

static void run_threads(struct job *job)
{
	pthread_t threads[THREADS];
	struct share shares[THREADS];
	uint32_t *order = shuffle(job->pages);

	map_file(job, PROT_READ, MAP_SHARED);
	for (int i = 0; i < THREADS; i++) {
		shares[i] = (struct share) { job, order, i };
		require(!pthread_create(&threads[i], NULL, touch_share, &shares[i]));
	}
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL));
	free(order);
}

/* The kernel touches the mapping as the buffer of a write to another file. */
static void run_write_from(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	for (size_t at = 0; at < job->bytes; at += PIECE)
		require(write(job->other, (void *)(job->map + at), PIECE) == (ssize_t)PIECE);
}

/* The same without the fault handler's entry: direct I/O pins the pages. */
static void run_direct_write_from(struct job *job)
{
	map_file(job, PROT_READ, MAP_SHARED);
	require(!fcntl(job->other, F_SETFL, O_DIRECT));
	for (size_t at = 0; at < job->bytes; at += PIECE)
		require(write(job->other, (void *)(job->map + at), PIECE) == (ssize_t)PIECE);
}

/* ... or as the buffer of a read from another file, which makes private copies. */
static void run_read_into(struct job *job)
{
	map_file(job, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	for (size_t at = 0; at < job->bytes; at += PIECE)
		require(read(job->other, (void *)(job->map + at), PIECE / 2) == (ssize_t)PIECE / 2);
}

/* A few pages above 4 GiB, so that their numbers are large. */
static void run_sparse(struct job *job)
{
	size_t first = SPARSE_FROM / job->page_bytes, count = job->pages - first;
	uint32_t *order = shuffle(count);

	map_file(job, PROT_READ, MAP_SHARED);
	require(!madvise((void *)job->map, job->bytes, MADV_RANDOM));
	for (size_t i = 0; i < SPARSE_TOUCHES; i++)
		read_page(job, first + order[i]);
	free(order);
}

static void run_pread(struct job *job)
{
	char *buffer = malloc(PIECE);

	require(buffer != NULL);
	for (size_t at = 0; at < job->bytes; at += 2 * PIECE)
		require(pread(job->fd, buffer, PIECE / 2, at) == (ssize_t)PIECE / 2);
	free(buffer);
}

static void run_read(struct job *job)
{
	char buffer[10000];

	while (read(job->fd, buffer, sizeof(buffer)) > 0)
		;
}

static void run_readahead(struct job *job)
{
	require(!readahead(job->fd, 0, job->bytes / 2));
}

static void run_fadvise(struct job *job)
{
	require(!posix_fadvise(job->fd, job->bytes / 2, job->bytes / 2, POSIX_FADV_WILLNEED));
}

static void run_sendfile(struct job *job)
{
	require(sendfile(job->other, job->fd, NULL, job->bytes / 2) > 0);
}

static const struct mode {
	const char *name;
	void (*run)(struct job *job);
	int other; /* open flags of OTHER, or -1 */
} modes[] = {
	{ "sequential", run_sequential, -1 },
	{ "random", run_random, -1 },
	{ "advised_random", run_advised_random, -1 },
	{ "private_write", run_private_write, -1 },
	{ "shared_write", run_shared_write, -1 },
	{ "populate", run_populate, -1 },
	{ "mlock", run_mlock, -1 },
	{ "mlock2", run_mlock2, -1 },
	{ "populate_read", run_populate_read, -1 },
	{ "populate_write", run_populate_write, -1 },
	{ "willneed", run_willneed, -1 },
	{ "fork", run_fork, -1 },
	{ "threads", run_threads, -1 },
	{ "write_from", run_write_from, O_WRONLY | O_CREAT | O_TRUNC },
	{ "direct_write_from", run_direct_write_from, O_WRONLY | O_CREAT | O_TRUNC },
	{ "read_into", run_read_into, O_RDONLY },
	{ "sparse", run_sparse, -1 },
	{ "pread", run_pread, -1 },
	{ "read", run_read, -1 },
	{ "readahead", run_readahead, -1 },
	{ "fadvise", run_fadvise, -1 },
	{ "sendfile", run_sendfile, O_WRONLY | O_CREAT | O_TRUNC },
};
#define MODE_COUNT (sizeof(modes) / sizeof(modes[0]))

/* --- the account --- */

/* Cached and up-to-date pages of the file, from mincore. */
static size_t count_resident(int fd, size_t bytes, size_t page_bytes)
{
	size_t pages = (bytes + page_bytes - 1) / page_bytes, resident = 0;
	unsigned char *vector = malloc(pages);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	require(vector != NULL && map != MAP_FAILED && !mincore(map, bytes, vector));
	for (size_t i = 0; i < pages; i++)
		resident += vector[i] & 1;
	munmap(map, bytes);
	free(vector);
	return resident;
}

/* True if the file's device has no read in flight by its own count, or has no count. */
static bool device_rests(int fd)
{
	unsigned long reads = 1;
	char path[80];
	struct stat st;
	FILE *file;

	require(!fstat(fd, &st));
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/inflight", major(st.st_dev),
		 minor(st.st_dev));
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fscanf(file, "%lu", &reads) != 1)
		reads = 1;
	fclose(file);
	return reads == 0;
}

/*
 * mincore leaves out pages whose readahead is in flight: polls until none is, by cachestat's count
 * of all pages. Without cachestat, polls until the device is idle and the count is stable.
 */
static size_t count_settled(int fd, size_t bytes, size_t page_bytes)
{
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted;
	} cache = { 0 };
	uint64_t whole[2] = { 0, 0 };
	size_t before = -1, resident;

	for (int i = 0; i < 600; i++) {
		bool rested = device_rests(fd);

		resident = count_resident(fd, bytes, page_bytes);
		if (!syscall(SYS_cachestat, fd, whole, &cache, 0)
			    ? cache.cached == resident
			    : rested && resident == before && i > 4)
			return resident;
		before = resident;
		usleep(50000);
	}
	require(!"the page cache comes to rest");
	return 0;
}

static long major_faults(int who)
{
	struct rusage usage;

	require(!getrusage(who, &usage));
	return usage.ru_majflt;
}

static void write_account(const char *path, const struct job *job, size_t before, size_t after,
			  long major, uint64_t wall_ns)
{
	FILE *out = fopen(path, "w");

	require(out != NULL);
	fprintf(out,
		"{\"pid\": %d, \"page_bytes\": %zu, \"resident_before\": %zu, \"resident\": %zu, "
		"\"major\": %ld, \"wall_ns\": %lu, \"touched\": [",
		getpid(), job->page_bytes, before, after, major, wall_ns);
	for (size_t i = 0; i < job->touched; i++)
		fprintf(out, "%s%u", i ? ", " : "", job->order[i]);
	fprintf(out, "]}\n");
	require(fclose(out) == 0);
}

int main(int argc, char **argv)
{
	struct job job = { .other = -1, .page_bytes = sysconf(_SC_PAGESIZE) };
	const struct mode *mode = NULL;
	struct stat st;
	size_t before, after;
	uint64_t start;
	long major;

	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < MODE_COUNT; i++)
			puts(modes[i].name);
		return 0;
	}
	require(argc == 4 || argc == 5);
	for (size_t i = 0; i < MODE_COUNT; i++)
		if (!strcmp(modes[i].name, argv[1]))
			mode = &modes[i];
	require(mode != NULL);
	job.fd = open(argv[2], O_RDWR);
	require(job.fd >= 0 && !fstat(job.fd, &st));
	job.bytes = st.st_size;
	job.pages = (job.bytes + job.page_bytes - 1) / job.page_bytes;
	job.order = calloc(job.pages, sizeof(*job.order));
	require(job.order != NULL);
	if (mode->other >= 0) {
		require(argc == 5);
		job.other = open(argv[4], mode->other, 0644);
		require(job.other >= 0);
	}
	/* Locks code and libraries in memory, so that only the data can cause major faults. */
	require(!mlockall(MCL_CURRENT));
	before = count_resident(job.fd, job.bytes, job.page_bytes);
	major = major_faults(RUSAGE_SELF) + major_faults(RUSAGE_CHILDREN);
	start = now_ns();
	mode->run(&job);
	start = now_ns() - start;
	major = major_faults(RUSAGE_SELF) + major_faults(RUSAGE_CHILDREN) - major;
	after = count_settled(job.fd, job.bytes, job.page_bytes);
	write_account(argv[3], &job, before, after, major, start);
	return 0;
}
