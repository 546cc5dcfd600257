/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs the service in this process, and takes its jobs as JSON. */
#include "top/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/service/jobs_json.h"

struct own {
	struct service *service;
	struct rates *rates;
};

int own_open(struct own **own, const struct service_options *options)
{
	size_t processes, threads;
	int err;

	*own = calloc(1, sizeof(**own));
	if (!*own)
		return -ENOMEM;
	(*own)->rates = rates_open();
	err = (*own)->rates ? service_open(&(*own)->service, options, false) : -ENOMEM;
	if (!err)
		err = service_start((*own)->service, &processes, &threads);
	if (err) {
		own_close(*own);
		*own = NULL;
	}
	return err;
}

void own_close(struct own *own)
{
	if (!own)
		return;
	service_close(own->service);
	rates_close(own->rates);
	free(own);
}

int own_take(void *context, struct sink *json, char *error, size_t size)
{
	static const struct jobs_query everything = { .jobs = LEDGER_JOBS_MAX + 2,
						      .processes = 1024,
						      .files = LEDGER_FILES_MAX };
	struct own *own = context;

	service_read_now(own->service);
	jobs_json(json, service_ledger(own->service), own->rates, "", &everything);
	ledger_lock(service_ledger(own->service));
	ledger_forget_lines(service_ledger(own->service)); /* those of the next interval follow */
	ledger_unlock(service_ledger(own->service));
	if (json->error)
		snprintf(error, size, "%s", strerror(-json->error));
	return json->error;
}
