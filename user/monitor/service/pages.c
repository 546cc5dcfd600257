/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of routes and their renderers. */
#include "monitor/service/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "capture/host/host.h"
#include "monitor/service/jobs_json.h"
#include "monitor/ledger/rates.h"

#define READY_NS 10000000000ull
#define RATE_NS 1000000000ull /* shortest interval of rates */
#define TICK_MS 1000

/* Generated from page/ by make_page.py. */
extern const unsigned char monitor_page[], monitor_page_policy[];

struct pages {
	struct pages_options options;
	struct rates *rates; /* protected by the ledger's lock */
	struct http *http;
	char host[256];
};

/* Returns how long ago the ledger was written; UINT64_MAX: never. */
static uint64_t read_ago(const struct pages *pages)
{
	uint64_t read_ns, readings, now;

	ledger_lock(pages->options.ledger);
	readings = ledger_readings(pages->options.ledger, &read_ns);
	ledger_unlock(pages->options.ledger);
	now = host_now_ns();
	return readings ? number_sub(now, read_ns) : UINT64_MAX;
}

static void refresh(const struct pages *pages)
{
	if (pages->options.refresh)
		pages->options.refresh(pages->options.context);
}

/* Also runs without requests, so that rates are recent, not averages since the previous request. */
static void note_rates(void *context)
{
	struct pages *pages = context;

	ledger_lock(pages->options.ledger);
	rates_note(pages->rates, pages->options.ledger, RATE_NS);
	ledger_unlock(pages->options.ledger);
}

static void render_healthy(void *context, const struct http_request *request,
			   struct http_answer *answer)
{
	sink_text(&answer->body, "alive\n");
}

static void render_ready(void *context, const struct http_request *request,
			 struct http_answer *answer)
{
	const struct pages *pages = context;
	uint64_t ago_ns = read_ago(pages), late_ns = 3 * pages->options.interval_ns;
	char line[128];

	if (ago_ns == UINT64_MAX) {
		http_say(answer, 503, "not ready: no reading yet");
	} else if (ago_ns > number_max(late_ns, READY_NS)) {
		snprintf(line, sizeof(line), "not ready: the last reading was %llu s ago",
			 (unsigned long long)(ago_ns / 1000000000));
		http_say(answer, 503, line);
	} else {
		sink_text(&answer->body, "ready\n");
	}
}

static void render_metrics(void *context, const struct http_request *request,
			   struct http_answer *answer)
{
	const struct pages *pages = context;

	if (!pages->options.metrics) {
		http_say(answer, 404, "metrics are not served");
		return;
	}
	refresh(pages);
	answer->type = pages->options.metrics(pages->options.context,
					      http_header(request, "Accept"), &answer->body);
}

/* Parses a numeric query argument; returns false if it is malformed. */
static bool take_number(const struct http_request *request, const char *name, uint64_t max,
			uint64_t *value)
{
	const char *text = http_argument(request, name);
	char *end;

	if (!text)
		return true;
	if (*text < '0' || *text > '9' || strlen(text) > 19)
		return false;
	*value = strtoull(text, &end, 10);
	if (*value > max)
		*value = max;
	return !*end;
}

static void render_jobs(void *context, const struct http_request *request,
			struct http_answer *answer)
{
	const struct pages *pages = context;
	struct jobs_query query = JOBS_QUERY_DEFAULTS;
	uint64_t jobs = query.jobs, processes = query.processes, files = query.files;

	if (!take_number(request, "job", UINT64_MAX, &query.job) ||
	    !take_number(request, "jobs", LEDGER_JOBS_MAX, &jobs) ||
	    !take_number(request, "processes", 1000, &processes) ||
	    !take_number(request, "files", LEDGER_FILES_MAX, &files)) {
		http_say(answer, 400, "job, jobs, processes and files must be numbers");
		return;
	}
	query.slurm_job = http_argument(request, "slurm_job");
	query.jobs = jobs;
	query.processes = processes;
	query.files = files;
	refresh(pages);
	note_rates(context);
	jobs_json(&answer->body, pages->options.ledger, pages->rates, pages->host, &query);
}

static void render_page(void *context, const struct http_request *request,
			struct http_answer *answer)
{
	sink_text(&answer->body, (const char *)monitor_page);
}

static void render_flight(void *context, const struct http_request *request,
			  struct http_answer *answer)
{
	const struct pages *pages = context;
	char message[512] = "";
	int err;

	if (!pages->options.flight) {
		http_say(answer, 404, "no flight recorder (requires --flight SIZE)");
		return;
	}
	err = pages->options.flight(pages->options.context, message, sizeof(message));
	http_say(answer, !err ? 202 : err == -EAGAIN ? 429 : 500, message);
}

#define TEXT "text/plain; charset=utf-8"

static const struct http_route routes[] = {
	{ "GET", "/", "text/html; charset=utf-8", (const char *)monitor_page_policy, false,
	  render_page },
	{ "GET", "/jobs", "application/json", NULL, false, render_jobs },
	{ "GET", "/metrics", TEXT, NULL, false, render_metrics },
	{ "GET", "/healthz", TEXT, NULL, false, render_healthy },
	{ "GET", "/readyz", TEXT, NULL, false, render_ready },
	{ "POST", "/flight", TEXT, NULL, true, render_flight },
};

int pages_open(struct pages **result, const char *listen, const struct token *token)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	const struct http_options http = {
		.listen = listen,
		.routes = routes,
		.route_count = sizeof(routes) / sizeof(routes[0]),
		.context = pages,
		.token = *token,
		.tick = note_rates,
		.tick_ms = TICK_MS,
	};
	int err = -ENOMEM;

	*result = NULL;
	if (!pages)
		return -ENOMEM;
	if (gethostname(pages->host, sizeof(pages->host) - 1))
		pages->host[0] = '\0';
	pages->rates = rates_open();
	if (pages->rates)
		err = http_open(&pages->http, &http);
	if (err) {
		pages_close(pages);
		return err;
	}
	*result = pages;
	return 0;
}

int pages_start(struct pages *pages, const struct pages_options *options)
{
	pages->options = *options;
	return http_start(pages->http);
}

void pages_close(struct pages *pages)
{
	if (!pages)
		return;
	http_close(pages->http);
	rates_close(pages->rates);
	free(pages);
}

const char *pages_address(const struct pages *pages)
{
	return http_address(pages->http);
}
