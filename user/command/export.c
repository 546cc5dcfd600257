/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * faultline export: traces in, a file of another format out. Knows nothing of what is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/traces.h"
#include "log.h"
#include "output/chrome.h"
#include "output/gzip.h"

struct export_request {
	struct option_texts to; /* the format; a time is taken for `until_ns` */
	const char *output;
	uint64_t from_ns, until_ns, min_duration_ns, pid;
	bool force;
};

#define FIELD(name) offsetof(struct export_request, name)

static const struct option_row rows[] = {
	{ 0, "to", "FORMAT", OPTION_TEXTS, FIELD(to),
	  "What to write: chrome, the Trace Event Format (JSON) for ui.perfetto.dev." },
	{ 'o', "output", "FILE", OPTION_STRING, FIELD(output),
	  "Where it goes; with .gz at the end it is compressed, - is the standard output." },
	{ 0, "force", NULL, OPTION_FLAG, FIELD(force), "Replace FILE if it exists." },
	{ 0, "from", "TIME", OPTION_TIME, FIELD(from_ns),
	  "Only what comes later: seconds since the start, or 250ms and the like." },
	{ 0, "until", "TIME", OPTION_TIME, FIELD(until_ns),
	  "Only what comes earlier. --to TIME says the same." },
	{ 0, "min-duration", "TIME", OPTION_TIME, FIELD(min_duration_ns),
	  "Only calls, faults and spans that took as long, such as 10us." },
	{ 0, "pid", "PID", OPTION_COUNT, FIELD(pid), "Only events of this process." },
};

static const struct option_table table = {
	.usage = "faultline export --to FORMAT -o FILE [OPTION...] TRACE...",
	.about = "Writes traces in another format, for other programs to show.\n"
		 "Several traces, of other hosts or other ranks, make one file.",
	.rows = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
};

/* What is written into: a file, maybe through gzip. */
struct target {
	const char *name;
	int fd;
	bool made; /* the file is new: it goes away if it cannot be finished */
	struct gzFile_s *gzip;
	struct sink out;
};

struct work {
	const struct export_request *request;
	struct trace_reader **traces;
	const char *const *names;
	size_t trace_count;
	struct progress_line progress;
	struct trace_error error;
};

/* --- formats --- */

static int write_chrome(struct work *work, struct sink *out)
{
	const struct chrome_options options = {
		.from_ns = work->request->from_ns,
		.until_ns = work->request->until_ns,
		.min_duration_ns = work->request->min_duration_ns,
		.pid = work->request->pid,
		.progress = progress_update,
		.context = &work->progress,
	};

	return chrome_write(out, work->traces, work->names, work->trace_count, &options,
			    &work->error);
}

/* Each returns 0 or -errno; errors of the sink stay in the sink, of others `error` tells. */
static const struct format {
	const char *name;
	int (*write)(struct work *work, struct sink *out);
} formats[] = {
	{ "chrome", write_chrome },
};
#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

static void say_known_formats(const char *before, const char *name, const char *after)
{
	char list[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < FORMAT_COUNT && used < sizeof(list); i++)
		used += snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
				 formats[i].name);
	log_error("%s%s%s; known are %s", before, name, after, list);
}

static const struct format *find_format(struct export_request *request)
{
	const char *name = NULL;

	/* "--to chrome --from 10 --to 20": no format is called like a number. */
	for (size_t i = 0; i < request->to.count; i++)
		if (!options_time(request->to.items[i], &request->until_ns))
			name = request->to.items[i];
	for (size_t i = 0; name && i < FORMAT_COUNT; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	if (name)
		say_known_formats("--to ", name, ": no such format");
	else
		say_known_formats("no format given", "", ": --to FORMAT");
	return NULL;
}

/* --- the file --- */

/* A trace must not be written over while it is read. */
static bool is_trace(const char *path, char *const *traces, size_t count)
{
	struct stat file, trace;

	if (stat(path, &file))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!stat(traces[i], &trace) && file.st_dev == trace.st_dev &&
		    file.st_ino == trace.st_ino)
			return true;
	return false;
}

/* Traces hold paths and command lines, so what is made of them is the user's alone, too. A file
 * that is replaced is not truncated: somebody may be reading it. Others, devices say, are written
 * into. */
static int create_file(struct target *target, bool force)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL;
	struct stat stat;

	if (force && !lstat(target->name, &stat)) {
		if (!S_ISREG(stat.st_mode))
			flags &= ~(O_CREAT | O_EXCL);
		else if (unlink(target->name))
			flags = -1;
	}
	target->made = flags & O_CREAT;
	target->fd = flags < 0 ? -1 : open(target->name, flags, 0600);
	if (target->fd >= 0)
		return 0;
	target->made = false;
	if (errno == EEXIST)
		log_error("%s exists; name another file with -o, or replace it with --force",
			  target->name);
	else
		log_error("%s: cannot be written: %s", target->name, strerror(errno));
	return EXIT_USAGE;
}

static int open_target(struct target *target, bool force)
{
	size_t length = strlen(target->name);
	int status;

	target->fd = STDOUT_FILENO;
	if (strcmp(target->name, "-")) {
		status = create_file(target, force);
		if (status)
			return status;
	}
	if (length > 3 && !strcmp(target->name + length - 3, ".gz")) {
		status = gzip_open(&target->gzip, target->fd);
		if (!status)
			status = sink_open_through(&target->out, gzip_put, target->gzip);
	} else {
		status = sink_open(&target->out, target->fd);
	}
	if (status)
		log_error("out of memory");
	return status ? EXIT_FAILED : 0;
}

/* Returns 0 or -errno. */
static int finish_target(struct target *target)
{
	int status = sink_flush(&target->out);

	if (!status && target->gzip) {
		status = gzip_close(target->gzip);
		target->gzip = NULL;
	}
	return status;
}

static void close_target(struct target *target, int *status)
{
	sink_close(&target->out);
	gzip_close(target->gzip);
	/* Some file systems say only now that the disk is full. */
	if (target->fd > STDOUT_FILENO && close(target->fd) && !*status) {
		log_error("%s: cannot be written: %s", target->name, strerror(errno));
		*status = EXIT_FAILED;
	}
	if (target->made && *status)
		unlink(target->name);
}

/* --- the command --- */

static int export_traces(struct work *work, const struct format *format, struct target *target)
{
	int status;

	progress_start(&work->progress, "exporting");
	status = format->write(work, &target->out);
	if (!status)
		status = finish_target(target);
	progress_end(&work->progress);
	if (!status)
		return 0;
	if (target->out.error || !work->error.text[0])
		log_error("%s: cannot be written: %s", target->name, strerror(-status));
	else
		log_error("%s", work->error.text);
	return EXIT_FAILED;
}

static int check_request(struct export_request *request, int count, char *const *traces,
			 const struct format **format)
{
	*format = find_format(request);
	if (!*format)
		return EXIT_USAGE;
	if (!request->output || !request->output[0]) {
		log_error("no output given; name a file with -o, or - for the standard output");
		return EXIT_USAGE;
	}
	if (!count) {
		log_error("no trace given; try 'faultline export --help'");
		return EXIT_USAGE;
	}
	if (request->until_ns <= request->from_ns) {
		log_error("--from is not earlier than the end of the time that is wanted");
		return EXIT_USAGE;
	}
	if (is_trace(request->output, traces, count)) {
		log_error("-o %s: is the trace itself; name another file", request->output);
		return EXIT_USAGE;
	}
	return 0;
}

int command_export(int argc, char **argv)
{
	struct export_request request = { .until_ns = UINT64_MAX, .pid = CHROME_ANY_PID };
	struct work work = { .request = &request };
	struct target target = { .fd = -1 };
	const struct format *format;
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	status = check_request(&request, argc - first, argv + first, &format);
	if (status)
		return status;
	target.name = request.output;
	work.names = (const char *const *)argv + first;
	work.trace_count = argc - first;
	work.traces = calloc(work.trace_count, sizeof(struct trace_reader *));
	if (!work.traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	status = traces_open(work.traces, argv + first, work.trace_count);
	if (!status)
		status = open_target(&target, request.force);
	if (!status)
		status = export_traces(&work, format, &target);
	for (size_t i = 0; !status && i < work.trace_count; i++)
		traces_tell_unread(work.traces[i], work.names[i]);
	close_target(&target, &status);
	traces_close(work.traces, work.trace_count);
	free(work.traces);
	return status;
}
