/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The program's side of tracer.h. Leaves no descriptor, memory or signal behind. */
#include "ask.h"
#include "tracer.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERED, GONE, UNREACHABLE };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* Returns whether this is the network namespace in which the tracer's name is valid. */
static int in_namespace(const char *inode)
{
	struct stat status;

	return !stat("/proc/self/ns/net", &status) && strtoull(inode, NULL, 10) == status.st_ino;
}

static int connect_to(const char *name, size_t length)
{
	const struct timeval limit = { .tv_sec = TRACER_ANSWER_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), status;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	memcpy(address.sun_path + 1, name, length);
	do
		status = connect(fd, (struct sockaddr *)&address,
				 offsetof(struct sockaddr_un, sun_path) + 1 + length);
	while (status && errno == EINTR);
	if (!status)
		return fd;
	status = errno;
	close(fd);
	errno = status;
	return -1;
}

/* Returns whether user ids are unmapped, because this process is in the initial user namespace. */
static int sees_users(void)
{
	unsigned long inside = 1, outside = 1, count = 0;
	FILE *map = fopen("/proc/self/uid_map", "re");

	if (!map)
		return 1;
	if (fscanf(map, "%lu %lu %lu", &inside, &outside, &count) != 3)
		count = 0;
	fclose(map);
	return !inside && !outside && count == UINT32_MAX;
}

/* Tracers run as root or as this user. Anyone may take the name of one that has exited. */
static int is_tracer(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return 0;
	return !peer.uid || peer.uid == getuid() || peer.uid == geteuid() || !sees_users();
}

/* Waits for an answer or the end of the connection. */
static void await(int fd)
{
	int64_t until = now_ms() + TRACER_ANSWER_MS, left;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while ((left = until - now_ms()) > 0 && poll(&wait, 1, left) < 0 && errno == EINTR)
		;
}

static int ask(const char *entry, size_t length, const void *code)
{
	struct tracer_ask question = { TRACER_MAGIC, sizeof(question), (uintptr_t)code };
	const char *at = memchr(entry, '@', length);
	int fd;

	if (!at || at == entry || (size_t)(at - entry) >= TRACER_NAME_BYTES)
		return UNREACHABLE;
	fd = connect_to(entry, at - entry);
	if (fd < 0)
		return errno == ECONNREFUSED && in_namespace(at + 1) ? GONE : UNREACHABLE;
	if (!is_tracer(fd)) {
		close(fd);
		return GONE;
	}
	if (send(fd, &question, sizeof(question), MSG_NOSIGNAL) == sizeof(question))
		await(fd);
	close(fd); /* the answer makes no difference */
	return ANSWERED;
}

int ask_tracers(const void *code)
{
	const char *entry = secure_getenv(TRACER_VARIABLE);
	int error = errno, unknown = 0, asked = 0;

	while (entry && *entry && asked++ < TRACER_MAX) {
		size_t length = strcspn(entry, ";");

		if (length && ask(entry, length, code) == UNREACHABLE)
			unknown = 1;
		entry += length + (entry[length] == ';');
	}
	errno = error;
	return unknown;
}
