/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads /proc/PID/maps. */
#include "capture/host/maps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void maps_open(struct maps *maps, uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	*maps = (struct maps) { .file = fopen(path, "re") };
}

void maps_close(struct maps *maps)
{
	free(maps->line);
	if (maps->file)
		fclose(maps->file);
}

static bool parse(char *line, struct mapping *mapping)
{
	char rights[8];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %x:%x %" SCNu64 " %n", &mapping->start,
		   &mapping->end, rights, &mapping->major, &mapping->minor, &mapping->inode,
		   &name) != 6)
		return false;
	mapping->code = rights[2] == 'x';
	mapping->path = line + name;
	line[name + strcspn(line + name, "\n")] = 0;
	return mapping->start < mapping->end;
}

bool maps_next(struct maps *maps, struct mapping *mapping)
{
	while (maps->file && getline(&maps->line, &maps->room, maps->file) > 0)
		if (parse(maps->line, mapping))
			return true;
	return false;
}
