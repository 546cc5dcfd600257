/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline top: current I/O of this node's jobs, processes and files. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/host/privileges.h"
#include "capture/support/selection.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "base/log.h"
#include "output/base/style.h"
#include "monitor/http/endpoint.h"
#include "monitor/http/http.h"
#include "monitor/service/metrics.h"
#include "top/client.h"
#include "top/live.h"
#include "top/own.h"
#include "top/terminal.h"

#define JOBS_PATH "/jobs?jobs=1000&processes=64&files=48"
#define NOBODY "none"
#define INTERVAL_MIN_NS 100000000ull
#define BUFFER_BYTES (1u << 20) /* for each CPU, as in the monitor */

struct top_options {
	const char *connect, *subject, *sort, *filter, *format, *stacks, *colour;
	uint64_t interval_ns, count;
	bool batch, idle;
};

static const struct option_row top_rows[] = {
	{ 'c', "connect", "WHERE", OPTION_STRING, offsetof(struct top_options, connect),
	  "Read from the monitor at ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; none: watch this "
	  "machine directly. Default: " HTTP_ADDRESS " if it answers, else none." },
	{ 'i', "interval", "TIME", OPTION_TIME, offsetof(struct top_options, interval_ns),
	  "Time between frames. Default: 2s.", INTERVAL_MIN_NS, UINT64_MAX },
	{ 's', "show", "jobs|processes|files", OPTION_CHOICE, offsetof(struct top_options, subject),
	  "Initial view. Default: jobs." },
	{ 0, "sort", "COLUMN", OPTION_STRING, offsetof(struct top_options, sort),
	  "Sort rows by this column, named as in --format json. Default: busy." },
	{ 0, "filter", "TEXT", OPTION_STRING, offsetof(struct top_options, filter),
	  "Show only rows with this text in their name, job or user, ignoring case." },
	{ 0, "idle", NULL, OPTION_FLAG, offsetof(struct top_options, idle),
	  "Show idle jobs and processes, too." },
	{ 'b', "batch", NULL, OPTION_FLAG, offsetof(struct top_options, batch),
	  "Print frames one after another, without a terminal." },
	{ 'n', "count", "N", OPTION_COUNT, offsetof(struct top_options, count),
	  "Exit after N frames.", 1, UINT64_MAX },
	{ 0, "format", "text|json", OPTION_CHOICE, offsetof(struct top_options, format),
	  "With --batch: text, or one JSON object per frame. Default: text." },
	{ 0, "stacks", "python|off", OPTION_CHOICE, offsetof(struct top_options, stacks),
	  "When watching directly, show at which lines of Python processes wait or compute. "
	  "Default: python." },
	{ 0, "color", "auto|always|never", OPTION_CHOICE, offsetof(struct top_options, colour),
	  "Color in text; auto: on a terminal, unless NO_COLOR is set. Default: auto." },
};

static const struct option_table top_table = {
	.usage = "faultline top [OPTION...]",
	.about = "Shows what the jobs, processes and files of this machine read, write and wait "
		 "for right now. Reads from faultline monitor if one runs; otherwise watches all "
		 "processes itself, which requires root. If its capabilities come from the program "
		 "file, it shows only the user's own processes.\nKeys: j, p, f (jobs, processes, "
		 "files); <, > (sort by another column); / (filter); i (idle ones, too); Space "
		 "(pause); h (help on keys and columns); q (quit).",
	.own = OPTION_ROWS(top_rows),
};

static int ask_monitor(void *context, struct sink *json, char *error, size_t size)
{
	return client_get(context, JOBS_PATH, json, error, size);
}

static enum top_subject find_subject(const char *name)
{
	int subject = 0;

	while (subject < TOP_FILES && strcmp(top_subject_names[subject], name) != 0)
		subject++;
	return subject;
}

static bool watches_itself(const struct top_options *options)
{
	return options->connect && !strcmp(options->connect, NOBODY);
}

static int check_options(const struct top_options *options)
{
	if (options->connect && !watches_itself(options) &&
	    !endpoint_fits("--connect", options->connect))
		return -EINVAL;
	if (!options->batch && !strcmp(options->format, "json")) {
		log_error("--format json requires --batch");
		return -EINVAL;
	}
	if (!options->batch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		log_error("not a terminal; use --batch");
		return -EINVAL;
	}
	if (!options->batch && !style_escapes(STDOUT_FILENO)) {
		log_error("this terminal has no escape sequences (TERM); use --batch");
		return -EINVAL;
	}
	return 0;
}

/* Returns whether anything listens there. Other errors count as yes, and are reported later. */
static bool monitor_answers(const char *where)
{
	int fd = endpoint_connect(where, CLIENT_WAIT_S);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (fd != -ECONNREFUSED && fd != -ENOENT);
}

/* A socket given by the user is opened only with the caller's own rights. */
static bool asks_monitor(const struct top_options *options, const char *where)
{
	return options->connect ? !watches_itself(options) : monitor_answers(where);
}

/* Watches all processes, or the user's own, as the monitor does by default. */
static int watch_node(struct own **own, bool all, bool stacks)
{
	const unsigned int unused = 1u << LAYER_SPAN | (stacks ? 0 : 1u << LAYER_STACK);
	struct service_options service = {
		.interval_ns = 1000000000,
		.session.layers = LAYERS_DEFAULT & ~unused,
	};
	int err = selection_file_types(NULL, &service.session.file_classes);

	if (err)
		return err;
	service.session.stacks_only = true;
	service.session.attach.uid = all ? ATTACH_ANYBODY : getuid();
	service.session.buffer_bytes = BUFFER_BYTES;
	service.ledger = (struct ledger_options) { .costs = metric_costs };
	return own_open(own, &service);
}

static int run(const struct top_options *options, struct live *live)
{
	const char *where = options->connect ? options->connect : HTTP_ADDRESS;
	bool all = privileges_are_own();
	struct own *own = NULL;
	int status = live->batch ? 0 : terminal_prepare();

	if (status) {
		log_error("cannot set up signals: %s", strerror(-status));
		return EXIT_FAILED;
	}
	live->source = (struct live_source) { ask_monitor, (char *)where, where };
	if (asks_monitor(options, where)) {
		status = privileges_keep_own();
		if (status)
			log_warning("cannot drop privileges: %s", strerror(-status));
	} else {
		if (watch_node(&own, all, strcmp(options->stacks, "off") != 0))
			return EXIT_FAILED;
		live->source =
			(struct live_source) { own_take, own,
					       all ? "watched by this command"
						   : "your processes, watched by this command" };
	}
	status = live_run(live);
	own_close(own);
	return status ? EXIT_FAILED : 0;
}

int command_top(int argc, char **argv)
{
	struct top_options options = {
		.interval_ns = 2000000000,
		.subject = "jobs",
		.format = "text",
		.stacks = "python",
		.colour = "auto",
	};
	struct live live = { 0 };
	int status = options_parse(&top_table, argc, argv, &options, NULL);

	if (status != OPTIONS_GO)
		return status;
	if (check_options(&options))
		return EXIT_USAGE;
	if (!controls_init(&live.controls, find_subject(options.subject), options.sort,
			   options.filter)) {
		log_error("--sort %s: not a numeric column; see --batch --format json",
			  options.sort);
		return EXIT_USAGE;
	}
	live.controls.idle = options.idle;
	live.interval_ns = options.interval_ns;
	live.frames = options.count;
	live.batch = options.batch;
	live.json = !strcmp(options.format, "json");
	live.colour = options.colour;
	return run(&options, &live);
}
