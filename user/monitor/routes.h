/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the service answers over HTTP, as a table of routes. Knows nothing of how requests come.
 */
#ifndef FAULTLINE_MONITOR_ROUTES_H
#define FAULTLINE_MONITOR_ROUTES_H

#include "monitor/http.h"
#include "monitor/service.h"

/* What they are made from; the context of all routes. */
struct routes_context {
	struct service *service;
	uint64_t most_series;
};

extern const struct http_route monitor_routes[];
extern const size_t monitor_route_count;

#endif
