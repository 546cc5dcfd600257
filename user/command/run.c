/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline run: records a command. Options, order of steps, and what is said at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/calls.h"
#include "capture/child.h"
#include "capture/environment.h"
#include "capture/host.h"
#include "capture/limits.h"
#include "capture/markers.h"
#include "capture/privileges.h"
#include "capture/python_spans.h"
#include "capture/recorder.h"
#include "capture/selection.h"
#include "capture/session.h"
#include "capture/supervise.h"
#include "capture/survivors.h"
#include "capture/tracefile.h"
#include "command/command.h"
#include "command/options.h"
#include "log.h"
#include "units.h"

#define SURVIVORS_MAX 256
#define DRAIN_NICE (-10)

struct run_options {
	const char *env_from_sudo;
	const char *output, *mode, *layers, *file_types, *user, *python_spans, *variants;
	uint64_t buffer_bytes;
	bool progress, force, best_effort, wait_children;
};

static const struct option_row run_rows[] = {
	{ 'o', "output", "FILE", OPTION_STRING, offsetof(struct run_options, output),
	  "Where the trace goes; %h is the host, %p the command's pid, %t the unix time "
	  "(faultline-%h-%p.flt); - is standard output." },
	{ 0, "force", NULL, OPTION_FLAG, offsetof(struct run_options, force),
	  "Replace FILE if it exists." },
	{ 0, "mode", "trace", OPTION_CHOICE, offsetof(struct run_options, mode),
	  "Record every event (trace, the default)." },
	{ 0, "layers", "LIST", OPTION_STRING, offsetof(struct run_options, layers),
	  "Layers to record, separated by commas: task, syscall, fault, pagecache, span, block, "
	  "async "
	  "(all)." },
	{ 0, "file-types", "LIST", OPTION_STRING, offsetof(struct run_options, file_types),
	  "Kinds of files whose calls are recorded: reg, dir, blk, chr, fifo, sock, anon, or all "
	  "(reg,dir,blk)." },
	{ 'u', "user", "USER", OPTION_STRING, offsetof(struct run_options, user),
	  "Run the command as USER, whose the trace will be (who called sudo, else yourself)." },
	{ 0, "env-from-sudo", "yes|no", OPTION_CHOICE, offsetof(struct run_options, env_from_sudo),
	  "Give the command the environment of who called sudo, not sudo's (yes)." },
	{ 0, "python-spans", "LIST", OPTION_STRING, offsetof(struct run_options, python_spans),
	  "Mark spans in Python programs without a change to them: torch, dftracer." },
	{ 0, "best-effort", NULL, OPTION_FLAG, offsetof(struct run_options, best_effort),
	  "Run the command even if tracing cannot start; record what can be had." },
	{ 0, "progress", NULL, OPTION_FLAG, offsetof(struct run_options, progress),
	  "Show how it goes in a line on the terminal, even where the command prints." },
	{ 0, "wait-children", NULL, OPTION_FLAG, offsetof(struct run_options, wait_children),
	  "Go on until all children of the command have ended, too." },
	{ 0, "buffer", "SIZE", OPTION_BYTES, offsetof(struct run_options, buffer_bytes),
	  "Size of each CPU's buffer, such as 8M (by the number of CPUs, 8M at most)." },
	{ 0, "force-variant", "VARIANTS", OPTION_STRING, offsetof(struct run_options, variants),
	  "Record a layer by this variant and no other, such as fault=kprobe+perf; \"list\" names "
	  "them." },
};

static const struct option_table run_table = {
	.usage = "faultline run [OPTION...] [--] COMMAND [ARG...]",
	.about = "Runs COMMAND and records how it and all its children read and write files: "
		 "system calls,\n"
		 "page faults on mapped files, and what came into the page cache. Exits as COMMAND "
		 "does;\n"
		 "125 if it was not started (bad options, no room for the trace, no way to trace), "
		 "126 "
		 "or 127\nif it could not be run.",
	.rows = run_rows,
	.row_count = sizeof(run_rows) / sizeof(run_rows[0]),
	.command_follows = true,
};

/* One recording, from its parts to its end. */
struct run {
	struct run_options options;
	struct session_options session_options;
	char **command;
	struct child_user user;
	char **environment; /* of the command */
	struct child child;
	char path[PATH_MAX];
	int fd;
	bool piped; /* the trace goes to standard output */
	struct session *session;
	struct trace_writer *writer;
	struct markers *markers; /* NULL: the span layer is off */
	struct recorder *recorder;
	uint64_t start_ns, last_events, last_ns;
};

/* --- the live line --- */

static void live_line(void *context)
{
	char elapsed[UNITS_TEXT], rate[UNITS_TEXT], lost[UNITS_TEXT], size[UNITS_TEXT];
	struct recorder_status status;
	struct run *run = context;
	uint64_t now = host_now_ns();

	recorder_status(run->recorder, &status);
	fprintf(stderr, "\r\033[K%s  %s events/s  lost %s  trace %s",
		units_ns(elapsed, now - run->start_ns),
		units_count(rate, (status.events - run->last_events) * 1000000000ull /
					  (now - run->last_ns + 1)),
		units_count(lost, status.lost), units_bytes(size, status.written_bytes));
	fflush(stderr);
	run->last_events = status.events;
	run->last_ns = now;
}

/* Not among what the command prints, unless that is asked for. */
static bool wants_live_line(const struct run *run)
{
	if (!isatty(STDERR_FILENO) || log_get_level() < LOG_INFO)
		return false;
	return !isatty(STDOUT_FILENO) || run->options.progress || log_get_level() > LOG_INFO;
}

/* --- the end --- */

static void say_survivors(const uint64_t *pids, size_t count)
{
	char list[256] = "";
	size_t used = 0, shown = count < 8 ? count : 8;

	if (!count)
		return;
	for (size_t i = 0; i < shown; i++) {
		char comm[32];

		survivors_name(pids[i], comm, sizeof(comm));
		used += snprintf(list + used, sizeof(list) - used, "%s%s (%u)", i ? ", " : "", comm,
				 (unsigned int)pids[i]);
	}
	log_warning("%zu %s the command and %s on untraced: %s%s; --wait-children waits for them",
		    count, count == 1 ? "process outlives" : "processes outlive",
		    count == 1 ? "goes" : "go", list, count > shown ? ", ..." : "");
}

static void say_summary(const struct run *run, const struct recorder_status *status)
{
	char elapsed[UNITS_TEXT], events[UNITS_TEXT], lost[UNITS_TEXT], size[UNITS_TEXT];
	enum log_level level = status->lost || !status->ended ? LOG_WARNING : LOG_INFO;

	units_count(events, status->events);
	units_count(lost, status->lost);
	log_line(level, "%s, %s events, %s lost; %s in %s%s%s%s%s",
		 units_ns(elapsed, status->duration_ns), status->counted ? events : "unknown",
		 !status->counted ? "unknown"
		 : status->lost	  ? lost
				  : "none",
		 units_bytes(size, trace_writer_bytes(run->writer)), run->path,
		 status->ended ? "" : ", which lacks its end",
		 run->piped ? "" : "; 'faultline report ", run->piped ? "" : run->path,
		 run->piped ? "" : "' tells more");
}

static void end_recording(struct run *run, int exit_code)
{
	uint64_t survivors[SURVIVORS_MAX], end_ns = host_now_ns();
	size_t count = survivors_find(run->session, survivors, SURVIVORS_MAX);
	struct recorder_status status;

	session_detach(run->session);
	recorder_finish(run->recorder, end_ns, exit_code, survivors, count, &status);
	say_survivors(survivors, count);
	if (status.not_followed)
		log_warning(
			"%llu %s rights at the start (set-user-ID, say) and %s not followed; the "
			"report says which, and root may trace them",
			(unsigned long long)status.not_followed,
			status.not_followed == 1 ? "program gained" : "programs gained",
			status.not_followed == 1 ? "was" : "were");
	say_summary(run, &status);
}

/* --- the beginning --- */

static void writer_begins(void *context)
{
	const struct run *run = context;
	int err = privileges_become(run->user.uid, run->user.gid);

	if (err)
		log_warning("the thread that writes cannot give up privileges: %s", strerror(-err));
}

static int open_writer(struct run *run)
{
	struct trace_writer_options options = {
		.lanes = 8,
		.thread_begins = writer_begins,
		.context = run,
	};
	struct trace_header header = { 0 };
	struct limits *limits;
	int err = limits_open(&limits);

	if (err)
		return err;
	host_describe(&header);
	limits_describe(limits, &header);
	header.mode = run->options.mode;
	header.command = (const char *const *)run->command;
	header.layers = session_layers(run->session);
	header.layer_count = LAYER_COUNT;
	if (!probes_chosen(session_choice(run->session), "fl_dirtied"))
		calls_leave_out(OP_DIRTIED);
	if (!probes_chosen(session_choice(run->session), "fl_throttled"))
		calls_leave_out(OP_THROTTLED);
	header.operations = calls_operations(&header.operation_count);
	err = trace_writer_open(&run->writer, run->fd, &header, &options);
	limits_close(limits);
	if (err)
		log_error("%s: cannot be written: %s", run->path, strerror(-err));
	return err;
}

/* Tells of layers that are off. Without an essential one the trace would miss what it is made for:
 * then there is none, unless the user takes what can be had. */
static int judge_layers(const struct run *run)
{
	const struct trace_layer *layers = session_layers(run->session);
	unsigned int missing = session_missing(run->session);
	bool refuse = missing && !run->options.best_effort;

	for (size_t l = 0; l < LAYER_COUNT; l++)
		if (!layers[l].on && run->session_options.layers & (1u << l))
			log_line(refuse && missing & (1u << l) ? LOG_ERROR : LOG_WARNING,
				 "layer %s is off: %s", layers[l].name, layers[l].reason);
	if (!refuse)
		return 0;
	log_error("not recording without %s; --best-effort records what can be had, --layers "
		  "chooses others",
		  missing == LAYERS_ESSENTIAL	  ? "system calls and page faults"
		  : missing & 1u << LAYER_SYSCALL ? "system calls"
						  : "page faults");
	return -ENOTSUP;
}

/* Everything up to the point where the command waits to be released. */
static int begin(struct run *run)
{
	int err = session_open(&run->session, &run->session_options);

	if (err)
		return err;
	err = judge_layers(run);
	if (err)
		return err;
	/* First: it goes on while the rest is done, and needs a process without threads. */
	if (session_choice(run->session)->on[LAYER_SPAN]) {
		err = markers_start(&run->markers, run->session, &run->user, run->command[0],
				    run->environment);
		if (err) {
			log_error("cannot listen to spans: %s", strerror(-err));
			return err;
		}
	}
	err = open_writer(run);
	if (err)
		return err;
	err = session_arm(run->session, run->child.pid);
	if (err) {
		log_error("cannot follow the command: %s", strerror(-err));
		return err;
	}
	if (run->markers)
		markers_await(run->markers);
	return 0;
}

/* Once the command runs, and nothing of what was prepared has to be undone any more. */
static int start_recording(struct run *run)
{
	int dropped, err;

	/* The thread that drains inherits it: on a busy machine the buffers must not run full. */
	if (setpriority(PRIO_PROCESS, 0, DRAIN_NICE))
		log_debug("cannot raise the priority: %s", strerror(errno));
	dropped = privileges_drop(session_watches_cpus(run->session));
	/* Its thread may need to attach to CPUs that come online; this one has no need to. */
	err = recorder_start(&run->recorder, run->session, run->writer, run->path, run->markers);
	if (!dropped)
		dropped = privileges_drop(false);
	if (dropped)
		log_warning("cannot give up privileges: %s", strerror(-dropped));
	return err;
}

/* The trace is on the disk before it is called done: what could not be stored shows only now, of
 * NFS when the file is closed. What is no file need not be able to. */
static void close_trace(struct run *run)
{
	int err = 0;

	if (run->fd < 0)
		return;
	if (fdatasync(run->fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
		err = errno;
	if (close(run->fd) && !err)
		err = errno;
	if (err)
		log_error("%s: the trace may not be whole: %s", run->path, strerror(err));
}

static void clean_up(struct run *run)
{
	recorder_close(run->recorder);
	markers_close(run->markers);
	trace_writer_close(run->writer);
	session_close(run->session);
	close_trace(run);
	environment_free(run->environment);
}

/* The name may hold the pid, so the command has been started: it waits. */
static int open_output(struct run *run)
{
	int err;

	if (run->piped) {
		strcpy(run->path, "standard output");
		return 0;
	}
	err = tracefile_name(run->options.output, run->child.pid, run->path);
	if (err)
		return err;
	run->fd = tracefile_create(run->path, run->options.force, run->user.uid, run->user.gid);
	return run->fd < 0 ? run->fd : 0;
}

/* Of a recording that did not come about; what was there before is not ours. */
static void remove_output(const struct run *run)
{
	if (run->fd >= 0 && !run->piped)
		tracefile_remove(run->path, run->user.uid);
}

static int exec_failed(struct run *run, int err)
{
	log_error("%s: %s", run->command[0], err == -ENOENT ? "command not found" : strerror(-err));
	remove_output(run);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* The trace takes standard output; what the command prints there goes to standard error. */
static int take_output(struct run *run)
{
	if (isatty(STDOUT_FILENO)) {
		log_error(
			"-o -: standard output is a terminal; send it to a file or through a pipe");
		return -EINVAL;
	}
	run->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (run->fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		log_error("-o -: standard output cannot be used: %s", strerror(errno));
		return -errno;
	}
	run->piped = true;
	return 0;
}

static int run_command(struct run *run)
{
	struct supervision supervision = { .wait_children = run->options.wait_children };
	bool tracing;
	int status, err;

	if (!strcmp(run->options.output, "-") && take_output(run))
		return EXIT_NO_TRACING;
	if (child_start(&run->child, run->command, &run->user, run->environment))
		return EXIT_NO_TRACING;
	tracing = !open_output(run) && !begin(run);
	if (!tracing && !run->options.best_effort) {
		child_cancel(&run->child);
		remove_output(run);
		return EXIT_NO_TRACING;
	}
	err = child_release(&run->child,
			    tracing && run->markers ? markers_address(run->markers) : NULL);
	if (err)
		return exec_failed(run, err);
	run->start_ns = run->last_ns = host_now_ns();
	tracing = tracing && !start_recording(run);
	if (!tracing) {
		log_warning("running the command without tracing it");
		markers_stop(run->markers);
		session_detach(run->session);
	}
	supervision.pid = run->child.pid;
	if (tracing && wants_live_line(run)) {
		supervision.tick = live_line;
		supervision.context = run;
	}
	err = supervise(&supervision, &status);
	if (supervision.tick)
		fprintf(stderr, "\r\033[K");
	if (err < 0)
		log_error("waiting for the command failed: %s", strerror(-err));
	status = status == -1 ? 130 : supervise_exit_code(status);
	if (tracing)
		end_recording(run, status);
	else
		remove_output(run);
	return status;
}

int command_run(int argc, char **argv)
{
	struct run run = { .options = { .output = "faultline-%h-%p.flt",
					.mode = "trace",
					.env_from_sudo = "yes" },
			   .fd = -1 };
	int first, status = options_parse(&run_table, argc, argv, &run.options, &first);

	/* As env has it: nothing but the command's own status is below 125. */
	if (status != OPTIONS_GO)
		return status ? EXIT_NO_TRACING : 0;
	if (selection_lists_variants(run.options.variants))
		return 0;
	if (first >= argc) {
		log_error("no command to run; try 'faultline run -- COMMAND'");
		return EXIT_NO_TRACING;
	}
	run.command = argv + first;
	run.session_options.buffer_bytes = run.options.buffer_bytes;
	if (selection_layers(run.options.layers, &run.session_options.layers) ||
	    selection_file_types(run.options.file_types, &run.session_options.file_classes) ||
	    selection_variants(run.options.variants, &run.session_options.forced) ||
	    child_find_user(run.options.user, &run.user))
		return EXIT_NO_TRACING;
	run.environment = environment_make(&run.user, !strcmp(run.options.env_from_sudo, "yes"));
	if (!run.environment || python_spans_prepare(run.options.python_spans, &run.environment))
		return EXIT_NO_TRACING;
	/* What such programs read is told to nobody but root, whoever called. */
	run.session_options.follow_privileged = run.user.uid == 0;
	if (supervise_prepare(run.options.wait_children)) {
		log_error("cannot set up signals: %s", strerror(errno));
		return EXIT_NO_TRACING;
	}
	status = run_command(&run);
	clean_up(&run);
	return status;
}
