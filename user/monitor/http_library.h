/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libmicrohttpd, loaded when somebody is served: with what it needs itself it takes longer to load
 * than all other libraries together, and no recording and no report has a use for it. Knows nothing
 * of what is served.
 */
#ifndef FAULTLINE_HTTP_LIBRARY_H
#define FAULTLINE_HTTP_LIBRARY_H

#include <microhttpd.h>

#define HTTP_LIBRARY_FUNCTIONS(each)                                                               \
	each(add_connection) each(add_response_header) each(create_response_from_buffer)           \
		each(destroy_response) each(get_connection_info) each(get_daemon_info)             \
			each(get_timeout) each(lookup_connection_value) each(queue_response)       \
				each(run) each(start_daemon) each(stop_daemon)

/* Its functions, each under its name but for MHD_. */
struct http_library {
#define HTTP_LIBRARY_POINTER(name) typeof(MHD_##name) *name;
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_POINTER)
#undef HTTP_LIBRARY_POINTER
};

extern struct http_library mhd;

/* Fills mhd. 0, also when that is done already, or a negative errno, having said why. */
int http_library_load(void);

#endif
