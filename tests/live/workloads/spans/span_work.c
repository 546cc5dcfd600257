// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A job of known phases: sleeps, reads and writes of known sizes, inside and outside spans, in
 * threads and in a child. Writes down its phases by its own clock, and the owner of each byte.
 *
 *   span_work DIR OUT   DIR holds "data", of 32 MiB and not in the page cache
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "faultline.h"
#include "live.h"

#define MIB (1 << 20)
#define STEPS 5
#define BUFFER (256 << 10)
#define PHASES_MAX 256

/* --- the account --- */

struct phase {
	const char *name, *category;
	uint64_t id, start_ns, begun_ns, ending_ns, end_ns; /* before and after both calls */
	pid_t pid, tid;
};

/* The phase that owns the bytes read and written. */
enum owner { NOBODY, FETCH, STEP, TOUCH, CHECKPOINT, WAIT, ITEM, OWNERS };

static const char *const owner_names[OWNERS] = { "",	       "fetch", "step", "touch",
						 "checkpoint", "wait",	"item" };

static struct account {
	atomic_uint count;
	struct phase phases[PHASES_MAX];
	atomic_ullong read_bytes[OWNERS], write_bytes[OWNERS];
} * account; /* shared with the child */

static struct phase *begin(const char *name, const char *category)
{
	unsigned int at = atomic_fetch_add(&account->count, 1);
	struct phase *phase = &account->phases[at];

	require(at < PHASES_MAX);
	*phase = (struct phase) { .name = name,
				  .category = category,
				  .pid = getpid(),
				  .tid = syscall(SYS_gettid),
				  .start_ns = now_ns() };
	phase->id = faultline_span_begin(name, category, NULL, 0);
	phase->begun_ns = now_ns();
	return phase;
}

static void end(struct phase *phase)
{
	phase->ending_ns = now_ns();
	faultline_span_end(phase->id);
	phase->end_ns = now_ns();
}

/* --- work --- */

static char path[4096];

static void nap(unsigned int ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000L };

	nanosleep(&time, NULL);
}

static void read_part(enum owner owner, int fd, unsigned int mib, unsigned int count)
{
	static _Thread_local char buffer[BUFFER];

	for (unsigned int at = 0; at < count * MIB; at += BUFFER)
		require(pread(fd, buffer, BUFFER, (off_t)mib * MIB + at) == BUFFER);
	account->read_bytes[owner] += count * MIB;
}

static void write_part(enum owner owner, int fd, unsigned int count)
{
	static _Thread_local char buffer[BUFFER];

	for (unsigned int at = 0; at < count * MIB; at += BUFFER)
		require(pwrite(fd, buffer, BUFFER, at) == BUFFER);
	require(!fsync(fd));
	account->write_bytes[owner] += count * MIB;
}

static void touch_part(const volatile char *data, unsigned int mib, unsigned int count)
{
	for (unsigned int at = 0; at < count * MIB; at += 4096)
		(void)data[(size_t)mib * MIB + at];
}

static int open_in(const char *directory, const char *name, int flags)
{
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	require(fd >= 0);
	return fd;
}

/* --- the job --- */

struct job {
	const char *directory;
	int data, out;
};

/* I/O of a thread without a span of its own: belongs to the process's span, the step. */
static void *read_beside(void *argument)
{
	struct job *job = argument;

	nap(10);
	read_part(STEP, job->data, 16, 1);
	write_part(STEP, job->out, 1);
	return NULL;
}

static void do_step(struct job *job, unsigned int step)
{
	struct phase *phase = begin("fetch", "data");
	pthread_t thread;

	read_part(FETCH, job->data, 2 * step, 2);
	nap(5);
	end(phase);

	phase = begin("step", "compute");
	require(!pthread_create(&thread, NULL, read_beside, job));
	nap(40);
	pthread_join(thread, NULL);
	end(phase);

	if (step % 2)
		return;
	phase = begin("checkpoint", "checkpoint");
	write_part(CHECKPOINT, job->out, 4);
	nap(3);
	end(phase);
}

/* A worker: its I/O outside its spans belongs to the span in which its parent waits. */
static void do_child(struct job *job)
{
	struct phase *phase;
	pid_t pid;

	phase = begin("wait", "data");
	pid = fork();
	if (pid == 0) {
		nap(5);
		read_part(WAIT, job->data, 20, 2);
		phase = begin("item", "data");
		read_part(ITEM, job->data, 22, 1);
		nap(10);
		end(phase);
		nap(5);
		_exit(0);
	}
	require(pid > 0 && waitpid(pid, NULL, 0) == pid);
	end(phase);
}

static void do_touch(struct job *job)
{
	void *data = mmap(NULL, 32 * MIB, PROT_READ, MAP_SHARED, job->data, 0);
	struct phase *phase;

	require(data != MAP_FAILED);
	phase = begin("touch", "io");
	touch_part(data, 24, 4);
	end(phase);
	require(!munmap(data, 32 * MIB));
}

static void write_account(const char *name)
{
	FILE *out = fopen(name, "w");

	require(out);
	fprintf(out, "{\"phases\": [");
	for (unsigned int i = 0; i < account->count; i++) {
		struct phase *phase = &account->phases[i];

		fprintf(out,
			"%s{\"name\": \"%s\", \"category\": \"%s\", \"pid\": %d, \"tid\": %d, "
			"\"start\": %llu, \"begun\": %llu, \"ending\": %llu, \"end\": %llu}",
			i ? ",\n" : "", phase->name, phase->category, phase->pid, phase->tid,
			(unsigned long long)phase->start_ns, (unsigned long long)phase->begun_ns,
			(unsigned long long)phase->ending_ns, (unsigned long long)phase->end_ns);
	}
	fprintf(out, "], \"bytes\": {");
	for (int i = 0; i < OWNERS; i++)
		fprintf(out, "%s\"%s\": {\"read\": %llu, \"write\": %llu}", i ? ", " : "",
			owner_names[i], account->read_bytes[i], account->write_bytes[i]);
	fprintf(out, "}}\n");
	require(!fclose(out));
}

int main(int argc, char **argv)
{
	struct phase *epoch;
	struct job job;

	require(argc == 3);
	account = mmap(NULL, sizeof(*account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	require(account != MAP_FAILED);
	job = (struct job) { .directory = argv[1],
			     .data = open_in(argv[1], "data", O_RDONLY),
			     .out = open_in(argv[1], "out", O_RDWR | O_CREAT) };
	require(!posix_fadvise(job.data, 0, 0, POSIX_FADV_RANDOM)); /* no readahead: many waits */
	read_part(NOBODY, job.data, 28, 1);
	epoch = begin("epoch", "");
	for (unsigned int step = 0; step < STEPS; step++)
		do_step(&job, step);
	do_child(&job);
	do_touch(&job);
	end(epoch);
	write_part(NOBODY, job.out, 1);
	write_account(argv[2]);
	return 0;
}
