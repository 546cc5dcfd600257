/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* faultline summarize: reduces traces to one that holds what their report says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/report/report.h"
#include "analysis/report/summary.h"
#include "command/common/command.h"
#include "command/common/export_target.h"
#include "command/common/options.h"
#include "command/common/progress.h"
#include "command/common/traces.h"
#include "base/log.h"

struct summarize_request {
	const char *output;
	uint64_t rows, memory;
	bool force;
};

#define ROWS_MAX 65536
#define FIELD(name) offsetof(struct summarize_request, name)

static const struct option_row rows[] = {
	{ 'o', "output", "FILE", OPTION_STRING, FIELD(output),
	  "Summary file; - is standard output." },
	{ 0, "rows", "N", OPTION_COUNT, FIELD(rows),
	  "Maximum rows per table; the rest, those with the least time, are merged into one. "
	  "Default: 512.",
	  1, ROWS_MAX },
	{ 0, "memory", "SIZE", OPTION_BYTES, FIELD(memory),
	  "Memory budget for reading the traces, as in report. Default: 1G.", 1 << 20, UINT64_MAX },
	{ 0, "force", NULL, OPTION_FLAG, FIELD(force), "Replace FILE if it exists." },
};

static const struct option_table table = {
	.usage = "faultline summarize -o FILE [OPTION...] TRACE...",
	.about = "Reduces traces to a small file with the contents of their report, without their "
		 "events. report and summarize accept summaries and traces together: each node can "
		 "reduce its own traces, and one report covers all nodes.",
	.own = OPTION_ROWS(rows),
};

/* Returns 0 or an exit status. */
static int check_request(const struct summarize_request *request, char *const *traces, size_t count)
{
	if (!request->output)
		log_error("no output given; use -o FILE, or -o - for standard output");
	else if (!count)
		log_error("no trace given; try 'faultline summarize --help'");
	else if (export_is_trace(request->output, traces, count))
		log_error("-o %s: is one of the traces; choose another file", request->output);
	else
		return 0;
	return EXIT_USAGE;
}

static int fail(int status, const char *what)
{
	if (status == -EINVAL || status == -ENOTSUP) {
		log_error("%s", what);
		return EXIT_USAGE;
	}
	log_error("cannot summarize: %s", what[0] ? what : strerror(-status));
	return EXIT_FAILED;
}

/* Summaries are small: made in memory, so that they can go into a pipe. Returns 0 or -errno. */
static int copy(int fd, struct sink *out)
{
	char bytes[16384];
	off_t at = 0;
	ssize_t count;

	while ((count = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		sink_bytes(out, bytes, count);
		at += count;
	}
	return count < 0 ? -errno : out->error;
}

/* Checks that a report accepts the summary. Returns 0 or -errno. */
static int check_summary(int fd)
{
	struct trace_reader *reader = NULL;
	struct trace_error error;
	struct report *report = NULL;
	const char *name = "the summary";
	char path[64];
	int status;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = trace_reader_open(&reader, path, &error);
	if (!status)
		status = report_make(&report, &reader, &name, 1, NULL, &error);
	report_free(report);
	trace_reader_close(reader);
	return status;
}

static int write_summary(struct report *report, const struct summarize_request *request)
{
	struct export_target target = { .name = request->output, .file.fd = -1, .directory = -1 };
	int fd = memfd_create("summary", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : summary_write(fd, report, request->rows), status;

	if (!err)
		err = check_summary(fd);
	if (err) {
		status = fail(err, strerror(-err));
		goto out;
	}
	status = export_target_open(&target, request->force);
	if (!status) {
		err = copy(fd, &target.out);
		if (!err)
			err = export_target_finish(&target);
		if (err) {
			log_error("%s: cannot be written: %s", request->output, strerror(-err));
			status = EXIT_FAILED;
		}
	}
	export_target_close(&target, &status);
out:
	if (fd >= 0)
		close(fd);
	return status;
}

int command_summarize(int argc, char **argv)
{
	struct summarize_request request = { .rows = SUMMARY_ROWS_MAX };
	struct progress_line progress;
	bool skipped = false;
	struct report_options options = {
		.progress = progress_update,
		.context = &progress,
		.skip = traces_skip,
		.skip_context = &skipped,
	};
	struct trace_error error = { "" };
	struct trace_reader **traces;
	struct report *report = NULL;
	size_t count;
	int first, status = options_parse(&table, argc, argv, &request, &first);

	if (status != OPTIONS_GO)
		return status;
	count = argc - first;
	status = check_request(&request, argv + first, count);
	if (status)
		return status;
	options.memory_bytes = request.memory;
	traces = calloc(count, sizeof(*traces));
	if (!traces) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	status = traces_open(traces, argv + first, count);
	if (status)
		goto out;
	progress_start(&progress, "reading");
	status = report_make(&report, traces, (const char *const *)argv + first, count, &options,
			     &error);
	progress_end(&progress);
	status = status ? fail(status, error.text) : write_summary(report, &request);
	if (!status)
		status = traces_emit_all_unread(traces, (const char *const *)argv + first, count);
	if (!status && skipped)
		status = EXIT_FAILED;
out:
	report_free(report);
	traces_close(traces, count);
	free(traces);
	return status;
}
