/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where the service listens: an address with a port, or a socket of the file system. Knows nothing
 * of what is said there.
 */
#ifndef FAULTLINE_ENDPOINT_H
#define FAULTLINE_ENDPOINT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ENDPOINT_TEXT (sizeof(((struct sockaddr_un *)0)->sun_path) + 16)

struct endpoint {
	int fd;			  /* -1: closed */
	bool loopback;		  /* nobody but this machine's own programs gets there */
	char text[ENDPOINT_TEXT]; /* "http://127.0.0.1:9918/" or "unix:PATH", as it really is */
	struct stat file;	  /* of a socket of the file system: what was made */
};

/*
 * Listens at "ADDR:PORT", "[ADDR6]:PORT" (numbers, or localhost; port 0: any that is free) or
 * "unix:PATH". A socket has mode 0660; one that is there and that nobody answers is replaced.
 * Returns 0 or a negative errno, logged; -EINVAL: `where` is no such thing.
 */
int endpoint_open(struct endpoint *endpoint, const char *where);
/* Removes the socket, if it is still the one that was made. May be called twice. */
void endpoint_close(struct endpoint *endpoint);

/* Whether it is a place of that kind; if not that is logged, with the option's name. */
bool endpoint_fits(const char *option, const char *where);
/* Connects to one; waits so many seconds for that, and later in each call that sends or receives.
 * Returns a descriptor, or a negative errno. */
int endpoint_connect(const char *where, unsigned int wait_s);

#endif
