/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes a temporary file next to the target, syncs it, renames it. */
#include "monitor/service/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/write_all.h"

#define SAY_EVERY_NS 600000000000ull

struct textfile {
	char path[PATH_MAX], temporary[PATH_MAX]; /* temporary file, which node_exporter ignores */
	int failing;				  /* negative errno */
	uint64_t said_ns;
	bool written;
};

int textfile_open(struct textfile **out, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct textfile *file;
	struct stat status;

	if (!name[0] || strlen(path) + strlen("..tmp") >= PATH_MAX ||
	    strlen(name) + strlen("..tmp") > NAME_MAX) {
		log_error("--textfile %s: not a file name", path);
		return -EINVAL;
	}
	if (!lstat(path, &status) && !S_ISREG(status.st_mode)) {
		log_error("--textfile %s: exists and is not a regular file", path);
		return -EINVAL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	strcpy(file->path, path);
	snprintf(file->temporary, sizeof(file->temporary), "%.*s.%s.tmp", (int)(name - path), path,
		 name);
	*out = file;
	return 0;
}

void textfile_close(struct textfile *file)
{
	if (!file)
		return;
	if (file->written)
		unlink(file->path);
	free(file);
}

static int write_beside(const struct textfile *file, const char *text, size_t length)
{
	int fd, err = 0;

	/* Anything of that name was left by an earlier service, or is a trap: a FIFO would
	 * block. */
	if (unlink(file->temporary) && errno != ENOENT)
		return -errno;
	fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644)) /* whatever the umask: another user's collector reads it */
		err = -errno;
	if (!err)
		err = write_all(fd, text, length);
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static void say(struct textfile *file, int err, uint64_t now_ns)
{
	if (err && (err != file->failing || now_ns - file->said_ns >= SAY_EVERY_NS)) {
		log_error("%s: cannot be written: %s; will retry", file->path, strerror(-err));
		file->said_ns = now_ns;
	}
	if (!err && file->failing)
		log_info("%s: can be written again", file->path);
	file->failing = err;
}

int textfile_write(struct textfile *file, const char *text, size_t length, uint64_t now_ns)
{
	int err = write_beside(file, text, length);

	if (!err && rename(file->temporary, file->path))
		err = -errno;
	if (err)
		unlink(file->temporary);
	else
		file->written = true;
	say(file, err, now_ns);
	return err;
}
