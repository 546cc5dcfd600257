/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A list of clients in order of arrival.
 */
#include "capture/askers.h"

#include <string.h>
#include <unistd.h>

bool askers_have_room(struct askers *askers)
{
	if (askers->count == ASKERS_MAX)
		for (size_t i = ASKERS_MAX; i-- > 0;)
			if (!askers->all[i].asked)
				askers_drop(askers, &askers->all[i]);
	return askers->count < ASKERS_MAX;
}

void askers_add(struct askers *askers, int fd, pid_t pid)
{
	askers->all[askers->count++] = (struct asker) { .fd = fd, .pid = pid, .file = -1 };
}

void askers_ask(struct asker *asker, int file, uint64_t cost)
{
	asker->asked = true;
	asker->file = file;
	asker->cost = cost;
}

struct asker *askers_next(struct askers *askers)
{
	struct asker *next = NULL;

	for (size_t i = 0; i < askers->count; i++) {
		struct asker *asker = &askers->all[i];

		if (asker->asked && (!next || asker->cost < next->cost))
			next = asker;
	}
	return next;
}

void askers_drop(struct askers *askers, struct asker *asker)
{
	size_t behind = askers->all + askers->count - (asker + 1);

	close(asker->fd);
	if (asker->file >= 0)
		close(asker->file);
	memmove(asker, asker + 1, behind * sizeof(*asker));
	askers->count--;
}
