/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The routes: each takes what the service knows at that moment. Knows nothing of the kernel.
 */
#include "monitor/routes.h"

#include "monitor/openmetrics.h"

static void render_metrics(void *context, const struct http_request *request,
			   struct http_answer *answer)
{
	const struct routes_context *routes = context;
	enum openmetrics_format format = openmetrics_choose(http_header(request, "Accept"));

	answer->type = openmetrics_type(format);
	/* What was done up to now is part of it. */
	service_read_now(routes->service);
	openmetrics_render(routes->service, routes->most_series, format, &answer->body);
}

const struct http_route monitor_routes[] = {
	{ "GET", "/metrics", "text/plain; version=0.0.4; charset=utf-8", NULL, false,
	  render_metrics },
};
const size_t monitor_route_count = sizeof(monitor_routes) / sizeof(monitor_routes[0]);
