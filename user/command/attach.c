/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline attach: records processes that are already running. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/names/cgroup_names.h"
#include "capture/follow/cgroup_target.h"
#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/host/proc.h"
#include "capture/support/selection.h"
#include "capture/follow/watch.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "command/recording/ready_fd.h"
#include "command/recording/recording.h"
#include "base/log.h"

#define TARGET_BYTES 512 /* of a target's description */

struct attach_options {
	struct recording_options recording;
	const char *pids, *cgroup, *container, *slurm_job;
	uint64_t duration_ns, ready_fd;
	bool all;
};

static const struct option_row attach_rows[] = {
	{ 'p', "pid", "PID[,PID...]", OPTION_STRING, offsetof(struct attach_options, pids),
	  "Record these processes and all their descendants." },
	{ 0, "cgroup", "PATH", OPTION_STRING, offsetof(struct attach_options, cgroup),
	  "Record a cgroup and those below it, and processes that join them. PATH is the cgroup's "
	  "directory, or its path as in /proc/PID/cgroup." },
	{ 0, "container", "ID", OPTION_STRING, offsetof(struct attach_options, container),
	  "Record the container with this ID (at least its first 6 digits) or name." },
	{ 0, "slurm-job", "ID[.STEP]", OPTION_STRING, offsetof(struct attach_options, slurm_job),
	  "Record this Slurm job, or one step of it." },
	{ 0, "all", NULL, OPTION_FLAG, offsetof(struct attach_options, all),
	  "Record all processes of this machine except Faultline's own." },
	{ 'd', "duration", "SECONDS", OPTION_TIME, offsetof(struct attach_options, duration_ns),
	  "Stop after SECONDS. Default: when the processes have ended, or on Ctrl-C." },
	{ 'o', "output", "FILE", OPTION_STRING, offsetof(struct attach_options, recording.output),
	  "Trace file; %h is the host, %p the pid of the first process given (else faultline's), "
	  "%t the Unix time; - is standard output. Default: faultline-%h-%p.flt." },
	{ 0, "best-effort", NULL, OPTION_FLAG,
	  offsetof(struct attach_options, recording.best_effort),
	  "Record whatever is available if a layer is not." },
	{ 0, "ready-fd", "FD", OPTION_COUNT, offsetof(struct attach_options, ready_fd),
	  "Write a line to this file descriptor, and close it, once recording has started." },
};

static const struct option_table attach_table = {
	.usage = "faultline attach [OPTION...] (PID... | -p PID[,PID...] | --cgroup PATH | "
		 "--container ID | --slurm-job ID | --all)",
	.about = "Records how running processes, with all their threads and descendants, read and "
		 "write files from now on. They are not stopped, changed or signalled. Ends when "
		 "the processes have ended or the cgroup is empty, after --duration, or on "
		 "Ctrl-C.\nRoot, and users with capabilities from a service manager, can record "
		 "any process; others only their own.",
	.own = OPTION_ROWS(attach_rows),
	.shared = { { &recording_rows, offsetof(struct attach_options, recording) },
		    { &flight_rows, offsetof(struct attach_options, recording.flight) },
		    { &redact_rows, offsetof(struct attach_options, recording.redact) } },
};

struct attach {
	char *operands; /* as for -p; NULL: none */
	struct attach_options options;
	struct recording recording;
	bool may_all; /* may see the processes of all users */
	pid_t *pids;
	int *pidfds;
	size_t pid_count;
	struct cgroup_target cgroup; /* fd -1: none */
	char **targets;		     /* descriptions; NULL-terminated */
};

/* --- targets --- */

static int name_target(struct attach *attach, size_t number, const char *what, const char *rest)
{
	int length = asprintf(&attach->targets[number], "%s%s", what, rest);

	if (length < 0) {
		attach->targets[number] = NULL;
		return -ENOMEM;
	}
	if (length > TARGET_BYTES)
		attach->targets[number][TARGET_BYTES] = 0;
	return 0;
}

/* Adds one process of the list: it must exist, be ours to look at, and not be us. */
static int take_pid(struct attach *attach, unsigned long pid)
{
	size_t number = attach->pid_count;
	char command[256], what[64], rest[sizeof(command) + 4] = "";
	bool ours;
	int fd;

	for (size_t i = 0; i < number; i++)
		if (attach->pids[i] == (pid_t)pid)
			return 0;
	if (pid == (unsigned long)getpid()) {
		log_error("-p %lu: is faultline itself", pid);
		return -EINVAL;
	}
	fd = syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0) {
		int err = errno;

		log_error("-p %lu: %s", pid,
			  err == ESRCH	  ? "no such process"
			  : err == EINVAL ? "is a thread, not a process"
					  : strerror(err));
		return -err;
	}
	attach->pidfds[number] = fd;
	attach->pids[number] = pid;
	attach->pid_count++;
	if (proc_is_kernel(pid)) {
		log_error("-p %lu: is a kernel thread", pid);
		return -EINVAL;
	}
	if (!attach->may_all && (!proc_owner(pid, getuid(), &ours) || !ours)) {
		log_error("-p %lu: belongs to another user; run as root to attach to it", pid);
		return -EPERM;
	}
	proc_command(pid, command, sizeof(command));
	snprintf(what, sizeof(what), "process %lu", pid);
	if (command[0])
		snprintf(rest, sizeof(rest), " (%s)", command);
	return name_target(attach, number, what, rest);
}

static int take_pids(struct attach *attach)
{
	const char *at = attach->options.pids;
	size_t count = 1;

	for (const char *comma = at; *comma; comma++)
		count += *comma == ',';
	if (count > ATTACH_FAMILY_MAX) {
		log_error("-p: %zu processes given, at most %d allowed", count, ATTACH_FAMILY_MAX);
		return -EINVAL;
	}
	attach->pids = calloc(count, sizeof(*attach->pids));
	attach->pidfds = calloc(count, sizeof(*attach->pidfds));
	attach->targets = calloc(count + 1, sizeof(*attach->targets));
	if (!attach->pids || !attach->pidfds || !attach->targets)
		return -ENOMEM;
	for (;;) {
		char *end;
		unsigned long pid = strtoul(at, &end, 10);
		int err;

		if (at[0] < '0' || at[0] > '9' || !pid || pid > INT32_MAX ||
		    (*end && *end != ',')) {
			log_error("%s: not a comma-separated PID list, such as 17,34; use "
				  "'faultline run' to start a command",
				  attach->options.pids);
			return -EINVAL;
		}
		err = take_pid(attach, pid);
		if (err || !*end)
			return err;
		at = end + 1;
	}
}

static int take_cgroup(struct attach *attach)
{
	const struct attach_options *options = &attach->options;
	const char *id = options->container ? options->container : options->slurm_job;
	int err;

	attach->targets = calloc(2, sizeof(*attach->targets));
	if (!attach->targets)
		return -ENOMEM;
	/* As from an unset variable: this does not mean the whole machine. */
	if (options->cgroup && !options->cgroup[0]) {
		log_error("--cgroup: the path is empty; use --all to record all processes");
		return -EINVAL;
	}
	if (options->slurm_job && !slurm_id_fits(id)) {
		log_error("--slurm-job %s: not a job ID, such as 123 or 123.0", id);
		return -EINVAL;
	}
	if (options->container && !container_id_fits(id)) {
		log_error("--container %s: not a container ID or name", id);
		return -EINVAL;
	}
	if (options->container)
		err = cgroup_target_by_name(&attach->cgroup, cgroup_is_container, "container", id);
	else if (options->slurm_job)
		err = cgroup_target_by_name(&attach->cgroup, cgroup_is_slurm, "Slurm job", id);
	else
		err = cgroup_target_by_path(&attach->cgroup, options->cgroup);
	if (err)
		return err;
	if (!cgroup_target_populated(&attach->cgroup)) {
		log_error("cgroup %s has no processes", attach->cgroup.name);
		return -ESRCH;
	}
	return name_target(attach, 0,
			   options->container	? "container "
			   : options->slurm_job ? "Slurm job "
						: "cgroup ",
			   options->cgroup ? attach->cgroup.name : id);
}

static int take_all(struct attach *attach)
{
	attach->targets = calloc(2, sizeof(*attach->targets));
	if (!attach->targets)
		return -ENOMEM;
	return name_target(attach, 0, "all processes except faultline's",
			   attach->may_all ? "" : " (this user only)");
}

/* Exactly one of the options names the target. */
static int take_targets(struct attach *attach)
{
	const struct attach_options *options = &attach->options;
	struct session_attach *to = &attach->recording.session_options.attach;
	int given = !!options->pids + !!options->cgroup + !!options->container +
		    !!options->slurm_job + options->all;
	int err;

	if (given != 1) {
		log_error(given ? "-p, --cgroup, --container, --slurm-job and --all are mutually "
				  "exclusive"
				: "no target given; use -p, --cgroup, --container, --slurm-job or "
				  "--all");
		return -EINVAL;
	}
	to->to = options->pids ? ATTACH_PROCESSES : options->all ? ATTACH_ALL : ATTACH_CGROUP;
	err = options->pids  ? take_pids(attach)
	      : options->all ? take_all(attach)
			     : take_cgroup(attach);
	to->cgroup_id = attach->cgroup.id;
	to->hierarchy = attach->cgroup.hierarchy;
	to->uid = attach->may_all ? ATTACH_ANYBODY : getuid();
	return err;
}

/* --- the recording --- */

/* Reports which of the named processes are not recorded, and why. Returns how many. */
static size_t say_left_out(const struct attach *attach, size_t threads)
{
	size_t count = 0;

	for (size_t i = 0; i < attach->pid_count; i++) {
		struct pollfd end = { .fd = attach->pidfds[i], .events = POLLIN };
		bool found = session_found(attach->recording.session, attach->pidfds[i]);
		bool ended = (!found || !threads) && poll(&end, 1, 0) > 0;

		if (found && !ended)
			continue;
		log_line(threads ? LOG_WARNING : LOG_ERROR, "%s %s", attach->targets[i],
			 ended ? "has ended"
			       : "cannot be attached to: the kernel hides it from tracers");
		count++;
	}
	return count;
}

static int arm(struct attach *attach, size_t *processes, size_t *threads)
{
	struct recording *recording = &attach->recording;
	int err = session_attach(recording->session, attach->pidfds, attach->pid_count, processes,
				 threads);

	if (err)
		return err;
	if (!say_left_out(attach, *threads) && !*threads)
		log_error(attach->pid_count ? "%s cannot be inspected, or is about to exit"
					    : "cannot attach to any process of %s",
			  attach->targets[0]);
	if (!*threads)
		return -ESRCH;
	markers_look_at_attached(recording->markers, recording->session);
	return 0;
}

static int begin(struct attach *attach, size_t *processes, size_t *threads)
{
	struct recording *recording = &attach->recording;
	int err = recording_open_session(recording, NULL, environ);

	if (!err)
		err = recording_open_writer(recording, NULL, (const char *const *)attach->targets);
	if (!err)
		err = arm(attach, processes, threads);
	return err ? err : recording_start(recording);
}

static void say_ready(const struct attach *attach, size_t processes, size_t threads)
{
	log_info("recording %s%s: %zu %s, %zu %s", attach->targets[0],
		 attach->targets[1] ? " and others" : "", processes,
		 processes == 1 ? "process" : "processes", threads,
		 threads == 1 ? "thread" : "threads");
	ready_fd_say(attach->options.ready_fd, "recording\n");
}

static void end_recording(struct attach *attach, int why)
{
	struct recording *recording = &attach->recording;
	uint64_t end_ns = host_now_ns();
	struct recorder_status status;

	recording_finish(recording, end_ns, -1, NULL, 0, &status);
	if (why == WATCH_ENDED)
		log_info("%s%s", attach->targets[0],
			 attach->pid_count > 1 ? " and the others have ended"
			 : attach->pid_count   ? " has ended"
					       : " has no processes left");
	recording_say_summary(recording, &status);
}

static int record(struct attach *attach)
{
	struct recording *recording = &attach->recording;
	struct watch watch = {
		.pidfds = attach->pidfds,
		.count = attach->pid_count,
		.cgroup = attach->cgroup.fd >= 0 ? &attach->cgroup : NULL,
		.max_ns = attach->options.duration_ns,
		.on_signal = recording_ask,
		.context = recording,
	};
	size_t processes = 0, threads = 0;
	int why;

	if (!strcmp(recording->options->output, "-") && recording_take_output(recording))
		return EXIT_FAILED;
	if (recording_open_output(recording, attach->pid_count ? attach->pids[0] : getpid()))
		return EXIT_FAILED;
	if (begin(attach, &processes, &threads)) {
		recording_remove_output(recording);
		return EXIT_FAILED;
	}
	recording_give_up_privileges();
	say_ready(attach, processes, threads);
	if (recording_wants_live_line(recording))
		watch.tick = recording_live_line;
	why = watch_wait(&watch);
	if (watch.tick)
		fprintf(stderr, "\r\033[K");
	if (why < 0)
		log_error("waiting failed: %s", strerror(-why));
	end_recording(attach, why);
	return why < 0 ? EXIT_FAILED : 0;
}

static void clean_up(struct attach *attach)
{
	recording_close(&attach->recording);
	cgroup_target_close(&attach->cgroup);
	for (size_t i = 0; i < attach->pid_count; i++)
		close(attach->pidfds[i]);
	for (size_t i = 0; attach->targets && attach->targets[i]; i++)
		free(attach->targets[i]);
	free(attach->targets);
	free(attach->operands);
	free(attach->pids);
	free(attach->pidfds);
}

/* Operands are process ids, as for -p. The caller frees the list; NULL if out of memory. */
static char *join_operands(char *const *operands, size_t count)
{
	size_t bytes = 1;
	char *list;

	for (size_t i = 0; i < count; i++)
		bytes += strlen(operands[i]) + 1;
	list = calloc(1, bytes);
	for (size_t i = 0; list && i < count; i++) {
		strcat(list, operands[i]);
		if (i + 1 < count)
			strcat(list, ",");
	}
	return list;
}

/* Returns 0 or an exit status. */
static int take_operands(struct attach *attach, char *const *operands, size_t count)
{
	if (!count)
		return 0;
	if (attach->options.pids) {
		log_error("%s: give PIDs either with -p or as arguments, not both", operands[0]);
		return EXIT_USAGE;
	}
	attach->operands = join_operands(operands, count);
	attach->options.pids = attach->operands;
	return attach->operands ? 0 : EXIT_FAILED;
}

/* Checks the other options. */
static int check_options(const struct attach_options *options)
{
	if (!options->duration_ns) {
		log_error("-d 0: duration must be positive");
		return -EINVAL;
	}
	return ready_fd_check(options->ready_fd);
}

int command_attach(int argc, char **argv)
{
	struct attach attach = {
		.options = { .recording = RECORDING_DEFAULTS, .duration_ns = UINT64_MAX },
		.recording = { .options = &attach.options.recording, .fd = -1 },
		.cgroup = { .fd = -1 },
		.may_all = privileges_are_own(),
	};
	int first, status = options_parse(&attach_table, argc, argv, &attach.options, &first);

	if (status != OPTIONS_GO)
		return status;
	status = take_operands(&attach, argv + first, argc - first);
	if (status)
		return status;
	if (selection_lists_variants(attach.options.recording.variants))
		return 0;
	if (check_options(&attach.options))
		return EXIT_USAGE;
	if (attach.options.duration_ns == UINT64_MAX)
		attach.options.duration_ns = 0;
	if (recording_choose(&attach.recording) || child_find_user(NULL, &attach.recording.user) ||
	    take_targets(&attach)) {
		clean_up(&attach);
		return EXIT_USAGE;
	}
	/* Only root may look into setuid programs. */
	attach.recording.session_options.follow_privileged = attach.may_all;
	if (watch_prepare()) {
		log_error("cannot set up signals: %s", strerror(errno));
		status = EXIT_FAILED;
	} else {
		status = record(&attach);
	}
	clean_up(&attach);
	return status;
}
