/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Internal state shared by http*.c: clients and requests. */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "monitor/http/endpoint.h"
#include "monitor/http/http.h"
#include "monitor/http/http_library.h"

#define HTTP_BODY_MAX 16384 /* maximum size of a request's body */

/* Where a client connects from. */
enum http_from { HTTP_FROM_SOCKET, HTTP_FROM_HERE, HTTP_FROM_NETWORK };

struct client {
	struct client *previous, *next; /* by `since_ns`, oldest first */
	int fd;
	enum http_from from;
	bool pending;	   /* a whole request has arrived, its answer is not yet taken */
	bool served;	   /* has been answered before */
	bool gone;	   /* disconnected to make room; gets no further answer */
	uint64_t since_ns; /* when it began its request, or began to be idle */
	size_t owed_bytes; /* of an answer not yet taken */
};

/* A refused client: its input is discarded for a while, so that it can read the refusal. */
struct refused {
	int fd;
	uint64_t since_ns;
};

#define HTTP_REFUSED_KEPT 256

struct http {
	struct endpoint endpoint;
	struct MHD_Daemon *daemon;
	const struct http_route *routes;
	size_t route_count;
	void *context;
	void (*tick)(void *context);
	uint64_t tick_ns, ticked_ns;
	struct token token;
	struct client clients; /* head of the list */
	unsigned int client_count, clients_max;
	uint64_t time_max_ns;
	size_t owed_max_bytes;			   /* of answers not yet taken */
	struct refused refused[HTTP_REFUSED_KEPT]; /* a ring */
	unsigned int refused_first, refused_count;
	int spare_fd; /* given up briefly when there are no descriptors left */
	int wake_fd;
	bool started;
	_Atomic bool ending;
	pthread_t thread;
};

/* --- http_clients.c --- */

/* libmicrohttpd callback: a client has connected or disconnected. One that cannot be stored gets no
 * answer. */
void http_note_client(void *context, struct MHD_Connection *connection, void **slot,
		      enum MHD_ConnectionNotificationCode code);
/* Starts a client's next turn: the headers of a request have arrived, or it has been answered and
 * is idle. */
void http_note_request(struct http *server, struct client *client, bool pending);
/* Returns whether another answer may be made. Over the memory limit, disconnects clients that take
 * their answers slowly, the slowest first. */
bool http_may_owe(struct http *server);
/* Disconnects clients over the time limit. */
void http_drop_slow(struct http *server);
/* Answers a client over the limit, and keeps its connection until the answer has been read. */
void http_refuse(struct http *server, int fd);
/* Closes refused clients that were kept long enough, or all. */
void http_drop_refused(struct http *server, bool all);
/* The limit is reached: returns whether a slot could be freed. */
bool http_make_room(struct http *server);
/* Out of descriptors: returns whether one could be freed. */
bool http_free_descriptor(struct http *server);

/* --- http_request.c --- */

/* libmicrohttpd callbacks: a part of a request has arrived; a request has ended, answered or
 * not. */
enum MHD_Result http_take(void *context, struct MHD_Connection *connection, const char *path,
			  const char *method, const char *version, const char *data, size_t *length,
			  void **request);
void http_forget(void *context, struct MHD_Connection *connection, void **request,
		 enum MHD_RequestTerminationCode why);
