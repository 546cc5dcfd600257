/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the two halves of the HTTP server share: who calls, and what is asked. For http*.c alone.
 */
#ifndef FAULTLINE_HTTP_STATE_H
#define FAULTLINE_HTTP_STATE_H

#include <pthread.h>
#include <stdint.h>

#include "monitor/endpoint.h"
#include "monitor/http.h"
#include "monitor/http_library.h"

#define HTTP_MOST_BODY 16384 /* bytes that may follow the headers of a request */

/* Where a caller is. */
enum http_from { HTTP_FROM_SOCKET, HTTP_FROM_HERE, HTTP_FROM_NETWORK };

struct caller {
	struct caller *previous, *next; /* by `since_ns`, longest ago first */
	int fd;
	enum http_from from;
	bool asked;	   /* a whole request has come, its answer is not taken yet */
	bool served;	   /* has been answered before */
	bool gone;	   /* was hung up on to make room: takes none any more */
	uint64_t since_ns; /* since when it is asked, or waits */
	size_t owed_bytes; /* of an answer that is not taken yet */
};

/* One that was refused: what it sends is thrown away for a while, so that it gets to read why. */
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
	struct caller callers; /* of the list: its head */
	unsigned int caller_count, most_callers;
	uint64_t most_ns;
	size_t most_bytes;			   /* of answers that were not taken yet */
	struct refused refused[HTTP_REFUSED_KEPT]; /* a ring */
	unsigned int refused_first, refused_count;
	int spare_fd; /* given up for a moment when there are no descriptors left */
	int wake_fd;
	bool started;
	_Atomic bool ending;
	pthread_t thread;
};

/* libmicrohttpd's: a part of a request has come; it has been answered, or never will be. */
enum MHD_Result http_take(void *context, struct MHD_Connection *connection, const char *path,
			  const char *method, const char *version, const char *data, size_t *length,
			  void **request);
void http_forget(void *context, struct MHD_Connection *connection, void **request,
		 enum MHD_RequestTerminationCode why);
/* Notes that a caller's turn begins: the headers of a request have come, or it has been answered
 * and waits. */
void http_note_turn(struct http *server, struct caller *caller, bool asked);
/* Whether another answer may be made. While more is owed than may be, those who take theirs slowly
 * give way, whoever has been at it longest first. */
bool http_may_owe(struct http *server);

#endif
