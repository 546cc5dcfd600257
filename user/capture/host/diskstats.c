/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads /proc/diskstats (Documentation/admin-guide/iostats.rst). Its sectors are 512 bytes. */
#include "capture/host/diskstats.h"

#include <stdio.h>

#include "trace/format/flags.h"

size_t diskstats_read(struct diskstat *stats, size_t room)
{
	FILE *file = fopen("/proc/diskstats", "re");
	size_t count = 0;
	char line[512];

	if (!file)
		return 0;
	while (count < room && fgets(line, sizeof(line), file)) {
		unsigned long long reads, read_sectors, writes, write_sectors;
		unsigned int major, minor;

		if (sscanf(line, "%u %u %*s %llu %*u %llu %*u %llu %*u %llu", &major, &minor,
			   &reads, &read_sectors, &writes, &write_sectors) != 6)
			continue;
		stats[count++] = (struct diskstat) {
			.dev = major << 20 | minor,
			.reads = reads,
			.read_bytes = read_sectors * TRACE_SECTOR_BYTES,
			.writes = writes,
			.write_bytes = write_sectors * TRACE_SECTOR_BYTES,
		};
	}
	fclose(file);
	return count;
}

const struct diskstat *diskstats_find(const struct diskstat *stats, size_t count, uint32_t dev)
{
	for (size_t i = 0; i < count; i++)
		if (stats[i].dev == dev)
			return &stats[i];
	return NULL;
}
