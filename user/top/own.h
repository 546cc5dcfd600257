/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The node watched by this process itself, as the monitoring service does it, without a server.
 * Knows nothing of what is shown.
 */
#ifndef FAULTLINE_TOP_OWN_H
#define FAULTLINE_TOP_OWN_H

#include <stddef.h>

#include "monitor/service.h"
#include "output/sink.h"

struct own;

/* Begins to watch all processes, or those of the user that the options name. Returns 0 or a
 * negative errno, logged. */
int own_open(struct own **own, const struct service_options *options);
void own_close(struct own *own); /* NULL is fine */
/* What /jobs would answer, as of now; the take of a live_source. */
int own_take(void *own, struct sink *json, char *trouble, size_t size);

#endif
