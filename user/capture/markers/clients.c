/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A list of clients in order of arrival. */
#include "capture/markers/clients.h"

#include <string.h>
#include <unistd.h>

bool clients_have_room(struct clients *clients)
{
	if (clients->count == CLIENTS_MAX)
		for (size_t i = CLIENTS_MAX; i-- > 0;)
			if (!clients->all[i].has_request)
				clients_drop(clients, &clients->all[i]);
	return clients->count < CLIENTS_MAX;
}

void clients_add(struct clients *clients, int fd, pid_t pid)
{
	clients->all[clients->count++] = (struct client) { .fd = fd, .pid = pid, .file = -1 };
}

void clients_request(struct client *client, int file, uint64_t cost)
{
	client->has_request = true;
	client->file = file;
	client->cost = cost;
}

struct client *clients_next(struct clients *clients)
{
	struct client *next = NULL;

	for (size_t i = 0; i < clients->count; i++) {
		struct client *client = &clients->all[i];

		if (client->has_request && (!next || client->cost < next->cost))
			next = client;
	}
	return next;
}

void clients_drop(struct clients *clients, struct client *client)
{
	size_t behind = clients->all + clients->count - (client + 1);

	close(client->fd);
	if (client->file >= 0)
		close(client->file);
	memmove(client, client + 1, behind * sizeof(*client));
	clients->count--;
}
