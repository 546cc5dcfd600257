/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a page goes. Knows nothing of what is on it.
 */
#include "command/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "log.h"
#include "output/html.h"

static int write_to(int fd, const struct report *report)
{
	struct sink out;
	int status = sink_open(&out, fd);

	if (!status)
		status = html_report(&out, report);
	if (!status)
		status = sink_flush(&out);
	sink_close(&out);
	return status;
}

static int failed(const char *path, int status)
{
	log_error("%s: cannot be written: %s", path, strerror(-status));
	return EXIT_FAILED;
}

/* What is no file (a pipe, /dev/stdout) is written as it is. */
static int write_through(const struct report *report, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), status;

	if (fd < 0)
		return failed(path, -errno);
	status = write_to(fd, report);
	if (close(fd) && !status)
		status = -errno;
	return status ? failed(path, status) : 0;
}

int page_write(const struct report *report, const char *path)
{
	struct stat there;
	char *made = NULL;
	int fd, status;

	if (!strcmp(path, "-")) {
		status = write_to(STDOUT_FILENO, report);
		return status ? failed("standard output", status) : 0;
	}
	if (!stat(path, &there) && !S_ISREG(there.st_mode))
		return write_through(report, path);
	if (asprintf(&made, "%s.XXXXXX", path) < 0)
		return failed(path, -ENOMEM);
	fd = mkostemp(made, O_CLOEXEC); /* mode 0600 */
	if (fd < 0) {
		status = -errno;
		free(made);
		return failed(path, status);
	}
	status = write_to(fd, report);
	if (close(fd) && !status)
		status = -errno;
	if (!status && rename(made, path))
		status = -errno;
	if (status)
		unlink(made);
	free(made);
	return status ? failed(path, status) : 0;
}
