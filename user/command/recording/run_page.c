/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The HTML page of a run. */
#include "command/recording/run_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report/report.h"
#include "capture/host/privileges.h"
#include "capture/host/tracefile.h"
#include "command/common/page.h"
#include "command/common/progress.h"
#include "base/log.h"
#include "trace/read/reader.h"
#include "base/units.h"

int run_page_open(struct run_page *page, pid_t pid, bool force, uid_t uid, gid_t gid, int trace_fd)
{
	char again[64];
	int err;

	if (!page->pattern)
		return 0;
	err = tracefile_name(page->pattern, pid, page->path);
	if (err)
		return err;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", trace_fd);
	page->trace_fd = open(again, O_RDONLY | O_CLOEXEC);
	if (page->trace_fd < 0) {
		err = -errno;
		log_error("--html: cannot reopen the trace: %s", strerror(-err));
		return err;
	}
	page->uid = uid;
	page->fd = tracefile_create(page->path, force, uid, gid);
	return page->fd < 0 ? page->fd : 0;
}

static void close_both(struct run_page *page)
{
	if (page->fd >= 0)
		close(page->fd);
	if (page->trace_fd >= 0)
		close(page->trace_fd);
	page->fd = page->trace_fd = -1;
}

void run_page_remove(struct run_page *page)
{
	if (page->fd >= 0)
		tracefile_remove(page->path, page->uid);
	close_both(page);
}

static int make(const struct run_page *page, const void *trace, size_t length,
		const char *trace_path, uint64_t *bytes, struct trace_error *error)
{
	struct progress_line progress;
	const struct report_options options = { .progress = progress_update,
						.context = &progress,
						.pictures = true };
	struct trace_reader *reader;
	struct report *report = NULL;
	int status = trace_reader_open_memory(&reader, trace, length, error);

	if (status)
		return status;
	progress_start(&progress, "drawing");
	status = report_make(&report, &reader, &trace_path, 1, &options, error);
	progress_end(&progress);
	if (!status)
		status = page_write_to(page->fd, report, bytes);
	report_free(report);
	trace_reader_close(reader);
	return status;
}

void run_page_write(struct run_page *page, const char *trace_path)
{
	struct trace_error error = { "" };
	char size[UNITS_TEXT];
	struct stat stat;
	uint64_t bytes = 0;
	void *trace = MAP_FAILED;
	int status;

	if (page->fd < 0)
		return;
	if (privileges_drop_all())
		log_debug("cannot drop privileges");
	status = fstat(page->trace_fd, &stat) ? -errno : 0;
	if (!status) {
		trace = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, page->trace_fd, 0);
		status = trace == MAP_FAILED ? -errno : 0;
	}
	if (!status)
		status = make(page, trace, stat.st_size, trace_path, &bytes, &error);
	if (trace != MAP_FAILED)
		munmap(trace, stat.st_size);
	if (status) {
		log_error("%s: cannot create the page: %s", page->path,
			  error.text[0] ? error.text : strerror(-status));
		tracefile_remove(page->path, page->uid);
	} else {
		log_info("%s: %s; opens in any browser", page->path, units_bytes(size, bytes));
	}
	close_both(page);
}
