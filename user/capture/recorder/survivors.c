/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks up every process of the machine in the kernel side's map of tasks. */
#include "capture/recorder/survivors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t survivors_find(struct session *session, uint64_t *pids, size_t max)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (dir && count < max && (entry = readdir(dir))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (pid && !*end && session_follows(session, pid))
			pids[count++] = pid;
	}
	if (dir)
		closedir(dir);
	return count;
}

void survivors_name(uint64_t pid, char *out, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
	file = fopen(path, "re");
	if (!file || !fgets(out, size, file))
		snprintf(out, size, "?");
	out[strcspn(out, "\n")] = 0;
	if (file)
		fclose(file);
}
