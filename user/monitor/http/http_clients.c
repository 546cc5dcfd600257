/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps the list of clients. Refuses those over the limit, and disconnects slow ones. */
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "monitor/http/http_state.h"

#define REFUSED_MS 1000
#define REST_READS 16	  /* of what a refused client still sends */
#define MAKE_ROOM_MS 2000 /* a client that was answered and is idle for this long gives way */
#define SLOW_PART 30	  /* a client is slow if it takes more than 1/30 of the time limit */

/* --- clients --- */

static void unlink_client(struct client *client)
{
	client->previous->next = client->next;
	client->next->previous = client->previous;
}

static void append_client(struct http *server, struct client *client)
{
	client->since_ns = host_now_ns();
	client->next = &server->clients;
	client->previous = server->clients.previous;
	client->previous->next = client;
	server->clients.previous = client;
}

void http_note_request(struct http *server, struct client *client, bool pending)
{
	client->pending = pending;
	client->served |= !pending;
	client->owed_bytes = 0;
	unlink_client(client);
	append_client(server, client);
}

static enum http_from where_from(const struct sockaddr *address)
{
	const struct in6_addr *six =
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	const struct sockaddr_in *four = (const void *)address;

	switch (address->sa_family) {
	case AF_UNIX:
		return HTTP_FROM_SOCKET;
	case AF_INET:
		return ntohl(four->sin_addr.s_addr) >> 24 == 127 ? HTTP_FROM_HERE
								 : HTTP_FROM_NETWORK;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(six) ||
				       (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127)
			       ? HTTP_FROM_HERE
			       : HTTP_FROM_NETWORK;
	default:
		return HTTP_FROM_NETWORK;
	}
}

void http_note_client(void *context, struct MHD_Connection *connection, void **client_place,
		      enum MHD_ConnectionNotificationCode code)
{
	struct http *server = context;
	struct client *client = *client_place;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		/* The second call may overwrite the result of the first. */
		const union MHD_ConnectionInfo *info =
			mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		enum http_from from = info ? where_from(info->client_addr) : HTTP_FROM_NETWORK;

		info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		client = info ? calloc(1, sizeof(*client)) : NULL;
		if (!client)
			return;
		client->fd = info->connect_fd;
		client->from = from;
		append_client(server, client);
		server->client_count++;
		*client_place = client;
	} else if (client) {
		unlink_client(client);
		server->client_count--;
		free(client);
		*client_place = NULL;
	}
}

/* libmicrohttpd notices and calls back. */
void http_drop_slow(struct http *server)
{
	uint64_t now = host_now_ns();
	const struct client *end = &server->clients;

	for (struct client *client = server->clients.next;
	     client != end && now - client->since_ns > server->time_max_ns; client = client->next)
		shutdown(client->fd, SHUT_RDWR);
}

/* --- refused clients --- */

static void drop_oldest_refused(struct http *server)
{
	char rest[4096];
	int fd = server->refused[server->refused_first].fd;

	/* Closing with unread data would send a reset, which discards the answer. */
	for (int i = 0; i < REST_READS; i++)
		if (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) != sizeof(rest))
			break;
	close(fd);
	server->refused_first = (server->refused_first + 1) % HTTP_REFUSED_KEPT;
	server->refused_count--;
}

void http_drop_refused(struct http *server, bool all)
{
	uint64_t now = server->refused_count ? host_now_ns() : 0;

	while (server->refused_count &&
	       (all ||
		now - server->refused[server->refused_first].since_ns > REFUSED_MS * 1000000ull))
		drop_oldest_refused(server);
}

static bool send_refusal(int fd)
{
	static const char answer[] =
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; "
		"charset=utf-8\r\nContent-Length: 34\r\nRetry-After: 2\r\nConnection: "
		"close\r\n\r\ntoo many clients; try again later\n";

	return send(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void http_refuse(struct http *server, int fd)
{
	struct refused *slot;
	char request[4096];

	if (server->refused_count == HTTP_REFUSED_KEPT)
		drop_oldest_refused(server);
	if (recv(fd, request, sizeof(request), MSG_DONTWAIT) < 0) {
		/* Nothing received yet; answer anyway. */
	}
	if (!send_refusal(fd)) {
		close(fd);
		return;
	}
	shutdown(fd, SHUT_WR);
	slot = &server->refused[(server->refused_first + server->refused_count++) %
				HTTP_REFUSED_KEPT];
	slot->fd = fd;
	slot->since_ns = host_now_ns();
}

/* --- making room --- */

/* Finds a client to disconnect: first the oldest that has not sent a whole request, then one that
 * was answered and has been idle for a while. NULL: none. */
static struct client *find_idle(struct http *server)
{
	uint64_t now = host_now_ns();
	struct client *end = &server->clients, *served = NULL;

	for (struct client *client = end->next; client != end; client = client->next) {
		if (client->pending || client->gone)
			continue;
		if (!client->served)
			return client;
		if (!served && now - client->since_ns > MAKE_ROOM_MS * 1000000ull)
			served = client;
	}
	return served;
}

/* libmicrohttpd notices when it next runs. */
static void hang_up(struct client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client->gone = true;
}

/* Returns whether an idle client was disconnected. */
static bool drop_idle(struct http *server)
{
	struct client *idle = find_idle(server);
	unsigned int before = server->client_count;

	if (!idle)
		return false;
	if (!idle->served)
		send_refusal(idle->fd);
	hang_up(idle);
	mhd.run(server->daemon);
	return server->client_count < before;
}

bool http_make_room(struct http *server)
{
	mhd.run(server->daemon); /* handles what has been sent or closed by now */
	return server->client_count < server->clients_max || drop_idle(server);
}

bool http_free_descriptor(struct http *server)
{
	if (!server->refused_count)
		return drop_idle(server);
	drop_oldest_refused(server);
	return true;
}

bool http_may_owe(struct http *server)
{
	uint64_t now = host_now_ns();
	const struct client *end = &server->clients;
	size_t owed = 0;

	for (const struct client *client = end->next; client != end; client = client->next)
		owed += client->gone ? 0 : client->owed_bytes;
	for (struct client *client = end->next; client != end && owed > server->owed_max_bytes;
	     client = client->next) {
		if (client->gone || !client->owed_bytes ||
		    now - client->since_ns <= server->time_max_ns / SLOW_PART)
			continue;
		hang_up(client);
		owed -= client->owed_bytes;
	}
	return owed <= server->owed_max_bytes;
}
