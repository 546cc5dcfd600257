/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HTTP pages of the monitoring service: health, metrics, jobs as JSON, and a page that shows them.
 */
#pragma once

#include "monitor/http/http.h"
#include "monitor/ledger/ledger.h"

struct pages;

struct pages_options {
	struct ledger *ledger;
	uint64_t interval_ns; /* how often the ledger should be written */
	void *context;	      /* of the callbacks below, all called in the server's thread */
	/* Brings the ledger up to date within a few ms. NULL: it is used as it is. */
	void (*refresh)(void *context);
	/* Writes the metrics in the format that suits an Accept header (NULL: none was sent) and
	 * returns its Content-Type. NULL: there are no metrics. */
	const char *(*metrics)(void *context, const char *accept, struct sink *out);
	/*
	 * Starts writing the last seconds to a trace, without waiting. `said` receives where, or
	 * why not. Returns 0, -EAGAIN if too soon after the last time, or another negative errno.
	 * NULL: there is no flight recorder.
	 */
	int (*flight)(void *context, char *message, size_t size);
};

/*
 * Listens at `listen`, see endpoint.h. Clients on this machine with the token (empty: none) may
 * request a flight trace over the network. Clients queue until pages_start. Returns 0 or a negative
 * errno, logged.
 */
int pages_open(struct pages **pages, const char *listen, const struct token *token);
/* Serves in a thread with the privileges of the calling thread. Returns 0 or a negative errno,
 * logged. */
int pages_start(struct pages *pages, const struct pages_options *options);
void pages_close(struct pages *pages); /* NULL is fine */
/* Returns where they are, see http_address. */
const char *pages_address(const struct pages *pages);
