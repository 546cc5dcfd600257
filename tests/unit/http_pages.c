/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The monitoring service's HTTP server with test pages: `bytes` bytes, one that takes a body, and
 * one that requires a token. Prints its address, serves until end of input.
 *
 * usage: http_pages LISTEN [--callers N] [--ms N] [--bytes N] [--token-file FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/http/http.h"

static void render_taken(void *context, const struct http_request *request,
			 struct http_answer *answer)
{
	sink_text(&answer->body, "taken");
}

static void render_header(void *context, const struct http_request *request,
			  struct http_answer *answer)
{
	const char *name = http_argument(request, "name");
	const char *value = name ? http_header(request, name) : NULL;

	if (value)
		sink_text(&answer->body, value);
	else
		http_say(answer, 404, "no such header");
}

static void render_bytes(void *context, const struct http_request *request,
			 struct http_answer *answer)
{
	const char *count = http_argument(request, "count");

	sink_repeat(&answer->body, 'x', count ? strtoul(count, NULL, 10) : 0);
}

static const struct http_route routes[] = {
	{ "GET", "/bytes", "text/plain", NULL, false, render_bytes },
	{ "GET", "/header", "text/plain", "default-src 'self'", false, render_header },
	{ "POST", "/take", "text/plain", NULL, false, render_taken },
	{ "POST", "/guarded", "text/plain", NULL, true, render_taken },
};

int main(int argc, char **argv)
{
	struct http_options options = {
		.listen = argv[1],
		.routes = routes,
		.route_count = sizeof(routes) / sizeof(routes[0]),
	};
	struct http *server;
	char rest[64];

	for (int i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--callers"))
			options.clients_max = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--ms"))
			options.time_max_ms = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--bytes"))
			options.owed_max_bytes = strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--token-file") || token_read(&options.token, argv[i + 1]))
			return 2;
	}
	if (argc < 2 || http_open(&server, &options) || http_start(server))
		return 2;
	printf("%s\n", http_address(server));
	fflush(stdout);
	while (read(STDIN_FILENO, rest, sizeof(rest)) > 0)
		;
	http_close(server);
	return 0;
}
