/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small HTTP server over libmicrohttpd: a table of routes, each of which renders its answer into
 * memory. One thread, bounded memory, a bounded number of clients: excess clients are refused, slow
 * ones disconnected.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "monitor/http/token.h"
#include "output/base/sink.h"

#define HTTP_ADDRESS "127.0.0.1:9918" /* default address */

struct http;
struct http_request;

struct http_answer {
	unsigned int status; /* 200 unless the route sets another */
	const char *type;    /* the route's unless it sets another */
	struct sink body;    /* in memory */
	bool gzipped;	     /* set when sending */
};

struct http_route {
	const char *method; /* GET also answers HEAD */
	const char *path;
	const char *type;
	/* Content-Security-Policy of the answer; NULL: allows nothing. */
	const char *policy;
	/* Has side effects: allowed only over a Unix socket, or from this machine with the
	 * token. */
	bool guarded;
	/* Called in the server's thread: must not block, and must hold no lock while writing. */
	void (*render)(void *context, const struct http_request *request,
		       struct http_answer *answer);
};

struct http_options {
	const char *listen; /* see endpoint.h */
	const struct http_route *routes;
	size_t route_count;
	void *context;	    /* for the routes and `tick` */
	struct token token; /* for guarded routes; empty: they require a Unix socket */
	/* Called in the server's thread about every `tick_ms`; NULL: never. */
	void (*tick)(void *context);
	unsigned int tick_ms;
	/* 0: the service's defaults; other values are for tests. */
	unsigned int clients_max; /* concurrent clients */
	unsigned int
		time_max_ms;   /* for a whole request to arrive, and for its answer to be taken */
	size_t owed_max_bytes; /* of answers not yet taken */
};

/* Listens; clients queue until http_start. Returns 0 or a negative errno, logged. */
int http_open(struct http **server, const struct http_options *options);
/* Serves until http_close in a thread of its own, with the privileges of the calling thread.
 * Returns 0 or a negative errno, logged. */
int http_start(struct http *server);
/* Disconnects all clients. NULL is fine. */
void http_close(struct http *server);
/* "http://127.0.0.1:9918/" or "unix:PATH". */
const char *http_address(const struct http *server);

/* Returns a header, or an argument of the query string; NULL if absent. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_argument(const struct http_request *request, const char *name);
/* Answers with only this line. */
void http_say(struct http_answer *answer, unsigned int status, const char *line);
