// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Makes 32-bit system calls, as an old program would.
 *
 *   compat FILE COUNT    exit status 77 if the kernel lacks 32-bit calls
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "live.h"

#define NO_SUCH_CALLS 77
#define READ_32 3 /* number of the 32-bit read() */

static void on_fault(int number)
{
	(void)number;
	_exit(NO_SUCH_CALLS);
}

static long call_32(long number, long a, long b, long c)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
#else
	(void)number, (void)a, (void)b, (void)c;
	_exit(NO_SUCH_CALLS);
#endif
}

int main(int argc, char **argv)
{
	char *low;
	int fd;

	require(argc == 3);
	signal(SIGSEGV, on_fault);
#ifdef __x86_64__
	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1,
		   0);
#else
	low = MAP_FAILED;
	_exit(NO_SUCH_CALLS);
#endif
	fd = open(argv[1], O_RDONLY);
	require(low != MAP_FAILED && fd >= 0);
	for (int i = 0; i < atoi(argv[2]); i++) {
		lseek(fd, 0, SEEK_SET);
		require(call_32(READ_32, fd, (long)low, 100) == 100);
	}
	return 0;
}
