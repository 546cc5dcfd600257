/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads libmicrohttpd on first use: with its dependencies it takes longer to load than all other
 * libraries together, and recordings and reports do not need it.
 */
#pragma once

#include <microhttpd.h>

#define HTTP_LIBRARY_FUNCTIONS(each)                                                               \
	each(add_connection) each(add_response_header) each(create_response_from_buffer)           \
		each(destroy_response) each(get_connection_info) each(get_daemon_info)             \
			each(get_timeout) each(lookup_connection_value) each(queue_response)       \
				each(run) each(start_daemon) each(stop_daemon)

/* Its functions, named without MHD_. */
struct http_library {
#define HTTP_LIBRARY_POINTER(name) typeof(MHD_##name) *name;
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_POINTER)
#undef HTTP_LIBRARY_POINTER
};

extern struct http_library mhd;

/* Fills mhd. Returns 0, also if already loaded, or a negative errno, logged. */
int http_library_load(void);
