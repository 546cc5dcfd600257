/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clients (programs that ask the listener to attach to a file), and whose turn it is. The cheapest
 * file goes first, so that large, possibly hostile files delay only each other.
 */
#ifndef FAULTLINE_ASKERS_H
#define FAULTLINE_ASKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ASKERS_MAX 128 /* connected and not answered yet */

struct asker {
	int fd; /* connection */
	pid_t pid;
	bool asked;
	int file;      /* the requested file, open with O_PATH; or a negative errno */
	uint64_t cost; /* of reading that file; 0: it is known */
};

/* In order of arrival. Zero-initialized is empty. */
struct askers {
	struct asker all[ASKERS_MAX];
	size_t count;
};

/* Whether there is room for one more client. If not, first disconnects clients that have not sent a
 * request, so that they cannot keep others out. */
bool askers_have_room(struct askers *askers);

/* Adds a connected client; there must be room. */
void askers_add(struct askers *askers, int fd, pid_t pid);

/* Records a client's request for a file. */
void askers_ask(struct asker *asker, int file, uint64_t cost);

/* Returns the client whose turn it is, or NULL. If costs are equal, the first one. */
struct asker *askers_next(struct askers *askers);

/* Disconnects and removes a client; later ones move up. */
void askers_drop(struct askers *askers, struct asker *asker);

#endif
