/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests and answers: finds the route, checks access, renders, and sends the result with headers
 * that protect browsers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "monitor/http/http_gzip.h"
#include "monitor/http/http_state.h"

struct http_request {
	struct MHD_Connection *connection;
	const struct http_route *route;
	struct client *client;
	size_t body_bytes;
};

/* --- for routes --- */

const char *http_header(const struct http_request *request, const char *name)
{
	return mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_argument(const struct http_request *request, const char *name)
{
	return mhd.lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

void http_say(struct http_answer *answer, unsigned int status, const char *line)
{
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	answer->body.used = 0;
	sink_text(&answer->body, line);
	sink_char(&answer->body, '\n');
}

/* --- sending --- */

/* The response takes over the body's memory, or it is freed. */
static struct MHD_Response *make_response(struct sink *body)
{
	struct MHD_Response *response = NULL;

	if (body->used && !body->error)
		response = mhd.create_response_from_buffer(body->used, body->buffer,
							   MHD_RESPMEM_MUST_FREE);
	else if (!body->error)
		response = mhd.create_response_from_buffer(0, (char *)"", MHD_RESPMEM_PERSISTENT);
	if (!response || !body->used)
		sink_close(body);
	sink_open_memory(body);
	return response;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_answer *answer,
				   const char *policy, const char *name, const char *value)
{
	struct MHD_Response *response = make_response(&answer->body);
	enum MHD_Result done;

	if (!response)
		return MHD_NO; /* disconnects: there is no memory for an error message */
	mhd.add_response_header(response, "Content-Type", answer->type);
	mhd.add_response_header(response, "Content-Security-Policy",
				policy ? policy : "default-src 'none'; frame-ancestors 'none'");
	mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
	mhd.add_response_header(response, "X-Frame-Options", "DENY");
	mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
	mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	mhd.add_response_header(response, "Cache-Control", "no-store");
	if (answer->gzipped)
		mhd.add_response_header(response, "Content-Encoding", "gzip");
	if (name)
		mhd.add_response_header(response, name, value);
	done = mhd.queue_response(connection, answer->status, response);
	mhd.destroy_response(response);
	return done;
}

static enum MHD_Result send_line(struct MHD_Connection *connection, unsigned int status,
				 const char *line, const char *name, const char *value)
{
	struct http_answer answer = { .gzipped = false };

	sink_open_memory(&answer.body);
	http_say(&answer, status, line);
	return send_answer(connection, &answer, NULL, name, value);
}

/* --- access --- */

/*
 * DNS rebinding: a foreign page can have its own name resolve to this machine and then query us as
 * if we were its server. The Host header gives it away.
 */
static bool is_own_name(const char *host)
{
	size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	const char *port = host + strnlen(host, length);

	if (*port && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
		return false;
	return (length == 9 && !strncasecmp(host, "localhost", 9)) ||
	       (length == 5 && !strncmp(host, "[::1]", 5)) ||
	       (!strncmp(host, "127.", 4) && strspn(host, "0123456789.") == length);
}

static const struct http_route *find_route(const struct http *server, const char *path,
					   const char *method, const char **limits)
{
	*limits = NULL;
	for (size_t i = 0; i < server->route_count; i++) {
		const struct http_route *route = &server->routes[i];

		if (strcmp(route->path, path))
			continue;
		if (!strcmp(route->method, method) ||
		    (!strcmp(method, "HEAD") && !strcmp(route->method, "GET")))
			return route;
		*limits = !strcmp(route->method, "GET") ? "GET, HEAD" : route->method;
	}
	return NULL;
}

/* Answers a request that is not allowed. If it is allowed, sets *refused to false, queues no answer
 * and returns MHD_YES. */
static enum MHD_Result judge_guarded(const struct http *server, struct MHD_Connection *connection,
				     const struct client *client, bool *refused)
{
	*refused = client->from != HTTP_FROM_SOCKET;
	if (!*refused)
		return MHD_YES;
	if (client->from == HTTP_FROM_NETWORK)
		return send_line(connection, 403, "allowed only from this machine", NULL, NULL);
	if (!server->token.length)
		return send_line(connection, 403,
				 "requires a Unix socket (--listen unix:PATH) or a token "
				 "(--token-file FILE)",
				 NULL, NULL);
	*refused = !token_matches(
		&server->token,
		mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"));
	if (!*refused)
		return MHD_YES;
	return send_line(connection, 401, "requires the token: Authorization: Bearer ...",
			 "WWW-Authenticate", "Bearer");
}

/* The headers have arrived. */
static enum MHD_Result begin(struct http *server, struct MHD_Connection *connection,
			     const char *path, const char *method, struct http_request **slot)
{
	const char *host = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
		   *limits;
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct client *client = info ? info->socket_context : NULL;
	const struct http_route *route = find_route(server, path, method, &limits);
	struct http_request *request;
	enum MHD_Result done;
	bool refused = false;

	if (!client)
		return MHD_NO;
	http_note_request(server, client, true);
	if (client->from != HTTP_FROM_SOCKET && server->endpoint.loopback && host &&
	    !is_own_name(host))
		return send_line(connection, 421, "Host must be localhost, 127.0.0.1 or [::1]",
				 NULL, NULL);
	if (!route && limits)
		return send_line(connection, 405, "method not allowed", "Allow", limits);
	if (!route)
		return send_line(connection, 404, "no such page", NULL, NULL);
	if (route->guarded) {
		done = judge_guarded(server, connection, client, &refused);
		if (refused)
			return done;
	}
	if (!http_may_owe(server))
		return send_line(connection, 503, "too much unread output; try again later",
				 "Retry-After", "2");
	request = malloc(sizeof(*request));
	if (!request)
		return MHD_NO;
	request->connection = connection;
	request->route = route;
	request->client = client;
	request->body_bytes = 0;
	client->pending = false; /* until the body is complete */
	*slot = request;
	return MHD_YES;
}

enum MHD_Result http_take(void *context, struct MHD_Connection *connection, const char *path,
			  const char *method, const char *version, const char *data, size_t *length,
			  void **slot)
{
	struct http *server = context;
	struct http_request *request = *slot;
	struct http_answer answer = { .status = 200 };

	if (!request)
		return begin(server, connection, path, method, (struct http_request **)slot);
	if (*length) { /* no route needs a body */
		request->body_bytes += *length;
		*length = 0;
		return MHD_YES;
	}
	request->client->pending = true;
	if (request->body_bytes > HTTP_BODY_MAX)
		return send_line(connection, 413, "request body too large", NULL, NULL);
	answer.type = request->route->type;
	sink_open_memory(&answer.body);
	request->route->render(server->context, request, &answer);
	if (answer.body.error) {
		sink_close(&answer.body);
		sink_open_memory(&answer.body);
		http_say(&answer, 500, "out of memory");
	}
	answer.gzipped = http_gzip_accepted(http_header(request, "Accept-Encoding")) &&
			 http_gzip(&answer.body);
	request->client->owed_bytes = answer.body.used;
	return send_answer(connection, &answer, request->route->policy, NULL, NULL);
}

void http_forget(void *context, struct MHD_Connection *connection, void **slot,
		 enum MHD_RequestTerminationCode why)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info && info->socket_context)
		http_note_request(context, info->socket_context, false);
	free(*slot);
	*slot = NULL;
}
