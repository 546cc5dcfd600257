/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens, finishes and closes the target of an export. */
#include "command/common/export_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/common/command.h"
#include "base/log.h"
#include "output/base/gzip.h"

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

static void say_link(const struct export_target *target)
{
	log_error("%s is a symbolic link, which is never followed or replaced; choose another "
		  "file with -o%s",
		  target->name,
		  target->kind == EXPORT_DIRECTORY ? "" : ", or - for standard output");
}

/* Traces contain paths and command lines, so exports are private, too (mode 0600). */
static int create_file(struct export_target *target, bool force)
{
	int status = output_file_open(&target->file, target->name, force);

	if (!status)
		return 0;
	if (status == -EEXIST)
		log_error("%s exists; choose another file with -o, or use --force to overwrite it",
			  target->name);
	else if (status == -ELOOP)
		say_link(target);
	else
		log_error("%s: cannot be written: %s", target->name, strerror(-status));
	return EXIT_USAGE;
}

/* Returns whether a name is a symbolic link, also if slashes follow it, with which lstat would look
 * behind it. */
static bool is_link(const char *name)
{
	size_t length = strlen(name);
	struct stat there;
	bool link;
	char *bare;

	while (length > 1 && name[length - 1] == '/')
		length--;
	bare = strndup(name, length);
	link = bare && !lstat(bare, &there) && S_ISLNK(there.st_mode);
	free(bare);
	return link;
}

/* An existing directory may be used: no file in it is overwritten without `force`. */
static int open_directory(struct export_target *target, bool force)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (force ? O_NOFOLLOW : 0);

	if (force && is_link(target->name)) {
		say_link(target);
		return EXIT_USAGE;
	}
	target->made_directory = !mkdir(target->name, 0700);
	if (target->made_directory || errno == EEXIST)
		target->directory = open(target->name, flags);
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
	int fd = STDOUT_FILENO, status;

	if (target->kind == EXPORT_DIRECTORY)
		return open_directory(target, force);
	if (strcmp(target->name, "-")) {
		status = create_file(target, force);
		if (status)
			return status;
		fd = target->file.fd;
	}
	if (target->kind == EXPORT_PATH)
		return 0;
	if (target->compressed || (length > 3 && !strcmp(target->name + length - 3, ".gz"))) {
		status = gzip_open(&target->gzip, fd);
		if (!status)
			status = sink_open_through(&target->out, gzip_put, target->gzip);
	} else {
		status = sink_open(&target->out, fd);
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

const char *export_target_path(const struct export_target *target)
{
	return target->file.made ? target->file.made : target->name;
}

void export_target_close(struct export_target *target, int *status)
{
	int err;

	sink_close(&target->out);
	gzip_close(target->gzip);
	if (*status) {
		output_file_drop(&target->file);
	} else {
		err = output_file_finish(&target->file);
		if (err) {
			log_error("%s: cannot be written: %s", target->name, strerror(-err));
			*status = EXIT_FAILED;
		}
	}
	if (target->directory >= 0)
		close(target->directory);
	if (target->made_directory && *status)
		rmdir(target->name);
}
