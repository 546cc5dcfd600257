/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that ask to be listened to, and whose turn it is: that of the one whose file costs
 * least, so that large files, which may mean harm, hold up nobody but each other.
 */
#ifndef FAULTLINE_ASKERS_H
#define FAULTLINE_ASKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ASKERS_MAX 128 /* that have connected and are not answered */

struct asker {
	int fd; /* of the connection */
	pid_t pid;
	bool asked;
	int file;      /* that it asks for, open as a path; or a negative errno */
	uint64_t cost; /* of looking into that file; 0: it is known */
};

/* In the order in which they came. Zeroed: none. */
struct askers {
	struct asker all[ASKERS_MAX];
	size_t count;
};

/* Whether there is room for one more; those that connect and do not ask must not keep others out:
 * where there is none, they are hung up on. */
bool askers_have_room(struct askers *askers);

/* One has connected; there is room. */
void askers_add(struct askers *askers, int fd, pid_t pid);

/* It asks for a file. */
void askers_ask(struct asker *asker, int file, uint64_t cost);

/* The one whose turn it is, or NULL. Of two that cost the same the first one. */
struct asker *askers_next(struct askers *askers);

/* Hangs up, and forgets it; those that came later move up. */
void askers_drop(struct askers *askers, struct asker *asker);

#endif
