// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads from known functions at known depth, and says what backtrace(3) finds there: for each read,
 * a line with its offset in the file and its callers, the innermost first, as FILE+ADDRESS, with
 * the addresses of calls.
 *
 * usage: native_stacks MODE FILE   (MODE: chains, thread, deep, jit, mangled)
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_BYTES (32 << 20)
#define PAGE 4096
#define FRAMES 512
#define WIDE_BYTES 2048

/* Nothing is inlined, and no call is the last thing that a function does. */
#define KEPT __attribute__((noinline, noclone))
#define AFTER_CALL() asm volatile("" ::: "memory")

static int descriptor;
static char *buffer;

static void say_callers(long offset)
{
	void *at[FRAMES];
	int count = backtrace(at, FRAMES);

	printf("%ld:", offset);
	for (int i = 1; i < count; i++) { /* without this function */
		Dl_info info;
		char *call = (char *)at[i] - 1;

		if (dladdr(call, &info))
			printf(" %s+%#lx", info.dli_fname, (long)(call - (char *)info.dli_fbase));
		else
			printf(" ?+%p", (void *)call);
	}
	printf("\n");
}

KEPT long read_here(long offset)
{
	long got;

	say_callers(offset);
	got = pread(descriptor, buffer, READ_BYTES, offset);
	AFTER_CALL();
	return got;
}

KEPT long descend(int depth, long offset)
{
	long got = depth ? descend(depth - 1, offset) : read_here(offset);

	AFTER_CALL();
	return got + 1;
}

/* A frame whose size is known only when it is called. */
KEPT long descend_wide(int depth, long offset, int bytes)
{
	volatile char wide[bytes];
	long got;

	wide[0] = wide[bytes - 1] = depth;
	got = depth ? descend_wide(depth - 1, offset, bytes) : read_here(offset);
	AFTER_CALL();
	return got + wide[0];
}

KEPT int compare(const void *left, const void *right)
{
	static int done;

	if (!done++)
		read_here(100 * PAGE);
	AFTER_CALL();
	return *(const int *)left - *(const int *)right;
}

static void chains(void)
{
	int numbers[] = { 3, 1, 2 };

	for (int depth = 0; depth < 8; depth++)
		descend(depth, depth * PAGE);
	qsort(numbers, 3, sizeof(numbers[0]), compare); /* through the C library */
	AFTER_CALL();
}

static void *in_thread(void *unused)
{
	descend(2, 0);
	AFTER_CALL();
	return unused;
}

static void thread(void)
{
	pthread_t made;

	pthread_create(&made, NULL, in_thread, NULL);
	pthread_join(made, NULL);
}

static void deep(void)
{
	descend_wide(20, 0, WIDE_BYTES);
	AFTER_CALL();
}

/* A function that calls another one with a frame pointer, and no tables for unwinding. */
static void jit(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x31,
					      0xff, 0xff, 0xd6, 0x5d, 0xc3 };
#else
	static const unsigned int code[] = { 0xa9bf7bfd, 0x910003fd, 0xd2800000,
					     0xd63f0020, 0xa8c17bfd, 0xd65f03c0 };
#endif
	char *made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	memcpy(made, code, sizeof(code));
	__builtin___clear_cache(made, made + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (map) {
		fprintf(map, "%lx %zx jitted reader\n", (long)made, sizeof(code));
		fclose(map);
	}
	((long (*)(long, long (*)(long)))made)(0, read_here);
	AFTER_CALL();
	printf("map: %s\n", path);
	sleep(1); /* the map is read while the program runs */
}

/* Functions with names as compilers of C++ and Rust make them. */
KEPT long next(long offset) __asm__("_ZN4data6LoaderIiE4nextEl");
KEPT long encode(long offset) __asm__("_ZN10tokenizers6encode17h0123456789abcdefE");

KEPT long next(long offset)
{
	long got = read_here(offset);

	AFTER_CALL();
	return got + 1;
}

KEPT long encode(long offset)
{
	long got = next(offset);

	AFTER_CALL();
	return got + 1;
}

static void mangled(void)
{
	encode(0);
	AFTER_CALL();
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = { { "chains", chains },
	      { "thread", thread },
	      { "deep", deep },
	      { "jit", jit },
	      { "mangled", mangled } };

int main(int argc, char **argv)
{
	void *first[2];

	buffer = malloc(READ_BYTES);
	descriptor = argc == 3 ? open(argv[2], O_RDONLY) : -1;
	if (descriptor < 0 || !buffer)
		return 1;
	memset(buffer, 1, READ_BYTES);
	backtrace(first, 2); /* loads a library */
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].run();
	return 0;
}
