// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A process whose second thread executes a program: it goes on under the process's id, and the
 * thread's own is nobody's then. Writes that into OUT before.
 *
 *   reborn OUT
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "live.h"

static void *execute(void *out)
{
	FILE *file = fopen(out, "w");

	require(file);
	fprintf(file, "{\"pid\": %d, \"tid\": %ld}\n", (int)getpid(), (long)syscall(SYS_gettid));
	require(!fclose(file));
	execl("/proc/self/exe", "reborn", (char *)NULL);
	_exit(WORKLOAD_BROKEN);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc == 1)
		return 0;
	require(!pthread_create(&thread, NULL, execute, argv[1]));
	for (;;)
		pause();
}
