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

#include "capture/child.h"
#include "capture/privileges.h"
#include "command/command.h"
#include "log.h"
#include "output/html.h"

int page_write_to(int fd, const struct report *report, uint64_t *bytes)
{
	struct sink out;
	int status = sink_open(&out, fd);

	if (!status)
		status = html_report(&out, report);
	if (!status)
		status = sink_flush(&out);
	*bytes = out.written;
	sink_close(&out);
	return status;
}

static int write_and_close(int fd, const struct report *report)
{
	uint64_t bytes;
	int status = page_write_to(fd, report, &bytes);

	if (close(fd) && !status)
		status = -errno;
	return status;
}

/* What is no file (a pipe, /dev/stdout) is written as it is. */
static int write_through(const struct report *report, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_and_close(fd, report);
}

/* Beside the file, or what a link of that name leads to, whose place it takes. */
static int write_file(const struct report *report, const char *path)
{
	char *real = realpath(path, NULL), *made = NULL;
	int fd = -1, status = -ENOMEM;

	if (asprintf(&made, "%s.XXXXXX", real ? real : path) < 0)
		goto out;
	fd = mkostemp(made, O_CLOEXEC); /* mode 0600 */
	status = fd < 0 ? -errno : write_and_close(fd, report);
	if (!status && rename(made, real ? real : path))
		status = -errno;
	if (status && fd >= 0)
		unlink(made);
	free(made);
out:
	free(real);
	return status;
}

/* Of sudo, for good, as with a trace: what root would write where they may not is not theirs. */
static int become_caller(void)
{
	struct child_user user;
	int status = child_find_user(NULL, &user);

	if (status || user.uid == geteuid())
		return status;
	status = privileges_become(user.uid, user.gid);
	if (status)
		log_error("cannot become user %u to write the page: %s", (unsigned int)user.uid,
			  strerror(-status));
	return status;
}

int page_write(const struct report *report, const char *path)
{
	struct stat there;
	uint64_t bytes;
	int status;

	if (!strcmp(path, "-")) {
		path = "standard output";
		status = page_write_to(STDOUT_FILENO, report, &bytes);
	} else if (!stat(path, &there) && !S_ISREG(there.st_mode)) {
		status = write_through(report, path);
	} else if (become_caller()) {
		return EXIT_FAILED;
	} else {
		status = write_file(report, path);
	}
	if (!status)
		return 0;
	log_error("%s: cannot be written: %s", path, strerror(-status));
	return EXIT_FAILED;
}
