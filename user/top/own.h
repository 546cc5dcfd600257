/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watches the node in this process, like the monitoring service but without a server. */
#pragma once

#include <stddef.h>

#include "monitor/service/service.h"
#include "output/base/sink.h"

struct own;

/* Starts watching all processes, or those of the user named in the options. Returns 0 or a negative
 * errno, logged. */
int own_open(struct own **own, const struct service_options *options);
void own_close(struct own *own); /* NULL is fine */
/* Writes what /jobs would answer now; the `take` of a live_source. */
int own_take(void *own, struct sink *json, char *error, size_t size);
