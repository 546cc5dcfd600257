/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline mcp: finds the Python package next to the program, and becomes its server. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "command/common/command.h"
#include "command/common/options.h"
#include "base/log.h"

struct mcp_request {
	uint64_t time_ns, memory, answer;
};

#define FIELD(name) offsetof(struct mcp_request, name)
#define SECOND 1000000000ull

static const struct option_row rows[] = {
	{ 0, "time", "TIME", OPTION_TIME, FIELD(time_ns),
	  "Time limit of an answer; what takes longer is stopped. Default: 50s.", SECOND,
	  24 * 3600 * SECOND },
	{ 0, "memory", "SIZE", OPTION_BYTES, FIELD(memory),
	  "Memory budget of a report, as in report, and of an SQL query. Default: 1G.", 64 << 20,
	  UINT64_MAX / 4 },
	{ 0, "answer", "SIZE", OPTION_BYTES, FIELD(answer),
	  "Maximum size of an answer; rows beyond it are left out, and the answer says so. "
	  "Default: 32K.",
	  4 << 10, 16 << 20 },
};

static const struct option_table table = {
	.usage = "faultline mcp [OPTION...] TRACE|DIRECTORY...",
	.about = "Serves traces to an assistant: a Model Context Protocol server on standard input "
		 "and output, with tools for reports, findings, lines, slowest operations, SQL and "
		 "comparisons. Opens only these traces, and the *.flt files in these directories, "
		 "and changes nothing. Requires Python 3.9 or later.",
	.own = OPTION_ROWS(rows),
};

/* Relative to the program's directory: in the build tree, and as installed. */
static const char *const paths[] = { "python", "../lib/faultline/python" };

/* Run isolated (-I), so that no module in the current directory or in PYTHONPATH is imported, and
 * without writing bytecode next to the package (-B). */
static const char start[] =
	"import sys\n"
	"if sys.version_info < (3, 9):\n"
	"    sys.stderr.write('faultline: mcp requires Python 3.9 or later\\n')\n"
	"    sys.exit(2)\n"
	"sys.path.insert(0, sys.argv.pop(1))\n"
	"from faultline.mcp.__main__ import main\n"
	"main()\n";

/* Finds the directory that has the package, and tells the package which program to run. */
static int find_package(char package[PATH_MAX])
{
	char program[PATH_MAX], directory[PATH_MAX], path[2 * PATH_MAX];
	int err = host_program_path(program);

	if (err)
		return err;
	if (setenv("FAULTLINE", program, true))
		return -errno;
	dirname(strcpy(directory, program));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/faultline/mcp", directory, paths[i]);
		if (access(path, R_OK))
			continue;
		path[strlen(path) - strlen("/faultline/mcp")] = 0;
		if (realpath(path, package))
			return 0;
	}
	log_error("mcp: the Python package is not installed next to the program (%s/%s); on "
		  "Debian, install python3-faultline",
		  directory, paths[1]);
	return -ENOENT;
}

/* Returns an exit status if it cannot. */
static int become_server(const char *package, const struct mcp_request *request, char **traces,
			 int count)
{
	char time[40], memory[40], answer[40];
	const char *const options[] = {
		"python3",
		"-IB",
		"-c",
		start,
		package,
		time,
		memory,
		answer,
		log_get_level() == LOG_ERROR   ? "--log=error"
		: log_get_level() == LOG_DEBUG ? "--log=debug"
					       : "--log=info",
		"--",
	};
	const size_t option_count = sizeof(options) / sizeof(options[0]);
	const char **argv = calloc(option_count + count + 1, sizeof(*argv));

	if (!argv) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	snprintf(time, sizeof(time), "--time=%g", request->time_ns / 1e9);
	snprintf(memory, sizeof(memory), "--memory=%" PRIu64, request->memory);
	snprintf(answer, sizeof(answer), "--answer=%" PRIu64, request->answer);
	memcpy(argv, options, sizeof(options));
	memcpy(argv + option_count, traces, count * sizeof(*argv));
	execvp(argv[0], (char *const *)argv);
	log_error("mcp: cannot run python3: %s", strerror(errno));
	free(argv);
	return EXIT_USAGE;
}

int command_mcp(int argc, char **argv)
{
	struct mcp_request request = { 50 * SECOND, 1 << 30, 32 << 10 };
	char package[PATH_MAX];
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	if (first == argc) {
		log_error("no trace given; try 'faultline mcp --help'");
		return EXIT_USAGE;
	}
	if (find_package(package))
		return EXIT_USAGE;
	return become_server(package, &request, argv + first, argc - first);
}
