/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The server's thread. libmicrohttpd parses requests, http_request.c answers them, http_clients.c
 * limits who may ask.
 */
#include "monitor/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "base/log.h"
#include "base/thread.h"
#include "monitor/http/http_state.h"

#define CLIENTS_MAX 64
#define TIME_MAX_MS 15000
#define OWED_MAX_BYTES (16 << 20)
/* MHD_USE_NO_THREAD_SAFETY: only one thread uses the library. Since 0.9.77 this is needed for
 * connections to be served as soon as they are handed over, not some time later. */
#define ONE_THREAD (1u << 19)
#define CLIENT_MEMORY 16384 /* for libmicrohttpd: a request's line and headers */
#define TAKEN_AT_ONCE 256   /* clients accepted before existing ones are served again */
#define SWEEP_MS 250

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

static void take_clients(struct http *server)
{
	for (int taken = 0; taken < TAKEN_AT_ONCE; taken++) {
		struct sockaddr_storage address = { 0 };
		socklen_t length = sizeof(address);
		int fd = accept4(server->endpoint.fd, (void *)&address, &length,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno != EMFILE && errno != ENFILE)
				return;
			if (http_free_descriptor(server))
				continue;
			take_without_descriptors(server);
			return;
		}
		if (server->client_count >= server->clients_max && !http_make_room(server)) {
			http_refuse(server, fd);
			continue;
		}
		if (length < sizeof(sa_family_t)) /* no name: a client of a Unix socket */
			address.ss_family = AF_UNIX;
		if (mhd.add_connection(server->daemon, fd, (void *)&address, length) != MHD_YES)
			log_debug("cannot accept a connection: %s", strerror(errno));
	}
}

/* Returns the timeout for poll(). */
static int next_timeout_ms(const struct http *server)
{
	MHD_UNSIGNED_LONG_LONG due;
	int timeout_ms = server->client_count || server->refused_count ? SWEEP_MS : -1;

	if (server->tick) {
		uint64_t past = host_now_ns() - server->ticked_ns;
		int left = past < server->tick_ns ? (server->tick_ns - past) / 1000000 + 1 : 0;

		timeout_ms = timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
	}
	if (mhd.get_timeout(server->daemon, &due) == MHD_YES &&
	    (timeout_ms < 0 || due < (unsigned)timeout_ms))
		timeout_ms = due;
	return timeout_ms;
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
		if (poll(polled, 3, next_timeout_ms(server)) < 0 && errno != EINTR) {
			log_error("the HTTP server cannot wait: %s", strerror(errno));
			break;
		}
		if (polled[2].revents)
			take_clients(server);
		mhd.run(server->daemon);
		http_drop_slow(server);
		http_drop_refused(server, false);
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
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, server->clients_max, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_COMPLETED, http_forget, server, MHD_OPTION_NOTIFY_CONNECTION,
		http_note_client, server, MHD_OPTION_END);
	if (server->daemon)
		return 0;
	log_error("the HTTP server could not start: %s", strerror(errno));
	return errno ? -errno : -ENOMEM;
}

static int start_thread(struct http *server)
{
	int err = thread_start(&server->thread, serve, server);

	if (err) {
		log_error("the HTTP server's thread could not start: %s", strerror(-err));
		return err;
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
	server->clients_max = options->clients_max ? options->clients_max : CLIENTS_MAX;
	server->time_max_ns =
		(options->time_max_ms ? options->time_max_ms : TIME_MAX_MS) * 1000000ull;
	server->owed_max_bytes = options->owed_max_bytes ? options->owed_max_bytes : OWED_MAX_BYTES;
	server->clients.next = server->clients.previous = &server->clients;
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
	http_drop_refused(server, true);
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
