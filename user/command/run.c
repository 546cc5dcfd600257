/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline run: records a command. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/follow/child.h"
#include "base/strbuf.h"
#include "capture/follow/environment.h"
#include "capture/host/host.h"
#include "capture/host/tracefile.h"
#include "capture/markers/markers.h"
#include "capture/names/names.h"
#include "capture/follow/python_spans.h"
#include "capture/support/selection.h"
#include "capture/session/session.h"
#include "capture/follow/supervise.h"
#include "capture/recorder/survivors.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "command/recording/recording.h"
#include "command/recording/run_page.h"
#include "base/log.h"
#include "base/units.h"

#define SURVIVORS_MAX 256

struct run_options {
	struct recording_options recording;
	const char *env_from_sudo, *html, *user, *python_spans;
	bool wait_children;
	uint64_t duration_ns, delay_ns;
};

static const struct option_row run_rows[] = {
	{ 'o', "output", "FILE", OPTION_STRING, offsetof(struct run_options, recording.output),
	  "Trace file; %h is the host, %p the command's pid, %r its rank, %t the Unix time; - is "
	  "standard output. Default: faultline-%h-%p.flt." },
	{ 'd', "duration", "SECONDS", OPTION_TIME, offsetof(struct run_options, duration_ns),
	  "Stop recording after SECONDS, such as 30 or 1.5; the command continues untraced.", 1,
	  UINT64_MAX },
	{ 0, "delay", "SECONDS", OPTION_TIME, offsetof(struct run_options, delay_ns),
	  "Start recording SECONDS after the command starts.", 1, UINT64_MAX },
	{ 0, "html", "FILE", OPTION_STRING, offsetof(struct run_options, html),
	  "Also write the report as an HTML page with charts; %h, %p, %r and %t in FILE as for "
	  "--output." },
	{ 'u', "user", "USER", OPTION_STRING, offsetof(struct run_options, user),
	  "Run the command as USER, who will own the trace. Default: the user who called sudo, "
	  "else yourself." },
	{ 0, "env-from-sudo", "yes|no", OPTION_CHOICE, offsetof(struct run_options, env_from_sudo),
	  "Give the command the environment of the user who called sudo, not sudo's. Default: "
	  "yes." },
	{ 0, "python-spans", "LIST", OPTION_STRING, offsetof(struct run_options, python_spans),
	  "Mark spans in unmodified Python programs: torch, dftracer." },
	{ 0, "best-effort", NULL, OPTION_FLAG, offsetof(struct run_options, recording.best_effort),
	  "Run the command even if tracing cannot start; record whatever is available." },
	{ 0, "wait-children", NULL, OPTION_FLAG, offsetof(struct run_options, wait_children),
	  "Record until all children of the command have ended, too." },
};

static const struct option_table run_table = {
	.usage = "faultline run [OPTION...] [--] COMMAND [ARG...]",
	.about = "Runs COMMAND and records how it and all its children read and write files: "
		 "system calls, page faults on mapped files, and pages brought into the page "
		 "cache. Exits with COMMAND's status; 125 if it was not started (bad options, no "
		 "space for the trace, tracing impossible), 126 or 127 if it could not be run.",
	.own = OPTION_ROWS(run_rows),
	.shared = { { &recording_rows, offsetof(struct run_options, recording) },
		    { &flight_rows, offsetof(struct run_options, recording.flight) },
		    { &redact_rows, offsetof(struct run_options, recording.redact) } },
	.command_follows = true,
};

/* A command and its recording. */
struct run {
	struct run_options options;
	struct recording recording;
	struct run_page page;
	char **command;
	char **environment; /* of the command */
	char output[PATH_MAX], html[PATH_MAX];
	struct child child;
	bool started; /* the recording has begun; with --delay, after the command */
	bool failed;  /* the recording could not begin after --delay */
	bool ended;   /* the recording has ended, before the command */
};

/* --- ending --- */

static void say_survivors(const uint64_t *pids, size_t count)
{
	struct strbuf list = { .used = 0 };
	size_t shown = count < 8 ? count : 8;

	if (!count)
		return;
	for (size_t i = 0; i < shown; i++) {
		char comm[32];

		survivors_name(pids[i], comm, sizeof(comm));
		strbuf_join(&list, ", ", "%s (%u)", comm, (unsigned int)pids[i]);
	}
	log_warning(
		"%zu %s the command and %s untraced: %s%s; use --wait-children to wait for them",
		count, count == 1 ? "process outlives" : "processes outlive",
		count == 1 ? "continues" : "continue", list.bytes, count > shown ? ", ..." : "");
}

static void end_recording(struct run *run, int exit_code)
{
	uint64_t survivors[SURVIVORS_MAX], end_ns = host_now_ns();
	size_t count = survivors_find(run->recording.session, survivors, SURVIVORS_MAX);
	struct recorder_status status;

	recording_finish(&run->recording, end_ns, exit_code, survivors, count, &status);
	if (!run->ended)
		say_survivors(survivors, count);
	if (status.not_followed)
		log_warning("%llu privileged %s (setuid or similar) %s not followed; the report "
			    "lists them, and root can trace them",
			    (unsigned long long)status.not_followed,
			    status.not_followed == 1 ? "program" : "programs",
			    status.not_followed == 1 ? "was" : "were");
	recording_say_summary(&run->recording, &status);
}

/* The time of --duration has passed. The command's exit status is not known yet. */
static void end_early(void *context)
{
	struct run *run = context;
	char duration[UNITS_TEXT];

	if (!run->started)
		return;
	run->ended = true;
	end_recording(run, -1);
	log_info("recorded for %s; the command continues untraced",
		 units_ns(duration, run->options.duration_ns));
}

static void request_trace(void *context)
{
	struct run *run = context;

	if (run->started)
		recording_ask(&run->recording);
}

static void show_live_line(void *context)
{
	struct run *run = context;

	if (run->started)
		recording_live_line(&run->recording);
}

/* --- starting --- */

/* Attaches to the command, which is already running. */
static int attach(struct run *run)
{
	struct recording *recording = &run->recording;
	int pidfd = syscall(SYS_pidfd_open, run->child.pid, 0), err;
	size_t processes, threads = 0;

	if (pidfd < 0)
		return -errno;
	err = recording_open_writer(recording, (const char *const *)run->command, NULL);
	if (!err)
		err = session_attach(recording->session, &pidfd, 1, &processes, &threads);
	close(pidfd);
	if (!err && !threads)
		err = -ESRCH;
	if (err)
		return err;
	markers_look_at_attached(recording->markers, recording->session);
	return recording_start(recording);
}

/* The time of --delay has passed. */
static void begin_late(void *context)
{
	struct run *run = context;
	int err = attach(run);

	run->started = !err;
	run->failed = err;
	if (err)
		log_error("cannot attach to the command, which continues untraced: %s",
			  strerror(-err));
	recording_give_up_privileges();
}

/* Prepares everything up to the point where the command waits to be released. */
static int begin(struct run *run)
{
	struct session_attach *to = &run->recording.session_options.attach;
	int err;

	if (run->options.delay_ns)
		*to = (struct session_attach) { .to = ATTACH_PROCESSES,
						.own_child = true,
						.uid = geteuid() ? getuid() : ATTACH_ANYBODY };
	err = recording_open_session(&run->recording, run->command[0], run->environment);
	if (err || run->options.delay_ns)
		return err;
	run->started = true;
	err = recording_open_writer(&run->recording, (const char *const *)run->command, NULL);
	if (err)
		return err;
	err = session_arm(run->recording.session, run->child.pid);
	if (err) {
		log_error("cannot follow the command: %s", strerror(-err));
		return err;
	}
	markers_await(run->recording.markers);
	return 0;
}

/* Replaces %r in the names of files by the command's rank. */
static int name_rank(struct run *run)
{
	const int64_t rank = names_rank_in(run->environment, environment_get);
	int err = tracefile_rank(run->options.recording.output, rank, run->output);

	run->options.recording.output = run->output;
	if (err || !run->page.pattern)
		return err;
	err = tracefile_rank(run->page.pattern, rank, run->html);
	run->page.pattern = run->html;
	return err;
}

static int open_outputs(struct run *run)
{
	const struct recording *recording = &run->recording;
	int err = recording_open_output(&run->recording, run->child.pid);

	return err ? err
		   : run_page_open(&run->page, run->child.pid, recording->options->force,
				   recording->user.uid, recording->user.gid, recording->fd);
}

static void remove_output(struct run *run)
{
	run_page_remove(&run->page);
	recording_remove_output(&run->recording);
}

static int exec_failed(struct run *run, int err)
{
	log_error("%s: %s", run->command[0], err == -ENOENT ? "command not found" : strerror(-err));
	remove_output(run);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

/* The command has ended: ends what was begun. */
static void end(struct run *run, int exit_code)
{
	if (run->started && !run->ended) {
		end_recording(run, exit_code);
	} else if (!run->started) {
		if (!run->failed)
			log_warning("nothing was recorded: the command ended before --delay had "
				    "passed");
		remove_output(run);
	}
}

static int run_command(struct run *run)
{
	struct supervision supervision = { .wait_children = run->options.wait_children,
					   .on_signal = request_trace,
					   .context = run };
	bool tracing;
	int status, err;

	if (!strcmp(run->options.recording.output, "-") && recording_take_output(&run->recording))
		return EXIT_NO_TRACING;
	if (child_start(&run->child, run->command, &run->recording.user, run->environment))
		return EXIT_NO_TRACING;
	tracing = !open_outputs(run) && !begin(run) &&
		  (!run->started || !recording_start(&run->recording));
	if (!tracing && !run->options.recording.best_effort) {
		child_cancel(&run->child);
		remove_output(run);
		return EXIT_NO_TRACING;
	}
	err = child_release(&run->child, tracing && run->started && run->recording.markers
						 ? markers_address(run->recording.markers)
						 : NULL);
	if (err)
		return exec_failed(run, err);
	if (tracing && run->started) {
		recording_give_up_privileges();
	} else if (!tracing) {
		log_warning("running the command without tracing it");
		markers_stop(run->recording.markers);
		session_detach(run->recording.session);
	}
	supervision.pid = run->child.pid;
	if (tracing) {
		supervision.over = end_early;
		supervision.over_ns = run->options.duration_ns
					      ? run->options.delay_ns + run->options.duration_ns
					      : 0;
		supervision.begin = begin_late;
		supervision.begin_ns = run->options.delay_ns;
	}
	if (tracing && recording_wants_live_line(&run->recording))
		supervision.tick = show_live_line;
	err = supervise(&supervision, &status);
	if (supervision.tick)
		fprintf(stderr, "\r\033[K");
	if (err < 0)
		log_error("waiting for the command failed: %s", strerror(-err));
	status = status == -1 ? 130 : supervise_exit_code(status);
	if (tracing)
		end(run, status);
	else
		remove_output(run);
	return status;
}

int command_run(int argc, char **argv)
{
	struct run run = {
		.options = { .recording = RECORDING_DEFAULTS, .env_from_sudo = "yes" },
		.recording = { .options = &run.options.recording, .fd = -1 },
		.page = { .fd = -1, .trace_fd = -1 },
	};
	int first, status = options_parse(&run_table, argc, argv, &run.options, &first);

	/* As with env: any status below 125 is the command's own. */
	if (status != OPTIONS_GO)
		return status ? EXIT_NO_TRACING : 0;
	if (selection_lists_variants(run.options.recording.variants))
		return 0;
	if (first >= argc) {
		log_error("no command to run; try 'faultline run -- COMMAND'");
		return EXIT_NO_TRACING;
	}
	if (run.options.html &&
	    (!strcmp(run.options.recording.output, "-") || !strcmp(run.options.html, "-"))) {
		log_error("--html: neither the page nor the trace may go to standard output");
		return EXIT_NO_TRACING;
	}
	if (run.options.html && run.options.recording.flight.bytes != RECORDING_NOT_GIVEN) {
		log_error("--html and --flight are mutually exclusive; use 'faultline report "
			  "--html' on the traces that the flight recorder writes");
		return EXIT_NO_TRACING;
	}
	run.page.pattern = run.options.html;
	run.command = argv + first;
	if (recording_choose(&run.recording) ||
	    child_find_user(run.options.user, &run.recording.user))
		return EXIT_NO_TRACING;
	run.environment =
		environment_make(&run.recording.user, !strcmp(run.options.env_from_sudo, "yes"));
	if (!run.environment || name_rank(&run) ||
	    python_spans_prepare(run.options.python_spans, &run.environment))
		return EXIT_NO_TRACING;
	/* What setuid programs read is recorded only for root, whoever called. */
	run.recording.session_options.follow_privileged = run.recording.user.uid == 0;
	if (supervise_prepare(run.options.wait_children)) {
		log_error("cannot set up signals: %s", strerror(errno));
		return EXIT_NO_TRACING;
	}
	status = run_command(&run);
	recording_close(&run.recording);
	run_page_write(&run.page, run.recording.path);
	environment_free(run.environment);
	return status;
}
