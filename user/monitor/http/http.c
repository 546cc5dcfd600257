/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The server's thread: accepts clients, refuses those over the limit, disconnects slow ones.
 * libmicrohttpd parses their requests, http_request.c answers them.
 */
#include "monitor/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "base/log.h"
#include "monitor/http/http_state.h"

#define MOST_CALLERS 64
#define MOST_MS 15000
#define MOST_BYTES (16 << 20)
/* MHD_USE_NO_THREAD_SAFETY: only one thread uses the library. Since 0.9.77 this is needed for
 * connections to be served as soon as they are handed over, not some time later. */
#define ONE_THREAD (1u << 19)
#define CALLER_MEMORY 16384 /* for libmicrohttpd: a request's line and headers */
#define TAKEN_AT_ONCE 256   /* clients accepted before existing ones are served again */
#define SWEEP_MS 250
#define REFUSED_MS 1000
#define MAKE_ROOM_MS 2000 /* a client that was answered and is idle for this long gives way */
#define SLOW_PART 30	  /* a client is slow if it takes more than 1/30 of the time limit */

/* --- clients --- */

static void unlink_caller(struct caller *caller)
{
	caller->previous->next = caller->next;
	caller->next->previous = caller->previous;
}

static void append_caller(struct http *server, struct caller *caller)
{
	caller->since_ns = host_now_ns();
	caller->next = &server->callers;
	caller->previous = server->callers.previous;
	caller->previous->next = caller;
	server->callers.previous = caller;
}

void http_note_turn(struct http *server, struct caller *caller, bool asked)
{
	caller->asked = asked;
	caller->served |= !asked;
	caller->owed_bytes = 0;
	unlink_caller(caller);
	append_caller(server, caller);
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

/* libmicrohttpd callback: a client has connected or disconnected. Without a `caller` it gets no
 * answer. */
static void note_caller(void *context, struct MHD_Connection *connection, void **caller_place,
			enum MHD_ConnectionNotificationCode code)
{
	struct http *server = context;
	struct caller *caller = *caller_place;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		/* The second call may overwrite the result of the first. */
		const union MHD_ConnectionInfo *info =
			mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		enum http_from from = info ? where_from(info->client_addr) : HTTP_FROM_NETWORK;

		info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		caller = info ? calloc(1, sizeof(*caller)) : NULL;
		if (!caller)
			return;
		caller->fd = info->connect_fd;
		caller->from = from;
		append_caller(server, caller);
		server->caller_count++;
		*caller_place = caller;
	} else if (caller) {
		unlink_caller(caller);
		server->caller_count--;
		free(caller);
		*caller_place = NULL;
	}
}

/* Disconnects clients over the time limit. libmicrohttpd notices and calls back. */
static void hang_up_on_slow(struct http *server)
{
	uint64_t now = host_now_ns();
	const struct caller *end = &server->callers;

	for (struct caller *caller = server->callers.next;
	     caller != end && now - caller->since_ns > server->most_ns; caller = caller->next)
		shutdown(caller->fd, SHUT_RDWR);
}

/* --- refused clients --- */

static void drop_refused(struct http *server)
{
	char rest[4096];
	int fd = server->refused[server->refused_first].fd;

	/* Closing with unread data would send a reset, which discards the answer. */
	while (recv(fd, rest, sizeof(rest), MSG_DONTWAIT) == sizeof(rest))
		;
	close(fd);
	server->refused_first = (server->refused_first + 1) % HTTP_REFUSED_KEPT;
	server->refused_count--;
}

static void drop_old_refused(struct http *server, bool all)
{
	uint64_t now = server->refused_count ? host_now_ns() : 0;

	while (server->refused_count &&
	       (all ||
		now - server->refused[server->refused_first].since_ns > REFUSED_MS * 1000000ull))
		drop_refused(server);
}

static bool send_refusal(int fd)
{
	static const char answer[] =
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; "
		"charset=utf-8\r\nContent-Length: 34\r\nRetry-After: 2\r\nConnection: "
		"close\r\n\r\ntoo many clients; try again later\n";

	return send(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void refuse(struct http *server, int fd)
{
	struct refused *place;
	char request[4096];

	if (server->refused_count == HTTP_REFUSED_KEPT)
		drop_refused(server);
	if (recv(fd, request, sizeof(request), MSG_DONTWAIT) < 0) {
		/* Nothing received yet; answer anyway. */
	}
	if (!send_refusal(fd)) {
		close(fd);
		return;
	}
	shutdown(fd, SHUT_WR);
	place = &server->refused[(server->refused_first + server->refused_count++) %
				 HTTP_REFUSED_KEPT];
	place->fd = fd;
	place->since_ns = host_now_ns();
}

/* --- making room --- */

/* Finds a client to disconnect: first the oldest that has not sent a whole request, then one that
 * was answered and has been idle for a while. NULL: none. */
static struct caller *find_idle(struct http *server)
{
	uint64_t now = host_now_ns();
	struct caller *end = &server->callers, *served = NULL;

	for (struct caller *caller = end->next; caller != end; caller = caller->next) {
		if (caller->asked || caller->gone)
			continue;
		if (!caller->served)
			return caller;
		if (!served && now - caller->since_ns > MAKE_ROOM_MS * 1000000ull)
			served = caller;
	}
	return served;
}

/* libmicrohttpd notices when it next runs. */
static void hang_up(struct caller *caller)
{
	shutdown(caller->fd, SHUT_RDWR);
	caller->gone = true;
}

/* Returns whether an idle client was disconnected. */
static bool drop_idle(struct http *server)
{
	struct caller *idle = find_idle(server);
	unsigned int before = server->caller_count;

	if (!idle)
		return false;
	if (!idle->served)
		send_refusal(idle->fd);
	hang_up(idle);
	mhd.run(server->daemon);
	return server->caller_count < before;
}

/* The limit is reached: returns whether a slot could be freed. */
static bool make_room(struct http *server)
{
	mhd.run(server->daemon); /* handles what has been sent or closed by now */
	return server->caller_count < server->most_callers || drop_idle(server);
}

/* Out of descriptors: returns whether one could be freed. */
static bool free_descriptor(struct http *server)
{
	if (!server->refused_count)
		return drop_idle(server);
	drop_refused(server);
	return true;
}

bool http_may_owe(struct http *server)
{
	uint64_t now = host_now_ns();
	const struct caller *end = &server->callers;
	size_t owed = 0;

	for (const struct caller *caller = end->next; caller != end; caller = caller->next)
		owed += caller->gone ? 0 : caller->owed_bytes;
	for (struct caller *caller = end->next; caller != end && owed > server->most_bytes;
	     caller = caller->next) {
		if (caller->gone || !caller->owed_bytes ||
		    now - caller->since_ns <= server->most_ns / SLOW_PART)
			continue;
		hang_up(caller);
		owed -= caller->owed_bytes;
	}
	return owed <= server->most_bytes;
}

/* --- the thread --- */

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Out of descriptors, and none can be freed: uses the spare one to accept and close the next
 * connection, because poll() would report it forever. */
static void take_without_descriptors(struct http *server)
{
	if (server->spare_fd < 0)
		return;
	close(server->spare_fd);
	server->spare_fd = accept4(server->endpoint.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	server->spare_fd = open_spare();
}

static void take_callers(struct http *server)
{
	for (int taken = 0; taken < TAKEN_AT_ONCE; taken++) {
		struct sockaddr_storage address = { 0 };
		socklen_t length = sizeof(address);
		int fd = accept4(server->endpoint.fd, (void *)&address, &length,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno != EMFILE && errno != ENFILE)
				return;
			if (free_descriptor(server))
				continue;
			take_without_descriptors(server);
			return;
		}
		if (server->caller_count >= server->most_callers && !make_room(server)) {
			refuse(server, fd);
			continue;
		}
		if (length < sizeof(sa_family_t)) /* no name: a client of a Unix socket */
			address.ss_family = AF_UNIX;
		if (mhd.add_connection(server->daemon, fd, (void *)&address, length) != MHD_YES)
			log_debug("cannot accept a connection: %s", strerror(errno));
	}
}

static int until_next(const struct http *server)
{
	MHD_UNSIGNED_LONG_LONG due;
	int most = server->caller_count || server->refused_count ? SWEEP_MS : -1;

	if (server->tick) {
		uint64_t past = host_now_ns() - server->ticked_ns;
		int left = past < server->tick_ns ? (server->tick_ns - past) / 1000000 + 1 : 0;

		most = most < 0 || left < most ? left : most;
	}
	if (mhd.get_timeout(server->daemon, &due) == MHD_YES && (most < 0 || due < (unsigned)most))
		most = due;
	return most;
}

static void tick(struct http *server)
{
	uint64_t now = server->tick ? host_now_ns() : 0;

	if (!server->tick || now - server->ticked_ns < server->tick_ns)
		return;
	server->ticked_ns = now;
	server->tick(server->context);
}

static void *serve(void *context)
{
	struct http *server = context;
	const union MHD_DaemonInfo *epoll =
		mhd.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polled[] = {
		{ .fd = server->wake_fd, .events = POLLIN },
		{ .fd = epoll->epoll_fd, .events = POLLIN },
		{ .fd = server->endpoint.fd, .events = POLLIN },
	};

	while (!server->ending) {
		if (poll(polled, 3, until_next(server)) < 0 && errno != EINTR) {
			log_error("the HTTP server cannot wait: %s", strerror(errno));
			break;
		}
		if (polled[2].revents)
			take_callers(server);
		mhd.run(server->daemon);
		hang_up_on_slow(server);
		drop_old_refused(server, false);
		tick(server);
	}
	return NULL;
}

/* --- opening and closing --- */

static void say_no_more(void *context, const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\r\n")] = '\0';
	log_debug("HTTP: %s", line);
}

static int start_daemon(struct http *server)
{
	server->daemon = mhd.start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | ONE_THREAD, 0, NULL,
		NULL, http_take, server, MHD_OPTION_EXTERNAL_LOGGER, say_no_more, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CALLER_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, server->most_callers, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_COMPLETED, http_forget, server, MHD_OPTION_NOTIFY_CONNECTION,
		note_caller, server, MHD_OPTION_END);
	if (server->daemon)
		return 0;
	log_error("the HTTP server could not start: %s", strerror(errno));
	return errno ? -errno : -ENOMEM;
}

/* The main thread handles signals. */
static int start_thread(struct http *server)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&server->thread, NULL, serve, server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		log_error("the HTTP server's thread could not start: %s", strerror(err));
		return -err;
	}
	pthread_setname_np(server->thread, "faultline-http");
	server->started = true;
	return 0;
}

int http_open(struct http **result, const struct http_options *options)
{
	struct http *server = calloc(1, sizeof(*server));
	int err;

	*result = NULL;
	if (!server)
		return -ENOMEM;
	server->routes = options->routes;
	server->route_count = options->route_count;
	server->context = options->context;
	server->token = options->token;
	server->tick = options->tick;
	server->tick_ns = options->tick_ms * 1000000ull;
	server->most_callers = options->most_callers ? options->most_callers : MOST_CALLERS;
	server->most_ns = (options->most_ms ? options->most_ms : MOST_MS) * 1000000ull;
	server->most_bytes = options->most_bytes ? options->most_bytes : MOST_BYTES;
	server->callers.next = server->callers.previous = &server->callers;
	server->endpoint.fd = -1;
	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	server->spare_fd = open_spare();
	err = http_library_load();
	err = err ? err : endpoint_open(&server->endpoint, options->listen);
	if (!err && (server->wake_fd < 0 || server->spare_fd < 0)) {
		log_error("no file descriptors left for the HTTP server");
		err = -EMFILE;
	}
	if (err) {
		http_close(server);
		return err;
	}
	*result = server;
	return 0;
}

int http_start(struct http *server)
{
	int err = start_daemon(server);

	server->ticked_ns = host_now_ns();
	return err ? err : start_thread(server);
}

void http_close(struct http *server)
{
	uint64_t one = 1;

	if (!server)
		return;
	server->ending = true;
	if (server->started) {
		if (write(server->wake_fd, &one, sizeof(one)) < 0)
			log_debug("the HTTP server could not be woken: %s", strerror(errno));
		pthread_join(server->thread, NULL);
	}
	if (server->daemon)
		mhd.stop_daemon(server->daemon);
	drop_old_refused(server, true);
	endpoint_close(&server->endpoint);
	if (server->wake_fd >= 0)
		close(server->wake_fd);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	explicit_bzero(&server->token, sizeof(server->token));
	free(server);
}

const char *http_address(const struct http *server)
{
	return server->endpoint.text;
}
