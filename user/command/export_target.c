/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an export is written into. Knows nothing of what is written.
 */
#include "command/export_target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "log.h"
#include "output/gzip.h"

bool export_is_trace(const char *path, char *const *traces, size_t count)
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
 * that is replaced is not truncated: somebody may be reading it. Devices and pipes are written
 * into; a symbolic link may be another user's, and lead anywhere. */
static int create_file(struct export_target *target, bool force)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL | O_NOFOLLOW;
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
	else if (errno == ELOOP)
		log_error(
			"%s is a symbolic link, which is never followed or replaced; name another "
			"file with -o, or - for the standard output",
			target->name);
	else
		log_error("%s: cannot be written: %s", target->name, strerror(errno));
	return EXIT_USAGE;
}

/* One that is there may be used: no file in it is written over. */
static int open_directory(struct export_target *target)
{
	target->made_directory = !mkdir(target->name, 0700);
	if (target->made_directory || errno == EEXIST)
		target->directory = open(target->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target->directory >= 0)
		return 0;
	if (target->made_directory)
		rmdir(target->name);
	target->made_directory = false;
	log_error("%s: cannot be used as a directory: %s; --table NAME writes one file",
		  target->name, strerror(errno));
	return EXIT_USAGE;
}

int export_target_open(struct export_target *target, bool force)
{
	size_t length = strlen(target->name);
	int status;

	target->fd = STDOUT_FILENO;
	if (target->kind == EXPORT_DIRECTORY)
		return open_directory(target);
	if (strcmp(target->name, "-")) {
		status = create_file(target, force);
		if (status)
			return status;
	}
	if (target->kind == EXPORT_PATH)
		return 0;
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

int export_target_finish(struct export_target *target)
{
	int status;

	if (target->kind != EXPORT_FILE)
		return 0;
	status = sink_flush(&target->out);
	if (!status && target->gzip) {
		status = gzip_close(target->gzip);
		target->gzip = NULL;
	}
	return status;
}

void export_target_close(struct export_target *target, int *status)
{
	sink_close(&target->out);
	gzip_close(target->gzip);
	/* Some file systems say only now that the disk is full. */
	if (target->fd > STDOUT_FILENO && close(target->fd) && !*status) {
		log_error("%s: cannot be written: %s", target->name, strerror(errno));
		*status = EXIT_FAILED;
	}
	if (target->directory >= 0)
		close(target->directory);
	if (target->made && *status)
		unlink(target->name);
	if (target->made_directory && *status)
		rmdir(target->name);
}
