/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starts helper processes, which do not execute a program. */
#include "capture/host/helper.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collections/compare.h"

pid_t helper_fork(void)
{
	return syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

COMPARE_BY(compare, int, COMPARE(*a, *b))

void helper_keep_descriptors(const int *kept, size_t count)
{
	int sorted[HELPER_DESCRIPTORS_MAX], from = 3, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	memcpy(sorted, kept, count * sizeof(*kept));
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i] > from)
			syscall(SYS_close_range, from, sorted[i] - 1, 0);
		if (sorted[i] >= from)
			from = sorted[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}
