/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the monitoring service tells over HTTP: whether it is well, metrics, jobs as JSON, and a
 * page that shows them. Knows nothing of how anything is counted.
 */
#ifndef FAULTLINE_MONITOR_PAGES_H
#define FAULTLINE_MONITOR_PAGES_H

#include "monitor/http.h"
#include "monitor/ledger.h"

struct pages;

struct pages_options {
	struct ledger *ledger;
	uint64_t interval_ns; /* how often the ledger is written to, as it should be */
	void *context;	      /* of all that follows; each is called in the server's thread */
	/* Has the ledger brought up to now, in a few ms. NULL: it is told as it is. */
	void (*refresh)(void *context);
	/* Writes the metrics in the form that suits an Accept header (NULL: none came); returns the
	 * form's Content-Type. NULL: there are none. */
	const char *(*metrics)(void *context, const char *accept, struct sink *out);
	/*
	 * Has the last seconds written down, without waiting for that. Says in `said` where to, or
	 * why not. Returns 0, -EAGAIN: too soon after the last time; another negative errno: it
	 * cannot. NULL: nothing is recorded in flight.
	 */
	int (*flight)(void *context, char *said, size_t size);
};

/*
 * Listens at `listen`, see endpoint.h; who knows the token (empty: nobody) may ask over the
 * network, from this machine, for what is in flight to be written down. Who calls waits until
 * pages_start. Returns 0 or a negative errno, logged.
 */
int pages_open(struct pages **pages, const char *listen, const struct token *token);
/* Serves, in a thread with the rights of the one that calls this. Returns 0 or a negative errno,
 * logged. */
int pages_start(struct pages *pages, const struct pages_options *options);
void pages_close(struct pages *pages); /* NULL is fine */
/* Where they are: see http_address. */
const char *pages_address(const struct pages *pages);

#endif
