/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parts of a recording, in the order in which they are needed. */
#include "command/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/support/selection.h"
#include "capture/host/tracefile.h"
#include "base/log.h"
#include "output/base/style.h"
#include "base/units.h"
#include "base/strbuf.h"
#include "trace/format/layers.h"

#define DRAIN_NICE (-10)
#define AUTO_RATE 20000
#define INTERVAL_NS 1000000000ull
#define INTERVAL_MIN_NS 10000000ull
#define INTERVAL_MAX_NS 3600000000000ull

/* --- choosing --- */

#define FIELD(name) offsetof(struct recording_options, name)

static const struct option_row rows[] = {
	{ 0, "force", NULL, OPTION_FLAG, FIELD(force), "Replace FILE if it exists." },
	{ 0, "mode", "trace|profile|auto", OPTION_CHOICE, FIELD(mode),
	  "Record every event (trace), only aggregates per process, file and operation (profile), "
	  "or aggregates for busy processes only (auto). Default: trace." },
	{ 0, "interval", "TIME", OPTION_TIME, FIELD(interval_ns),
	  "With --mode profile or auto: how often to write aggregates to the trace. Default: 1s.",
	  INTERVAL_MIN_NS, INTERVAL_MAX_NS },
	{ 0, "profile-slots", "N", OPTION_COUNT, FIELD(profile_slots),
	  "With --mode profile or auto: slots for aggregates, 384 bytes each, one per process, "
	  "file, operation and CPU. Default: 16384, more with many CPUs.",
	  1, PROFILE_SLOTS_MAX },
	{ 0, "auto-rate", "N", OPTION_COUNT, FIELD(auto_rate),
	  "With --mode auto: calls and faults per second above which a process is aggregated from "
	  "then on. Default: 20000.",
	  1, UINT32_MAX },
	{ 0, "layers", "LIST", OPTION_STRING, FIELD(layers),
	  "Layers to record, separated by commas: " LAYERS_LISTED ". Default: all but vfs." },
	{ 0, "stacks", "python|native|off", OPTION_CHOICE, FIELD(stacks),
	  "Record which lines of Python waited or computed (the layer stack). native: also which "
	  "functions of compiled code; copies 8 KiB or more of a thread's stack per sample. off: "
	  "no stacks. Default: python, unless --layers leaves it out." },
	{ 0, "file-types", "LIST", OPTION_STRING, FIELD(file_types),
	  "File types to record calls on, separated by commas: reg, dir, blk, chr, fifo, sock, "
	  "anon, or all. Default, and \"default\" in the list: regular files, directories and "
	  "block devices." },
	{ 0, "include", "GLOB", OPTION_TEXTS, FIELD(include),
	  "Record only operations on files whose whole path matches; * also matches /. Repeatable. "
	  "Operations without a file are always recorded." },
	{ 0, "exclude", "GLOB", OPTION_TEXTS, FIELD(exclude),
	  "Leave out operations on files whose whole path matches, even if --include matches. "
	  "Repeatable." },
	{ 0, "progress", NULL, OPTION_FLAG, FIELD(progress),
	  "Show a progress line on the terminal, even if the command prints there." },
	{ 0, "buffer", "SIZE", OPTION_BYTES, FIELD(buffer_bytes),
	  "Size of each CPU's buffer. Default: by the number of CPUs, at most 8M.", 4096,
	  UINT64_MAX },
	{ 0, "force-variant", "VARIANTS", OPTION_STRING, FIELD(variants),
	  "Record a layer with this variant only, such as fault=kprobe+perf; \"list\" lists "
	  "them." },
	{ 0, "force-changed", "FUNCTION,...", OPTION_STRING, FIELD(changed), NULL },
	{ 0, "force-absent", "NAME,...", OPTION_STRING, FIELD(absent), NULL },
};

const struct option_rows recording_rows = OPTION_ROWS(rows);

/* Rejects numbers that have no effect in this mode. */
static int check_numbers(const struct recording_options *options, enum profile_mode mode)
{
	const char *wrong = NULL, *modes = "profile or --mode auto";

	if (mode == PROFILE_OFF && options->interval_ns != RECORDING_NOT_GIVEN)
		wrong = "interval";
	else if (mode == PROFILE_OFF && options->profile_slots != RECORDING_NOT_GIVEN)
		wrong = "profile-slots";
	else if (mode != PROFILE_AUTO && options->auto_rate != RECORDING_NOT_GIVEN)
		wrong = "auto-rate", modes = "auto";
	if (!wrong)
		return 0;
	log_error("--%s requires --mode %s", wrong, modes);
	return -EINVAL;
}

static uint64_t given_or(uint64_t given, uint64_t otherwise)
{
	return given == RECORDING_NOT_GIVEN ? otherwise : given;
}

static bool has_flight(const struct recording *recording)
{
	return recording->session_options.flight_bytes;
}

/* A flight recorder sums operations, and keeps events as in mode trace. */
static int choose_flight(struct recording *recording)
{
	const struct recording_options *options = recording->options;
	const char *against = NULL;
	int err = recording_flight_choose(&options->flight, recording->interval_ns,
					  &recording->session_options, &recording->flight_options);

	if (err || !has_flight(recording))
		return err;
	if (!strcmp(options->mode, "auto"))
		against = "--mode auto";
	else if (!strcmp(options->output, "-"))
		against = "-o -";
	else if (options->force)
		against = "--force";
	if (options->stacks && !strcmp(options->stacks, "native")) {
		log_error("--stacks native and --flight are mutually exclusive: the flight "
			  "recorder keeps stacks of Python only");
		return -EINVAL;
	}
	if (options->include.count || options->exclude.count) {
		log_error("--include, --exclude and --flight are mutually exclusive; filter with "
			  "'faultline report --file'");
		return -EINVAL;
	}
	if (against) {
		log_error("%s and --flight are mutually exclusive: the flight recorder writes one "
			  "file per request and replaces none",
			  against);
		return -EINVAL;
	}
	return 0;
}

static int choose_stacks(struct recording *recording)
{
	const char *stacks = recording->options->stacks;
	unsigned int *layers = &recording->session_options.layers;

	if (stacks && !strcmp(stacks, "off"))
		*layers &= ~(1u << LAYER_STACK);
	else if (stacks)
		*layers |= 1u << LAYER_STACK;
	if (*layers & 1u << LAYER_STACK && !(*layers & 1u << LAYER_THREAD))
		log_warning("without layer thread, waits outside I/O have no lines; add it to "
			    "--layers");
	recording->session_options.native_stacks = stacks && !strcmp(stacks, "native");
	if (!recording->session_options.native_stacks || unwinder_is_built())
		return 0;
	log_error("--stacks native: this faultline was built without libdw (elfutils), which "
		  "unwinds stacks");
	return -ENOTSUP;
}

int recording_choose(struct recording *recording)
{
	const struct recording_options *options = recording->options;
	struct session_options *session = &recording->session_options;
	int err;

	session->buffer_bytes = options->buffer_bytes;
	session->mode = !strcmp(options->mode, "profile") ? PROFILE_ON
			: !strcmp(options->mode, "auto")  ? PROFILE_AUTO
							  : PROFILE_OFF;
	if (options->flight.bytes != RECORDING_NOT_GIVEN && session->mode == PROFILE_OFF)
		session->mode = PROFILE_ON; /* because it has an interval */
	err = check_numbers(options, session->mode);
	if (err)
		return err;
	session->profile_slots = given_or(options->profile_slots, 0); /* by the number of CPUs */
	session->auto_rate = given_or(options->auto_rate, AUTO_RATE);
	recording->interval_ns = given_or(options->interval_ns, INTERVAL_NS);
	err = choose_flight(recording);
	session->layers = LAYERS_DEFAULT;
	if (!err)
		err = selection_layers(options->layers, &session->layers);
	if (!err)
		err = choose_stacks(recording);
	if (!err)
		err = recording_redact_choose(&options->redact, &recording->redaction);
	if (!err)
		err = selection_file_types(options->file_types, &session->file_classes);
	if (!err)
		err = selection_variants(options->variants, &session->forced);
	session->forced.changed = options->changed;
	session->forced.absent = options->absent;
	return err;
}

/* --- output --- */

/* The trace takes standard output; what the command prints there goes to standard error. */
int recording_take_output(struct recording *recording)
{
	if (isatty(STDOUT_FILENO)) {
		log_error("-o -: standard output is a terminal; redirect it to a file or a pipe");
		return -EINVAL;
	}
	recording->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (recording->fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		log_error("-o -: cannot use standard output: %s", strerror(errno));
		return -errno;
	}
	recording->piped = true;
	return 0;
}

int recording_open_output(struct recording *recording, pid_t pid)
{
	const struct recording_options *options = recording->options;
	int err;

	if (recording->piped) {
		strcpy(recording->path, "standard output");
		return 0;
	}
	err = tracefile_name(options->output, pid, recording->path);
	if (err)
		return err;
	recording->flight_options.pid = pid;
	if (has_flight(recording))
		return 0; /* files are created when there is something to write */
	recording->fd = tracefile_create(recording->path, options->force, recording->user.uid,
					 recording->user.gid);
	return recording->fd < 0 ? recording->fd : 0;
}

void recording_remove_output(const struct recording *recording)
{
	if (recording->fd >= 0 && !recording->piped)
		tracefile_remove(recording->path, recording->user.uid);
}

/* Syncs the trace before it is reported as complete: storage errors may show only now, on NFS when
 * the file is closed. Pipes and devices may not support it. */
static void close_trace(struct recording *recording)
{
	int err = 0;

	if (recording->fd < 0)
		return;
	if (fdatasync(recording->fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
		err = errno;
	if (close(recording->fd) && !err)
		err = errno;
	if (err)
		log_error("%s: the trace may be incomplete: %s", recording->path, strerror(err));
}

/* --- starting --- */

static int judge_layers(const struct recording *recording)
{
	struct strbuf names = { .used = 0 };
	unsigned int missing =
		session_judge_layers(recording->session, recording->options->best_effort);

	if (!missing)
		return 0;
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (missing & 1u << layer)
			strbuf_join(&names, ", ", "%s", layer_names[layer]);
	log_error("unavailable layers: %s ('faultline check' says why); use --best-effort to "
		  "record without them, or --layers to choose others",
		  names.bytes);
	return -ENOTSUP;
}

static void start_live(struct recording *recording)
{
	const struct session_markers maps = session_markers(recording->session);

	if (maps.python_files >= 0)
		recording->live = python_live_start(maps.python_files, maps.python_processes);
}

/* If it cannot start, there are still the stacks of Python. */
static void start_unwinder(struct recording *recording)
{
	int err;

	if (!recording->session_options.native_stacks ||
	    !session_choice(recording->session)->on[LAYER_STACK])
		return;
	err = unwinder_start(&recording->unwinder);
	if (err)
		log_warning("cannot unwind native stacks: %s", strerror(-err));
}

int recording_open_session(struct recording *recording, const char *command,
			   char *const *environment)
{
	int err = session_open(&recording->session, &recording->session_options);

	if (!err)
		err = judge_layers(recording);
	if (!err)
		err = markers_start(&recording->markers, recording->session, &recording->user,
				    command, environment);
	if (!err)
		start_live(recording);
	if (!err)
		start_unwinder(recording);
	return err;
}

static void writer_begins(void *context)
{
	const struct recording *recording = context;
	int err = privileges_become(recording->user.uid, recording->user.gid);

	if (err)
		log_warning("the writer thread cannot drop privileges: %s", strerror(-err));
}

/* Its traces begin with what is already running, whoever started it. */
static int open_flight(struct recording *recording)
{
	struct flight_options *options = &recording->flight_options;

	options->pattern = recording->options->output;
	options->uid = recording->user.uid;
	options->gid = recording->user.gid;
	options->header = recording->header.header;
	options->header.mode = "trace";
	options->header.start = "attach";
	options->live = recording->live;
	return flight_open(&recording->flight, recording->session, options);
}

int recording_open_writer(struct recording *recording, const char *const *command,
			  const char *const *targets)
{
	struct trace_writer_options options = {
		.lanes = 8,
		.thread_begins = writer_begins,
		.context = recording,
	};
	int err = recorded_header_open(&recording->header, recording->session,
				       recording->options->mode, command, targets);

	if (err)
		return err;
	if (recording->options->redact.redact)
		err = redact_header(&recording->redaction, &recording->header.header,
				    &recording->header.arena);
	if (err)
		return err;
	if (has_flight(recording))
		return open_flight(recording);
	err = trace_writer_open(&recording->writer, recording->fd, &recording->header.header,
				&options);
	if (err)
		log_error("%s: cannot be written: %s", recording->path, strerror(-err));
	return err;
}

int recording_start(struct recording *recording)
{
	const struct option_texts *include = &recording->options->include;
	const struct option_texts *exclude = &recording->options->exclude;
	const struct recorder_options recorder = {
		.path = recording->path,
		.markers = recording->markers,
		.live = recording->live,
		.unwinder = recording->unwinder,
		.limits = recording->header.limits,
		.interval_ns = recording->interval_ns,
		.globs = { include->items, exclude->items, include->count, exclude->count },
	};

	recording->start_ns = recording->last_ns = host_now_ns();
	/* The thread that drains inherits it: on a busy machine the buffers must not overflow. */
	if (setpriority(PRIO_PROCESS, 0, DRAIN_NICE))
		log_debug("cannot raise the priority: %s", strerror(errno));
	if (recording->flight) {
		recording_flight_say_ready();
		return flight_recorder_start(&recording->flight_recorder, recording->session,
					     recording->flight, recording->markers,
					     recording->interval_ns);
	}
	return recorder_start(&recording->recorder, recording->session, recording->writer,
			      &recorder);
}

void recording_give_up_privileges(void)
{
	int err = privileges_drop(false);

	if (err)
		log_warning("cannot drop privileges: %s", strerror(-err));
}

/* --- the flight recorder --- */

void recording_ask(void *context)
{
	struct recording *recording = context;
	char every[UNITS_TEXT];

	if (!recording->flight) {
		recording_flight_say_none();
		return;
	}
	switch (flight_ask(recording->flight, FLIGHT_REQUEST, "SIGUSR2")) {
	case FLIGHT_WILL:
		break;
	case FLIGHT_WAITS:
		break; /* for the previous one */
	case FLIGHT_TOO_SOON:
		log_warning("SIGUSR2 ignored: too soon after the last trace; at most one per %s "
			    "(see --flight-every)",
			    units_ns(every, recording->flight_options.every_ns));
		break;
	}
}

static void read_sums(void *context, const struct profile_slot *added)
{
}

/* Fills in what is known at the end of a flight recording: the number of operations. */
static void finish_flight(struct recording *recording, uint64_t end_ns,
			  struct recorder_status *status)
{
	flight_recorder_stop(recording->flight_recorder);
	recording->flight_recorder = NULL;
	session_detach(recording->session);
	session_read_profile(recording->session, end_ns, true, read_sums, NULL);
	memset(status, 0, sizeof(*status));
	status->duration_ns = end_ns - recording->start_ns;
	status->summed = session_profile_use(recording->session).operations;
}

void recording_finish(struct recording *recording, uint64_t end_ns, int exit_code,
		      const uint64_t *survivors, size_t survivor_count,
		      struct recorder_status *status)
{
	if (recording->flight) {
		finish_flight(recording, end_ns, status);
		return;
	}
	session_detach(recording->session);
	recorder_finish(recording->recorder, end_ns, exit_code, survivors, survivor_count, status);
}

static void say_flight_summary(const struct recording *recording,
			       const struct recorder_status *status)
{
	char elapsed[UNITS_TEXT], summed[UNITS_TEXT], failed[UNITS_TEXT], over[UNITS_TEXT];
	struct flight_status flight;

	flight_status(recording->flight, &flight);
	units_count(failed, flight.failed);
	units_count(over, flight.passed_over);
	log_line(flight.failed ? LOG_WARNING : LOG_INFO,
		 "%s, %s operations; flight recorder: %llu %s written%s%s%s%s%s%s",
		 units_ns(elapsed, status->duration_ns), units_count(summed, status->summed),
		 (unsigned long long)flight.written, flight.written == 1 ? "trace" : "traces",
		 flight.path[0] ? ", the last one " : "", flight.path,
		 flight.failed ? "; failed: " : "", flight.failed ? failed : "",
		 flight.passed_over ? "; refused as too soon: " : "",
		 flight.passed_over ? over : "");
}

/* --- the live line --- */

void recording_live_line(void *context)
{
	char elapsed[UNITS_TEXT], rate[UNITS_TEXT], lost[UNITS_TEXT], size[UNITS_TEXT];
	struct recorder_status status;
	struct recording *recording = context;
	uint64_t now = host_now_ns();

	if (recording->flight) {
		memset(&status, 0, sizeof(status));
		status.summed = session_profile_use(recording->session).operations;
	} else {
		recorder_status(recording->recorder, &status);
	}
	fprintf(stderr, "\r\033[K%s  %s events/s  lost %s  trace %s",
		units_ns(elapsed, now - recording->start_ns),
		units_count(rate, (status.events + status.summed - recording->last_events) *
					  1000000000ull / (now - recording->last_ns + 1)),
		units_count(lost, status.lost), units_bytes(size, status.written_bytes));
	fflush(stderr);
	recording->last_events = status.events + status.summed;
	recording->last_ns = now;
}

bool recording_wants_live_line(const struct recording *recording)
{
	if (!style_escapes(STDERR_FILENO) || log_get_level() < LOG_INFO)
		return false;
	return !isatty(STDOUT_FILENO) || recording->options->progress || log_get_level() > LOG_INFO;
}

/* --- the end --- */

void recording_say_summary(const struct recording *recording, const struct recorder_status *status)
{
	char elapsed[UNITS_TEXT], events[UNITS_TEXT], lost[UNITS_TEXT], size[UNITS_TEXT];
	char summed[UNITS_TEXT];
	enum log_level level = status->lost || !status->ended ? LOG_WARNING : LOG_INFO;

	if (recording->flight) {
		say_flight_summary(recording, status);
		return;
	}
	units_count(events, status->events);
	units_count(lost, status->lost);
	log_line(level, "%s, %s events, %s%s%s lost; %s in %s%s%s%s%s",
		 units_ns(elapsed, status->duration_ns), status->counted ? events : "unknown",
		 status->summed ? units_count(summed, status->summed) : "",
		 status->summed ? " operations aggregated, " : "",
		 !status->counted ? "unknown"
		 : status->lost	  ? lost
				  : "none",
		 units_bytes(size, trace_writer_bytes(recording->writer)), recording->path,
		 status->ended ? "" : ", incomplete",
		 recording->piped ? "" : "; see 'faultline report ",
		 recording->piped ? "" : recording->path, recording->piped ? "" : "'");
}

void recording_close(struct recording *recording)
{
	flight_recorder_stop(recording->flight_recorder);
	flight_close(recording->flight);
	recorder_close(recording->recorder);
	markers_close(recording->markers);
	python_live_close(recording->live);
	unwinder_stop(recording->unwinder);
	trace_writer_close(recording->writer);
	session_close(recording->session);
	recorded_header_close(&recording->header);
	close_trace(recording);
}
