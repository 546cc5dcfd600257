/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small HTTP server over libmicrohttpd: a table of routes, each of which renders its answer into
 * memory. It has one thread, bounded memory and a bounded number of callers; whoever is one too
 * many is told so, whoever is slow is hung up on. Knows nothing of what is served.
 */
#ifndef FAULTLINE_HTTP_H
#define FAULTLINE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/token.h"
#include "output/sink.h"

#define HTTP_ADDRESS "127.0.0.1:9918" /* where, if nothing is said */

struct http;
struct http_request;

struct http_answer {
	unsigned int status; /* 200, unless the route says otherwise */
	const char *type;    /* the route's, unless it says otherwise */
	struct sink body;    /* in memory */
	bool gzipped;	     /* set when it is sent */
};

struct http_route {
	const char *method; /* GET answers HEAD, too */
	const char *path;
	const char *type;
	/* What a browser may do with the answer, as a Content-Security-Policy; NULL: nothing. */
	const char *policy;
	/* Has something done: only by a socket of the file system, or from this machine with the
	 * token. */
	bool guarded;
	/* Called in the server's thread: must not wait, and hold no lock while it writes. */
	void (*render)(void *context, const struct http_request *request,
		       struct http_answer *answer);
};

struct http_options {
	const char *listen; /* see endpoint.h */
	const struct http_route *routes;
	size_t route_count;
	void *context;	    /* of the routes */
	struct token token; /* for guarded routes; empty: they need a socket of the file system */
	/* Called in the server's thread, about so often; NULL: never. */
	void (*tick)(void *context);
	unsigned int tick_ms;
	/* 0: as it is good for a service; other numbers are for tests. */
	unsigned int most_callers; /* at once */
	unsigned int most_ms; /* until a request has come whole, and until its answer is taken */
	size_t most_bytes;    /* of answers that were not taken yet */
};

/* Listens: who calls waits until http_start. Returns 0 or a negative errno, logged. */
int http_open(struct http **server, const struct http_options *options);
/* Serves until http_close, in a thread of its own, with the rights of the one that calls this.
 * Returns 0 or a negative errno, logged. */
int http_start(struct http *server);
/* Hangs up on everybody. NULL is fine. */
void http_close(struct http *server);
/* "http://127.0.0.1:9918/" or "unix:PATH". */
const char *http_address(const struct http *server);

/* A header, or an argument behind the path's question mark; NULL when there is none. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_argument(const struct http_request *request, const char *name);
/* What came after the headers; not NUL-terminated. */
const char *http_body(const struct http_request *request, size_t *length);
/* An answer that is nothing but this line. */
void http_say(struct http_answer *answer, unsigned int status, const char *line);

#endif
