/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clients (programs that ask the listener to attach to a file), and whose turn it is. The cheapest
 * file goes first, so that large, possibly hostile files delay only each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLIENTS_MAX 128 /* connected and not answered yet */

struct client {
	int fd; /* connection */
	pid_t pid;
	bool has_request;
	int file;      /* the requested file, open with O_PATH; or a negative errno */
	uint64_t cost; /* of reading that file; 0: it is known */
};

/* In order of arrival. Zero-initialized is empty. */
struct clients {
	struct client all[CLIENTS_MAX];
	size_t count;
};

/* Whether there is room for one more client. If not, first disconnects clients that have not sent a
 * request, so that they cannot keep others out. */
bool clients_have_room(struct clients *clients);

/* Adds a connected client; there must be room. */
void clients_add(struct clients *clients, int fd, pid_t pid);

/* Records a client's request for a file. */
void clients_request(struct client *client, int file, uint64_t cost);

/* Returns the client whose turn it is, or NULL. If costs are equal, the first one. */
struct client *clients_next(struct clients *clients);

/* Disconnects and removes a client; later ones move up. */
void clients_drop(struct clients *clients, struct client *client);
