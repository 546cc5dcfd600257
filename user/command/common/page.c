/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes a report as an HTML page. */
#include "command/common/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/follow/child.h"
#include "capture/host/privileges.h"
#include "command/common/command.h"
#include "command/common/output_file.h"
#include "base/log.h"
#include "output/page/html.h"

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

/* Follows a symlink, such as /dev/stdout, unless another user owns it: that one may point
 * anywhere. */
static int write_file(const struct report *report, const char *path)
{
	char *real = realpath(path, NULL);
	struct output_file file = { .fd = -1 };
	struct stat link;
	uint64_t bytes;
	int status;

	if (!lstat(path, &link) && S_ISLNK(link.st_mode) && link.st_uid && link.st_uid != geteuid())
		status = -ELOOP;
	else
		status = output_file_open(&file, real ? real : path, true);
	if (!status)
		status = page_write_to(file.fd, report, &bytes);
	if (!status)
		status = output_file_finish(&file);
	output_file_drop(&file);
	free(real);
	return status;
}

/* Writes to a pipe, a device, or a link such as /proc/self/fd/1. */
static int write_through(const struct report *report, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), status;
	uint64_t bytes;

	if (fd < 0)
		return -errno;
	status = page_write_to(fd, report, &bytes);
	if (close(fd) && !status)
		status = -errno;
	return status;
}

/* Becomes the caller of sudo, for good, as for traces: root must not write where the caller may
 * not. */
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
