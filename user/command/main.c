/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the subcommand and calls it. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/host/privileges.h"
#include "command/common/command.h"
#include "command/common/suggest.h"
#include "command/common/terms.h"
#include "command/common/traces.h"
#include "base/log.h"
#include "trace/format/schema.h"

static const struct command commands[] = {
	{ "run", command_run, true, "Run a command and record its I/O" },
	{ "attach", command_attach, true, "Attach to running processes" },
	{ "monitor", command_monitor, true, "Export per-job I/O metrics to Prometheus" },
	{ "top", command_top, true, "Show live I/O by job, process or file" },
	{ "report", command_report, false,
	  "Show what a job waits for, and its I/O by method and file" },
	{ "summarize", command_summarize, false, "Reduce traces to a small file for reports" },
	{ "print", command_print, false, "Print the events of a trace" },
	{ "export", command_export, false, "Convert traces to timelines, tables or databases" },
	{ "mcp", command_mcp, false, "Serve traces to an assistant (Model Context Protocol)" },
	{ "check", command_check, true, "Check kernel support and privileges" },
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

#define STACK_BYTES (1u << 20)

static void print_help(void)
{
	printf("Usage: faultline COMMAND [OPTION...] [ARG...]\n\nRecords a job's file I/O, page "
	       "faults included, and reports on it.\n\nCommands:\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-9s  %s\n", commands[i].name, commands[i].summary);
	printf("\nSee 'faultline help COMMAND' for a command, 'faultline help terms' for the\n"
	       "terms of reports, 'faultline --version' for the version.\n");
}

static void print_version(void)
{
	printf("faultline %s\n(commit %s, libbpf %s, trace format %d)\n", FAULTLINE_VERSION,
	       FAULTLINE_COMMIT[0] ? FAULTLINE_COMMIT : "unknown", libbpf_version_string() + 1,
	       TRACE_VERSION);
}

/*
 * Opens /dev/null for standard streams that were closed: otherwise the next file opened, a trace,
 * would receive whatever is printed. Reads and writes of them fail, and a command finds them closed
 * as we did.
 */
static int fill_closed_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags | O_CLOEXEC) != fd)
			return -1;
	}
	return 0;
}

/* Threads inherit their stack size from the limit for programs, which may be tiny. Sets our own. */
static void choose_thread_stacks(void)
{
	pthread_attr_t attributes;
	size_t bytes;

	if (pthread_getattr_default_np(&attributes))
		return;
	if (!pthread_attr_getstacksize(&attributes, &bytes) && bytes < STACK_BYTES &&
	    !pthread_attr_setstacksize(&attributes, STACK_BYTES))
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

/* A command on a stack of its own. */
static struct {
	const struct command *command;
	char **argv;
	int argc, status;
	ucontext_t before, on_it;
} moved;

static void run_moved(void)
{
	moved.status = moved.command->run(moved.argc, moved.argv);
}

/* The limit stays as it is: the command being run inherits it. */
static int run_on_own_stack(const struct command *command, int argc, char **argv)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, sysconf(_SC_PAGESIZE), PROT_NONE) ||
	    getcontext(&moved.on_it)) {
		log_error("cannot allocate a stack larger than 'ulimit -s' allows");
		return EXIT_NO_TRACING;
	}
	moved.command = command;
	moved.argc = argc;
	moved.argv = argv;
	moved.on_it.uc_stack = (stack_t) { .ss_sp = stack, .ss_size = STACK_BYTES };
	moved.on_it.uc_link = &moved.before;
	makecontext(&moved.on_it, run_moved, 0);
	swapcontext(&moved.before, &moved.on_it);
	munmap(stack, STACK_BYTES);
	return moved.status;
}

/* Must run before anything is opened: files are opened with the caller's own rights, and only
 * processes with more rights than ours may inspect or change this one. */
static void limit_rights(const struct command *command)
{
	int err = command->traces ? privileges_hide() : privileges_keep_own();

	if (err)
		log_warning("cannot drop privileges: %s", strerror(-err));
}

static int run(const struct command *command, int argc, char **argv)
{
	struct rlimit limit;

	limit_rights(command);
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_BYTES)
		return run_on_own_stack(command, argc, argv);
	return command->run(argc, argv);
}

/* What other programs call commands, and options typed without a command. */
static const struct {
	const char *theirs, *ours;
} known_elsewhere[] = {
	{ "record", "run" },
	{ "trace", "run" },
	{ "exec", "run" },
	{ "stat", "report" },
	{ "stats", "report" },
	{ "show", "report" },
	{ "analyze", "report" },
	{ "diff", "report --against" },
	{ "dump", "print" },
	{ "script", "print" },
	{ "convert", "export" },
	{ "serve", "monitor" },
	{ "daemon", "monitor" },
	{ "doctor", "check" },
	{ "version", "--version" },
	{ "--json", "report --format json" },
	{ "--html", "report --html" },
};

/* NULL: no guess. */
static const char *guess_command(const char *name)
{
	struct suggestion suggestion = { .word = name };

	for (size_t i = 0; i < sizeof(known_elsewhere) / sizeof(known_elsewhere[0]); i++)
		if (!strcmp(name, known_elsewhere[i].theirs))
			return known_elsewhere[i].ours;
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		suggest_consider(&suggestion, commands[i].name);
	return suggestion.best;
}

/* Returns NULL after a line on stderr. */
static const struct command *find(const char *name)
{
	const char *meant;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	meant = guess_command(name);
	if (!access(name, F_OK))
		log_error("%s: unknown command; did you mean 'faultline report %s'?", name, name);
	else if (meant)
		log_error("%s: unknown command; did you mean 'faultline %s'?", name, meant);
	else
		log_error("%s: unknown command; try 'faultline --help'", name);
	return NULL;
}

static int help_on(char *name)
{
	char *argv[] = { name, "--help", NULL };
	const struct command *command = find(name);

	return command ? run(command, 2, argv) : EXIT_USAGE;
}

/* Flushes stdio before success is reported. */
static int finish_output(void)
{
	errno = EIO; /* in case a write failed earlier */
	return fflush(stdout) || ferror(stdout) ? output_failed(-errno) : 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (fill_closed_streams())
		return EXIT_NO_TRACING;
	choose_thread_stacks();
	if (argc < 2) {
		log_error("no command given; try 'faultline --help'");
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc > 2 && argv[2][0] != '-')
		return !strcmp(argv[2], "terms") ? terms_print() : help_on(argv[2]);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return finish_output();
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_version();
		return finish_output();
	}
	command = find(argv[1]);
	if (!command)
		return EXIT_USAGE;
	status = run(command, argc - 1, argv + 1);
	return status ? status : finish_output();
}
