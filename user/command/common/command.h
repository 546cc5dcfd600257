/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The subcommands. Each takes its own argv (argv[0] is its name) and returns the exit status. */
#pragma once

#include <stdbool.h>

/* Exit statuses besides 0 and that of a traced command. */
#define EXIT_FAILED 1	    /* the request failed */
#define EXIT_USAGE 2	    /* bad input: a line on stderr says what is wrong and what to do */
#define EXIT_NO_TRACING 125 /* tracing could not start; the command was not run */
#define EXIT_NOT_RUNNABLE 126
#define EXIT_NOT_FOUND 127

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool traces;	     /* loads programs into the kernel: others need no capability */
	const char *summary; /* for --help, one line without a full stop */
};

int command_run(int argc, char **argv);
int command_attach(int argc, char **argv);
int command_monitor(int argc, char **argv);
int command_report(int argc, char **argv);
int command_print(int argc, char **argv);
int command_export(int argc, char **argv);
int command_top(int argc, char **argv);
int command_summarize(int argc, char **argv);
int command_mcp(int argc, char **argv);
int command_check(int argc, char **argv);
