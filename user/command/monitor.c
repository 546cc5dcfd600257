/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline monitor: a service that watches the whole node and reports I/O by job. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/host/proc.h"
#include "capture/recorder/recorded_header.h"
#include "capture/support/selection.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "command/recording/ready_fd.h"
#include "command/recording/recording_flight.h"
#include "command/recording/recording_redact.h"
#include "base/log.h"
#include "base/number.h"
#include "monitor/service/notify.h"
#include "monitor/service/openmetrics.h"
#include "monitor/service/pages.h"
#include "monitor/service/service.h"
#include "monitor/service/textfile.h"
#include "trace/format/layers.h"
#include "base/units.h"

#define INTERVAL_MIN_NS 100000000ull
#define INTERVAL_MAX_NS 60000000000ull
#define RETIRE_MIN_NS 1000000000ull
#define RETIRE_MAX_NS (24 * 3600 * 1000000000ull)
#define TEXTFILE_EVERY_NS 15000000000ull
#define SERIES_MIN 1000
#define SERIES_MAX 1000000
#define LISTEN_NOWHERE "none"

struct monitor_options {
	const char *listen, *token_file, *textfile, *layers, *file_types, *variants, *host_root;
	uint64_t interval_ns, retire_ns, max_series, profile_slots, buffer_bytes, ready_fd;
	const char *output; /* of the flight recorder's traces */
	struct flight_given flight;
	struct redact_given redact;
	struct option_texts flight_of;
	bool best_effort, list_metrics;
};

static const struct option_row monitor_rows[] = {
	{ 0, "listen", "WHERE", OPTION_STRING, offsetof(struct monitor_options, listen),
	  "Serve HTTP at ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH; none: do not serve. "
	  "Default: " HTTP_ADDRESS "." },
	{ 0, "token-file", "FILE", OPTION_STRING, offsetof(struct monitor_options, token_file),
	  "Also accept HTTP commands (POST) over TCP, from this machine, with the token in FILE, "
	  "which only you may read. Default: only over unix:PATH." },
	{ 0, "textfile", "FILE", OPTION_STRING, offsetof(struct monitor_options, textfile),
	  "Write metrics to this file every 15 s for node_exporter's textfile collector. The file "
	  "is replaced atomically, and removed at the end." },
	{ 0, "interval", "TIME", OPTION_TIME, offsetof(struct monitor_options, interval_ns),
	  "How often aggregates are read from the kernel. Default: 1s.", INTERVAL_MIN_NS,
	  INTERVAL_MAX_NS },
	{ 0, "max-series", "N", OPTION_COUNT, offsetof(struct monitor_options, max_series),
	  "Maximum number of series; the rest is grouped. Default: 10000.", SERIES_MIN,
	  SERIES_MAX },
	{ 0, "retire", "TIME", OPTION_TIME, offsetof(struct monitor_options, retire_ns),
	  "How long a job's series are kept after its last process has ended. Default: 5m.",
	  RETIRE_MIN_NS, RETIRE_MAX_NS },
	{ 0, "host-root", "DIR", OPTION_STRING, offsetof(struct monitor_options, host_root),
	  "Where the node's file system is mounted, in a container. Names of pods, containers and "
	  "images come from there. Default: /." },
	{ 0, "layers", "LIST", OPTION_STRING, offsetof(struct monitor_options, layers),
	  "Layers to watch, separated by commas: " LAYERS_LISTED
	  ". Default: all but span (requires "
	  "CAP_SYS_ADMIN) and vfs; stack only with --flight." },
	{ 0, "file-types", "LIST", OPTION_STRING, offsetof(struct monitor_options, file_types),
	  "File types to count calls on, separated by commas: reg, dir, blk, chr, fifo, sock, "
	  "anon, or all. Default, and \"default\" in the list: regular files, directories and "
	  "block devices." },
	{ 0, "profile-slots", "N", OPTION_COUNT, offsetof(struct monitor_options, profile_slots),
	  "Slots for aggregates in the kernel, 384 bytes each, one per process, file, operation "
	  "and CPU. Default: 32768, more with many CPUs.",
	  1, PROFILE_SLOTS_MAX },
	{ 0, "buffer", "SIZE", OPTION_BYTES, offsetof(struct monitor_options, buffer_bytes),
	  "Size of each CPU's buffer for process and file records. Default: 1M.", 4096,
	  UINT64_MAX },
	{ 0, "force-variant", "VARIANTS", OPTION_STRING, offsetof(struct monitor_options, variants),
	  "Watch a layer with this variant only, such as fault=kprobe+perf; \"list\" lists them." },
	{ 0, "best-effort", NULL, OPTION_FLAG, offsetof(struct monitor_options, best_effort),
	  "Watch whatever is available if a layer is not." },
	{ 'o', "output", "FILE", OPTION_STRING, offsetof(struct monitor_options, output),
	  "With --flight: trace files; %h is the host, %p faultline's pid, %t the Unix time. "
	  "Default: faultline-%h-%p.flt." },
	{ 0, "flight-of", "LABEL=PATTERN", OPTION_TEXTS,
	  offsetof(struct monitor_options, flight_of),
	  "With --flight: only these jobs, by the labels of the metrics, such as slurm_job=42, "
	  "cgroup=/kubepods* or user=alice. Default: all jobs." },
	{ 0, "list-metrics", NULL, OPTION_FLAG, offsetof(struct monitor_options, list_metrics),
	  "Print name, type and meaning of each metric, and exit." },
	{ 0, "ready-fd", "FD", OPTION_COUNT, offsetof(struct monitor_options, ready_fd),
	  "Write a line with the address to this file descriptor, and close it, once watching has "
	  "started." },
};

static const struct option_table monitor_table = {
	.usage = "faultline monitor [OPTION...]",
	.about = "Watches the whole machine, aggregates reads and writes in the kernel, and "
		 "exports them by job (cgroup, container, pod, batch job) as metrics for "
		 "Prometheus. Runs in the foreground until SIGTERM or SIGINT. If its capabilities "
		 "come from the program file, it watches only the user's own processes.",
	.own = OPTION_ROWS(monitor_rows),
	.shared = { { &flight_rows, offsetof(struct monitor_options, flight) },
		    { &redact_rows, offsetof(struct monitor_options, redact) } },
};

struct monitor {
	struct monitor_options options;
	struct service_options service_options;
	struct token token; /* from --token-file; empty without one */
	struct flight_options flight_options;
	const char *flight_targets[OPTION_TEXTS_MAX + 1];
	struct recorded_header header; /* of the flight recorder's traces */
	struct redaction redaction;    /* the same */
	struct flight *flight;	       /* the service's; NULL: none */
	struct service *service;
	struct pages *pages;	   /* NULL: not requested */
	struct textfile *textfile; /* NULL: not requested */
	struct notify notify;
	uint64_t textfile_due_ns, sign_due_ns;
};

/* --- options --- */

static int check_directory(const char *option, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (err)
		log_error("%s %s: %s", option, path, strerror(-err));
	else
		close(fd);
	return err;
}

static int choose(struct monitor *monitor)
{
	const struct monitor_options *options = &monitor->options;
	struct service_options *service = &monitor->service_options;
	int err;

	/* Spans require CAP_SYS_ADMIN, and examining all mapped files. */
	service->session.layers = LAYERS_DEFAULT & ~(1u << LAYER_SPAN);
	err = selection_layers(options->layers, &service->session.layers);
	if (!err && options->host_root)
		err = check_directory("--host-root", options->host_root);
	if (!err)
		err = selection_file_types(options->file_types, &service->session.file_classes);
	if (!err)
		err = selection_variants(options->variants, &service->session.forced);
	if (!err)
		err = ready_fd_check(options->ready_fd);
	for (size_t i = 0; i < options->flight_of.count && !err; i++)
		err = job_choice_add("--flight-of", options->flight_of.items[i],
				     &service->flight_of);
	if (!err)
		err = recording_flight_choose(&options->flight, options->interval_ns,
					      &service->session, &monitor->flight_options);
	if (!err)
		err = recording_redact_choose(&options->redact, &monitor->redaction);
	if (!err && !service->session.flight_bytes &&
	    (service->flight_of.count || options->redact.redact)) {
		log_error("%s requires --flight SIZE",
			  service->flight_of.count ? "--flight-of" : "--redact");
		err = -EINVAL;
	}
	if (err)
		return err;
	if (!service->session.flight_bytes) /* only its traces show stacks */
		service->session.layers &= ~(1u << LAYER_STACK);
	service->session.stacks_only = true;
	service->session.attach.uid = privileges_are_own() ? ATTACH_ANYBODY : getuid();
	service->session.buffer_bytes = options->buffer_bytes;
	service->session.profile_slots = options->profile_slots;
	service->interval_ns = options->interval_ns;
	service->host_root = options->host_root;
	service->ledger = (struct ledger_options) {
		.max_series = options->max_series - METRIC_SERIES_FIXED,
		.costs = metric_costs,
		.retire_ns = options->retire_ns,
	};
	return 0;
}

/* Prints names as in Prometheus, one per line. */
static void list_metrics(void)
{
	for (size_t i = 0; i < metric_count; i++) {
		char name[128];

		openmetrics_name(&metrics[i], name, sizeof(name));
		printf("%s\t%s\t%s\n", name, openmetrics_type_name(&metrics[i]), metrics[i].help);
	}
}

/* --- the service --- */

/* Blocks the signals that end the service, and ignores those that must not. Must run before any
 * thread is created. */
static int prepare_signals(sigset_t *set)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, set, NULL) || sigaction(SIGPIPE, &ignore, NULL) ||
	    sigaction(SIGXFSZ, &ignore, NULL)) {
		log_error("cannot set up signals: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static void write_textfile(struct monitor *monitor)
{
	struct sink text;

	sink_open_memory(&text);
	openmetrics_render(monitor->service, monitor->options.max_series, FORMAT_PROMETHEUS, &text);
	if (!text.error)
		textfile_write(monitor->textfile, text.buffer, text.used, host_now_ns());
	sink_close(&text);
}

/* Stays silent if readings have stopped, so that the service is restarted. */
static void give_sign_of_life(struct monitor *monitor)
{
	uint64_t max_ns = monitor->options.interval_ns + monitor->notify.watchdog_ns;
	struct service_facts facts;

	service_look(monitor->service, &facts);
	if (host_now_ns() - facts.read_ns < max_ns)
		notify_say(&monitor->notify, "WATCHDOG=1\n");
}

/* Does what is due. Returns when the next chore is, on host_now_ns's clock; UINT64_MAX: never. */
static uint64_t do_chores(struct monitor *monitor)
{
	uint64_t now = host_now_ns(), next = UINT64_MAX;

	if (monitor->textfile) {
		if (now >= monitor->textfile_due_ns) {
			write_textfile(monitor);
			monitor->textfile_due_ns = now + TEXTFILE_EVERY_NS;
		}
		next = monitor->textfile_due_ns;
	}
	if (monitor->notify.watchdog_ns) {
		if (now >= monitor->sign_due_ns) {
			give_sign_of_life(monitor);
			monitor->sign_due_ns = now + monitor->notify.watchdog_ns / 3;
		}
		next = number_min(next, monitor->sign_due_ns);
	}
	return next;
}

/* --- the flight recorder --- */

/* Its traces belong to the user of the service. */
static int open_flight(struct monitor *monitor)
{
	const struct option_texts *of = &monitor->options.flight_of;
	struct flight_options *options = &monitor->flight_options;
	struct session *session = service_session(monitor->service);
	int err;

	if (!monitor->service_options.session.flight_bytes)
		return 0;
	monitor->flight_targets[0] = "all processes";
	memcpy(monitor->flight_targets, of->items, of->count * sizeof(of->items[0]));
	err = recorded_header_open(&monitor->header, session, "trace", NULL,
				   monitor->flight_targets);
	if (!err && monitor->options.redact.redact)
		err = redact_header(&monitor->redaction, &monitor->header.header,
				    &monitor->header.arena);
	if (err)
		return err;
	options->pattern = monitor->options.output;
	options->pid = getpid();
	options->uid = geteuid();
	options->gid = getegid();
	options->header = monitor->header.header;
	options->live = service_live(monitor->service);
	err = flight_open(&monitor->flight, session, options);
	if (!err)
		service_take_flight(monitor->service, monitor->flight);
	return err;
}

static int ask(struct monitor *monitor, const char *reason, char *answer, size_t size)
{
	char every[UNITS_TEXT];

	if (flight_ask(monitor->flight, FLIGHT_REQUEST, reason) != FLIGHT_TOO_SOON) {
		snprintf(answer, size, "trace is being written");
		return 0;
	}
	snprintf(answer, size, "too soon after the last trace; at most one per %s",
		 units_ns(every, monitor->flight_options.every_ns));
	return -EAGAIN;
}

static int ask_by_page(void *context, char *answer, size_t size)
{
	return ask(context, "POST /flight", answer, size);
}

static void ask_by_signal(struct monitor *monitor)
{
	char answer[128];

	if (!monitor->flight)
		recording_flight_say_none();
	else if (ask(monitor, "SIGUSR2", answer, sizeof(answer)))
		log_warning("SIGUSR2: %s", answer);
}

/* --- serving --- */

/* Runs until a signal ends it. */
static void serve(struct monitor *monitor, const sigset_t *signals)
{
	int number;

	do {
		uint64_t next = do_chores(monitor), now = host_now_ns();
		uint64_t wait = number_sub(next, now);
		const struct timespec max = { wait / 1000000000, wait % 1000000000 };

		number = sigtimedwait(signals, NULL, next == UINT64_MAX ? NULL : &max);
		if (number == SIGUSR2)
			ask_by_signal(monitor);
	} while (number != SIGTERM && number != SIGINT);
	notify_say(&monitor->notify, "STOPPING=1\n");
	log_info("ended by %s", number == SIGTERM ? "SIGTERM" : "SIGINT");
}

static void read_now(void *context)
{
	const struct monitor *monitor = context;

	service_read_now(monitor->service);
}

static const char *render_metrics(void *context, const char *accept, struct sink *out)
{
	const struct monitor *monitor = context;
	enum openmetrics_format format = openmetrics_choose(accept);

	openmetrics_render(monitor->service, monitor->options.max_series, format, out);
	return openmetrics_type(format);
}

static int start_pages(struct monitor *monitor)
{
	const struct pages_options options = {
		.ledger = service_ledger(monitor->service),
		.interval_ns = monitor->options.interval_ns,
		.context = monitor,
		.refresh = read_now,
		.metrics = render_metrics,
		.flight = monitor->flight ? ask_by_page : NULL,
	};

	return monitor->pages ? pages_start(monitor->pages, &options) : 0;
}

/* Opens what may turn out to be bad input, before anything is loaded into the kernel. */
static int open_places(struct monitor *monitor)
{
	const struct monitor_options *options = &monitor->options;
	int err = 0;

	if (options->textfile)
		err = textfile_open(&monitor->textfile, options->textfile);
	if (!err && strcmp(options->listen, LISTEN_NOWHERE))
		err = pages_open(&monitor->pages, options->listen, &monitor->token);
	return err;
}

static void say_ready(const struct monitor *monitor, size_t processes, size_t threads)
{
	const char *address = monitor->pages ? pages_address(monitor->pages) : LISTEN_NOWHERE;
	const char *at = monitor->pages ? "listening at " : "not listening";

	notify_say(&monitor->notify, "READY=1\nSTATUS=watching; %s%s\n", at,
		   monitor->pages ? address : "");
	if (!proc_is_of_kernel_side())
		log_warning("running in a separate PID namespace: processes outside it that are "
			    "already running have no names; share the host's namespace with "
			    "hostPID (pod) or --pid=host (container)");
	if (proc_hides_others())
		log_warning("/proc hides other users' processes (hidepid): command lines of those "
			    "already running, and their cgroup v1 paths, are unknown; run in the "
			    "group of /proc's mount option gid= to see them");
	if (monitor->service_options.session.attach.uid != ATTACH_ANYBODY)
		log_warning("capabilities come from the program file: only this user's processes "
			    "are watched");
	log_info("watching %zu processes, %zu threads; %s%s", processes, threads, at,
		 monitor->pages ? address : "");
	if (monitor->flight)
		recording_flight_say_ready();
	ready_fd_say(monitor->options.ready_fd, "watching %s\n", address);
}

/* Large allocations, used for one reading or answer, become mappings of their own, so that their
 * memory is returned when freed. In a heap, each thread's arena would keep its peak. */
#define LARGE_BYTES (256 << 10)
#define HEAPS 2

static void bound_heaps(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_ARENA_MAX, HEAPS);
}

static int run(struct monitor *monitor, const sigset_t *signals)
{
	size_t processes = 0, threads = 0;

	bound_heaps();
	notify_open(&monitor->notify);
	if (open_places(monitor))
		return EXIT_USAGE;
	/* HTTP threads must have no more privileges than remain once everything is watched. */
	if (service_open(&monitor->service, &monitor->service_options,
			 monitor->options.best_effort) ||
	    open_flight(monitor) || service_start(monitor->service, &processes, &threads) ||
	    start_pages(monitor))
		return EXIT_FAILED;
	say_ready(monitor, processes, threads);
	serve(monitor, signals);
	return 0;
}

static void clean_up(struct monitor *monitor)
{
	notify_close(&monitor->notify);
	pages_close(monitor->pages);
	textfile_close(monitor->textfile);
	service_close(monitor->service);
	recorded_header_close(&monitor->header);
}

int command_monitor(int argc, char **argv)
{
	struct monitor monitor = {
		.notify = { .fd = -1 },
		.options = { .listen = HTTP_ADDRESS,
			     .interval_ns = 1000000000ull,
			     .retire_ns = 300000000000ull,
			     .max_series = 10000,
			     .buffer_bytes = 1u << 20,
			     .output = "faultline-%h-%p.flt",
			     .flight = FLIGHT_GIVEN_DEFAULTS },
	};
	int status = options_parse(&monitor_table, argc, argv, &monitor.options, NULL);
	sigset_t signals;

	if (status != OPTIONS_GO)
		return status;
	if (selection_lists_variants(monitor.options.variants))
		return 0;
	if (monitor.options.list_metrics) {
		list_metrics();
		return 0;
	}
	if (choose(&monitor) ||
	    (monitor.options.token_file && token_read(&monitor.token, monitor.options.token_file)))
		return EXIT_USAGE;
	status = prepare_signals(&signals) ? EXIT_FAILED : run(&monitor, &signals);
	clean_up(&monitor);
	return status;
}
