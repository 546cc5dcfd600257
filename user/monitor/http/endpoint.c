/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening and connecting sockets. */
#include "monitor/http/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"

#define BACKLOG 4096 /* connections that the kernel queues until they are accepted or refused */
#define UNIX_PREFIX "unix:"

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *four = (const void *)address;

		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	}
	return IN6_IS_ADDR_LOOPBACK(
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void note_address(struct endpoint *endpoint)
{
	struct sockaddr_storage bound;
	socklen_t length = sizeof(bound);
	char host[64] = "", port[8] = "";
	bool six;

	if (getsockname(endpoint->fd, (void *)&bound, &length) ||
	    getnameinfo((void *)&bound, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	six = bound.ss_family == AF_INET6;
	endpoint->loopback = is_loopback((void *)&bound);
	snprintf(endpoint->text, sizeof(endpoint->text), "http://%s%s%s:%s/", six ? "[" : "", host,
		 six ? "]" : "", port);
}

/* Splits "ADDR:PORT"; returns false if it is malformed. */
static bool split_address(const char *where, char host[64], char port[8])
{
	const char *colon = strrchr(where, ':'), *end = colon;

	if (!colon || colon == where || strlen(colon + 1) > 5 || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	if (*where == '[') {
		where++;
		end--;
		if (*end != ']')
			return false;
	} else if (memchr(where, ':', end - where)) {
		return false;
	}
	if (end <= where || end - where >= 64)
		return false;
	snprintf(host, 64, "%.*s", (int)(end - where), where);
	strcpy(port, colon + 1);
	return true;
}

/* Resolves `where`; the caller frees the result. The error message names `option`. */
static int find_address(const char *option, const char *where, struct addrinfo **found)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV };
	char host[64], port[8];

	if (split_address(where, host, port) && strtoul(port, NULL, 10) <= 65535 &&
	    !getaddrinfo(strcmp(host, "localhost") ? host : "127.0.0.1", port, &hints, found))
		return 0;
	log_error("%s %s: not ADDRESS:PORT, such as 127.0.0.1:9918, [::1]:9918 or 0.0.0.0:9918, "
		  "nor unix:PATH",
		  option, where);
	return -EINVAL;
}

static int find_file(const char *option, const char *where, struct sockaddr_un *address)
{
	const char *path = where + strlen(UNIX_PREFIX);

	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (!*path || strlen(path) >= sizeof(address->sun_path)) {
		log_error("%s %s: %s", option, where,
			  *path ? "socket path exceeds 107 bytes" : "the path is empty");
		return -EINVAL;
	}
	strcpy(address->sun_path, path);
	return 0;
}

static bool is_file(const char *where)
{
	return !strncmp(where, UNIX_PREFIX, strlen(UNIX_PREFIX));
}

static int open_address(struct endpoint *endpoint, const char *where)
{
	struct addrinfo *found;
	int on = 1, err = find_address("--listen", where, &found);

	if (err)
		return err;
	endpoint->fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (endpoint->fd < 0 ||
	    setsockopt(endpoint->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(endpoint->fd, found->ai_addr, found->ai_addrlen) || listen(endpoint->fd, BACKLOG))
		err = errno;
	freeaddrinfo(found);
	if (err) {
		log_error("--listen %s: %s%s", where, strerror(err),
			  err == EADDRINUSE ? "; is another monitor running? Use --listen to "
					      "choose another port"
					    : "");
		return -err;
	}
	note_address(endpoint);
	return 0;
}

/* Removes a socket that nobody listens on. Returns 0 if the path is free, or a negative errno. */
static int clear_place(const char *where, const struct sockaddr_un *address)
{
	struct stat file;
	int fd, err;

	if (lstat(address->sun_path, &file))
		return 0; /* nothing there; bind() reports anything else */
	if (!S_ISSOCK(file.st_mode)) {
		log_error("--listen %s: exists and is not a socket", where);
		return -EEXIST;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err = errno;
		log_error("--listen %s: %s", where, strerror(err));
		return -err;
	}
	err = connect(fd, (const void *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED) {
		log_error("--listen %s: %s", where,
			  err == EACCES ? "this user may not access it"
					: "another program listens there");
		return -EADDRINUSE;
	}
	if (unlink(address->sun_path)) {
		err = errno;
		log_error("--listen %s: cannot remove the stale socket: %s", where, strerror(err));
		return -err;
	}
	return 0;
}

/* Sets the mode and records the file's identity through a descriptor, so that no other file can be
 * meant. */
static int settle_file(struct endpoint *endpoint, const char *path)
{
	char itself[64];
	int err = 0, fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", fd);
	if (fstat(fd, &endpoint->file))
		err = -errno;
	else if (!S_ISSOCK(endpoint->file.st_mode))
		err = -ENOTSOCK;
	else if (chmod(itself, 0660))
		err = -errno;
	close(fd);
	return err;
}

static int open_unix(struct endpoint *endpoint, const char *where)
{
	struct sockaddr_un address;
	int err = find_file("--listen", where, &address);

	if (!err)
		err = clear_place(where, &address);
	if (err)
		return err;
	endpoint->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* The file inherits the descriptor's mode: it is never open to everyone, not even
	 * briefly. */
	if (endpoint->fd < 0 || fchmod(endpoint->fd, 0660) ||
	    bind(endpoint->fd, (void *)&address, sizeof(address)))
		err = -errno;
	if (!err)
		err = settle_file(endpoint, address.sun_path);
	if (!err && listen(endpoint->fd, BACKLOG))
		err = -errno;
	if (err) {
		log_error("--listen %s: %s", where, strerror(-err));
		return err;
	}
	endpoint->loopback = true;
	snprintf(endpoint->text, sizeof(endpoint->text), "%s", where);
	return 0;
}

int endpoint_open(struct endpoint *endpoint, const char *where)
{
	int err;

	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->fd = -1;
	err = is_file(where) ? open_unix(endpoint, where) : open_address(endpoint, where);
	if (err)
		endpoint_close(endpoint);
	return err;
}

void endpoint_close(struct endpoint *endpoint)
{
	const char *path = endpoint->text + strlen(UNIX_PREFIX);
	struct stat now;

	if (endpoint->fd < 0)
		return;
	close(endpoint->fd);
	endpoint->fd = -1;
	if (S_ISSOCK(endpoint->file.st_mode) && *endpoint->text && !lstat(path, &now) &&
	    now.st_dev == endpoint->file.st_dev && now.st_ino == endpoint->file.st_ino)
		unlink(path);
}

static int connect_to(const struct sockaddr *address, socklen_t length, unsigned int wait_s)
{
	const struct timeval wait = { .tv_sec = wait_s };
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) &&
	    !connect(fd, address, length))
		return fd;
	/* A timeout of connect() is EINPROGRESS on TCP sockets and EAGAIN on Unix sockets. */
	err = errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
	close(fd);
	return -err;
}

bool endpoint_fits(const char *option, const char *where)
{
	struct sockaddr_un file;
	struct addrinfo *found;

	if (is_file(where))
		return !find_file(option, where, &file);
	if (find_address(option, where, &found))
		return false;
	freeaddrinfo(found);
	return true;
}

int endpoint_connect(const char *where, unsigned int wait_s)
{
	struct sockaddr_un file;
	struct addrinfo *found;
	int fd = is_file(where) ? find_file("", where, &file) : find_address("", where, &found);

	if (fd)
		return fd;
	if (is_file(where))
		return connect_to((const void *)&file, sizeof(file), wait_s);
	fd = connect_to(found->ai_addr, found->ai_addrlen, wait_s);
	freeaddrinfo(found);
	return fd;
}
