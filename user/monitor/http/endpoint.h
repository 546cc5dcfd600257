/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the service listens: an address with a port, or a Unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define ENDPOINT_TEXT (sizeof(((struct sockaddr_un *)0)->sun_path) + 16)

struct endpoint {
	int fd;			  /* -1: closed */
	bool loopback;		  /* reachable only from this machine */
	char text[ENDPOINT_TEXT]; /* "http://127.0.0.1:9918/" or "unix:PATH", as bound */
	struct stat file;	  /* of a Unix socket: the file that was created */
};

/*
 * Listens at "ADDR:PORT", "[ADDR6]:PORT" (numeric, or localhost; port 0 picks a free one) or
 * "unix:PATH". A Unix socket gets mode 0660 and replaces one that nobody listens on. Returns 0 or a
 * negative errno, logged; -EINVAL if `where` is malformed.
 */
int endpoint_open(struct endpoint *endpoint, const char *where);
/* Removes the socket if it is still the one that was created. May be called twice. */
void endpoint_close(struct endpoint *endpoint);

/* Returns whether `where` is well-formed; if not, logs an error that names the option. */
bool endpoint_fits(const char *option, const char *where);
/* Connects; `wait_s` limits that and each later call that sends or receives. Returns a descriptor
 * or a negative errno. */
int endpoint_connect(const char *where, unsigned int wait_s);
