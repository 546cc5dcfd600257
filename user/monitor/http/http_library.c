/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "monitor/http/http_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "base/log.h"

#define LIBRARY "libmicrohttpd.so.12" /* same interface since 0.9.38 */

struct http_library mhd;

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define HTTP_LIBRARY_ROW(name) { "MHD_" #name, offsetof(struct http_library, name) },
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_ROW)
#undef HTTP_LIBRARY_ROW
};

int http_library_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		log_error("cannot serve HTTP: %s", dlerror());
		return -ENOENT;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void **function = (void **)((char *)&mhd + functions[i].offset);

		*function = dlsym(library, functions[i].name);
		if (!*function) {
			log_error("cannot serve HTTP: %s", dlerror());
			dlclose(library);
			return -ENOENT;
		}
	}
	return 0;
}
