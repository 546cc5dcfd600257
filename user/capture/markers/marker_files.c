/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Each file is read once, and identified by device, inode and change time. */
#include "capture/markers/marker_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/host/host.h"

#define PLAIN_SLOTS 4096 /* files without markers; an evicted one may be read again */
#define MARKED_MAX 4096	 /* files with markers, few of which are attached to */

struct identity {
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct marker_files {
	struct uprobes *uprobes;
	uint32_t marked_count, attached_count;
	struct marker_file overflow; /* stands for all files that are not remembered */
	struct {
		struct identity identity;
		struct marker_file file;
	} marked[MARKED_MAX];
	struct identity plain[PLAIN_SLOTS];
};

struct marker_files *marker_files_make(struct uprobes *uprobes)
{
	struct marker_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->uprobes = uprobes;
	files->overflow = (struct marker_file) { .number = MARKED_MAX, .status = -ENOSPC };
	return files;
}

int marker_files_open(const char *path)
{
	struct stat status;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

int marker_files_reopen(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static bool identify(int fd, struct identity *identity)
{
	struct stat status;

	if (fstat(fd, &status))
		return false;
	*identity = (struct identity) { status.st_dev, status.st_ino, status.st_ctim };
	return true;
}

static bool is_file(const struct identity *one, const struct identity *other)
{
	return one->dev == other->dev && one->ino == other->ino;
}

static bool is_same(const struct identity *one, const struct identity *other)
{
	return is_file(one, other) && one->changed.tv_sec == other->changed.tv_sec &&
	       one->changed.tv_nsec == other->changed.tv_nsec;
}

static struct identity *plain_slot(struct marker_files *files, const struct identity *identity)
{
	return &files->plain[(identity->ino * 31 + identity->dev) % PLAIN_SLOTS];
}

/* Ignores the change time: attached files stay attached; attaching twice would duplicate spans. */
static struct marker_file *find_marked(struct marker_files *files, const struct identity *identity)
{
	for (uint32_t i = 0; i < files->marked_count; i++)
		if (is_file(&files->marked[i].identity, identity))
			return &files->marked[i].file;
	return NULL;
}

bool marker_files_known(struct marker_files *files, int fd, struct marker_file **file)
{
	struct identity identity;

	*file = NULL;
	if (!identify(fd, &identity))
		return true;
	*file = find_marked(files, &identity);
	return *file || is_same(plain_slot(files, &identity), &identity);
}

static int attach(struct marker_files *files, int fd, const struct markers_found *found)
{
	int err;

	if (found->status)
		return found->status;
	if (files->attached_count == MARKER_FILES_MAX)
		return -ENOSPC;
	err = uprobes_attach(files->uprobes, fd, found->markers, found->count);
	if (!err)
		files->attached_count++;
	return err;
}

/* `fd` is the O_PATH descriptor, `content` the same file open for reading. */
static struct marker_file *look_into(struct marker_files *files, int fd, int content)
{
	static struct markers_found found;
	struct identity identity;
	struct marker_file *file;

	if (!identify(content, &identity))
		return NULL;
	notes_find(content, &found);
	if (!found.count && !found.status) {
		*plain_slot(files, &identity) = identity;
		return NULL;
	}
	if (files->marked_count == MARKED_MAX) /* not remembered: all others share one entry */
		return &files->overflow;
	files->marked[files->marked_count].identity = identity;
	file = &files->marked[files->marked_count].file;
	file->number = files->marked_count++;
	file->status = attach(files, fd, &found);
	file->since_ns = host_now_ns();
	return file;
}

struct marker_file *marker_files_attach(struct marker_files *files, int fd)
{
	struct marker_file *file;
	int content;

	if (marker_files_known(files, fd, &file))
		return file;
	content = marker_files_reopen(fd);
	if (content < 0)
		return NULL;
	file = look_into(files, fd, content);
	close(content);
	return file;
}

void marker_files_sift(struct marker_files *files, const int *fds, size_t count)
{
	int contents[NOTES_BATCH_MAX];
	bool suspected[NOTES_BATCH_MAX];
	struct marker_file *known;
	struct identity identity;
	size_t n = 0;

	for (size_t i = 0; i < count && n < NOTES_BATCH_MAX; i++) {
		if (marker_files_known(files, fds[i], &known))
			continue;
		contents[n] = marker_files_reopen(fds[i]);
		n += contents[n] >= 0;
	}
	if (n)
		notes_suspect(contents, n, suspected);
	for (size_t i = 0; i < n; i++) {
		if (!suspected[i] && identify(contents[i], &identity))
			*plain_slot(files, &identity) = identity;
		close(contents[i]);
	}
}

uint64_t marker_files_cost(struct marker_files *files, int fd)
{
	struct marker_file *known;
	struct stat status;

	if (marker_files_known(files, fd, &known) || fstat(fd, &status))
		return 0;
	return status.st_size;
}
