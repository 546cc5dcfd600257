/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sets resource limits of this process. */
#include "capture/host/rlimits.h"

#include <stdio.h>
#include <unistd.h>

void rlimits_set(__rlimit_resource_t resource, rlim_t limit)
{
	const struct rlimit both = { limit, limit };

	setrlimit(resource, &both);
}

void rlimits_set_memory(uint64_t more_bytes)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	rlimits_set(RLIMIT_AS, pages * sysconf(_SC_PAGESIZE) + more_bytes);
}
