/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The little of HTTP/1.0 needed to query our own service, which marks the end of its answer by
 * closing the connection. Every command would have to load a full HTTP library.
 */
#include "top/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "monitor/http/endpoint.h"

#define PIECE_BYTES 65536

static int ask(int fd, const char *path)
{
	char request[256];
	int length =
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);

	if (length >= (int)sizeof(request))
		return -ENAMETOOLONG;
	return send(fd, request, length, MSG_NOSIGNAL) == length ? 0 : -EPROTO;
}

/* Reads until the peer closes. The socket limits how long it may be silent; this limits the total
 * time. */
static int hear(int fd, struct sink *answer)
{
	const uint64_t deadline_ns = host_now_ns() + CLIENT_ANSWER_S * 1000000000ull;
	ssize_t got;

	do {
		if (host_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		if (answer->used > CLIENT_ANSWER_MAX)
			return -EFBIG;
		if (!sink_reserve(answer, PIECE_BYTES))
			return -ENOMEM;
		got = recv(fd, answer->buffer + answer->used, PIECE_BYTES, 0);
		if (got < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		answer->used += got > 0 ? got : 0;
	} while (got);
	return 0;
}

/* Leaves only the body in the sink. */
static int take_body(struct sink *answer, char *error, size_t size)
{
	const char *end = memmem(answer->buffer, answer->used, "\r\n\r\n", 4);
	const char *line = memchr(answer->buffer, '\r', answer->used);
	size_t head;

	/* at least "HTTP/1.x NNN" before the end of the line */
	if (!end || line - answer->buffer < 12 || memcmp(answer->buffer, "HTTP/1.", 7)) {
		snprintf(error, size, "the server is not a faultline monitor");
		return -EPROTO;
	}
	if (memcmp(answer->buffer + 8, " 200", 4)) {
		snprintf(error, size, "the monitor answered: %.*s",
			 (int)(line - answer->buffer - 9), answer->buffer + 9);
		return -EPROTO;
	}
	head = end + 4 - answer->buffer;
	memmove(answer->buffer, answer->buffer + head, answer->used - head);
	answer->used -= head;
	return 0;
}

int client_get(const char *where, const char *path, struct sink *body, char *error, size_t size)
{
	int fd = endpoint_connect(where, CLIENT_WAIT_S), err;

	body->used = 0;
	if (fd < 0) {
		snprintf(error, size, "%s: %s", where, strerror(-fd));
		return fd;
	}
	err = ask(fd, path);
	if (!err)
		err = hear(fd, body);
	close(fd);
	if (err)
		snprintf(error, size, "%s: %s", where,
			 err == -EPROTO ? "connection closed" : strerror(-err));
	return err ? err : take_body(body, error, size);
}
