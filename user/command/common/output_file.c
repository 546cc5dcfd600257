/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes files under temporary names and renames them when they are complete. */
#include "command/common/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_BYTES (PATH_MAX + 8)

static const int ending[] = { SIGHUP, SIGINT, SIGTERM };
#define ENDING_COUNT (sizeof(ending) / sizeof(ending[0]))

/* For the signal handler: the temporary file, and the earlier signal actions. */
static char unfinished[MADE_BYTES];
static struct sigaction before[ENDING_COUNT];

static void remove_and_end(int number)
{
	if (unfinished[0])
		unlink(unfinished);
	signal(number, SIG_DFL);
	raise(number);
}

/* Signals that are ignored, as under nohup, stay ignored. */
static void watch_signals(void)
{
	struct sigaction action = { .sa_handler = remove_and_end, .sa_flags = SA_NODEFER };

	for (size_t i = 0; i < ENDING_COUNT; i++)
		if (!sigaction(ending[i], NULL, &before[i]) && before[i].sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
}

static void leave_signals(void)
{
	for (size_t i = 0; i < ENDING_COUNT; i++)
		if (before[i].sa_handler == SIG_DFL)
			sigaction(ending[i], &before[i], NULL);
}

/* Blocks signals between creating the file and storing its name in `unfinished`. */
static int make_file(struct output_file *file)
{
	sigset_t set, old;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_COUNT; i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	file->fd = mkostemp(file->made, O_CLOEXEC);
	if (file->fd >= 0)
		strcpy(unfinished, file->made);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return file->fd < 0 ? -errno : 0;
}

static int make(struct output_file *file)
{
	if (asprintf(&file->made, "%s.XXXXXX", file->name) < 0) {
		file->made = NULL;
		return -ENOMEM;
	}
	if (strlen(file->made) >= MADE_BYTES)
		return -ENAMETOOLONG;
	watch_signals();
	return make_file(file);
}

/* Opens an existing pipe or device. Only links owned by root, such as /dev/stdout, are followed. */
static int write_through(struct output_file *file, bool follow)
{
	struct stat there;

	file->fd = open(file->name, O_WRONLY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	if (file->fd < 0)
		return -errno;
	if (!fstat(file->fd, &there) && !S_ISREG(there.st_mode))
		return 0;
	close(file->fd);
	file->fd = -1;
	return -ELOOP;
}

int output_file_open(struct output_file *file, const char *name, bool replace)
{
	struct stat there;
	int status;

	*file = (struct output_file) { .name = name, .fd = -1, .replace = replace };
	if (!lstat(name, &there)) {
		if (S_ISLNK(there.st_mode))
			return there.st_uid ? -ELOOP : write_through(file, true);
		if (!S_ISREG(there.st_mode))
			return write_through(file, false);
		if (!replace)
			return -EEXIST;
	}
	status = make(file);
	if (status)
		output_file_drop(file);
	return status;
}

/* Does not replace a file that another process created in the meantime. */
static int take_name(const struct output_file *file)
{
	if (file->replace)
		return rename(file->made, file->name) ? -errno : 0;
	if (!renameat2(AT_FDCWD, file->made, AT_FDCWD, file->name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system lacks such a rename, and possibly links. */
	if (!link(file->made, file->name)) {
		unlink(file->made);
		return 0;
	}
	if (errno == EEXIST)
		return -EEXIST;
	return rename(file->made, file->name) ? -errno : 0;
}

int output_file_finish(struct output_file *file)
{
	/* Some file systems report only now that the disk is full. */
	int status = file->fd >= 0 && close(file->fd) ? -errno : 0;

	file->fd = -1;
	if (!status && file->made)
		status = take_name(file);
	if (status) {
		output_file_drop(file);
		return status;
	}
	if (file->made) {
		unfinished[0] = 0;
		leave_signals();
	}
	free(file->made);
	file->made = NULL;
	return 0;
}

void output_file_drop(struct output_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (!file->made)
		return;
	unlink(file->made);
	unfinished[0] = 0;
	leave_signals();
	free(file->made);
	file->made = NULL;
}
