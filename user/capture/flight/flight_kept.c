/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Trusts neither the names nor the contents of files. */
#include "capture/flight/flight_kept.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/host/tracefile.h"
#include "base/grow.h"
#include "base/log.h"
#include "trace/read/reader.h"

struct found {
	char *path;
	struct timespec changed;
	uint64_t bytes;
};

struct founds {
	struct found *items;
	size_t count, room;
};

/* --- names --- */

static const char *skip_digits(const char *name)
{
	const char *end = name;

	while (isdigit((unsigned char)*end))
		end++;
	return end > name ? end : NULL;
}

/* Returns the rest of `name` after the part that matches the pattern up to `end`, or NULL. */
static const char *match(const char *pattern, const char *end, const char *host, const char *name)
{
	for (; pattern < end && name; pattern++) {
		bool escaped = *pattern == '%';

		pattern += escaped;
		if (escaped && (*pattern == 'p' || *pattern == 't'))
			name = skip_digits(name);
		else if (escaped && *pattern == 'h')
			name = strncmp(name, host, strlen(host)) ? NULL : name + strlen(host);
		else
			name = *name == *pattern ? name + 1 : NULL;
	}
	return name;
}

/* Whether the name is one of this recorder's, with a number before the extension. */
static bool is_name(const char *pattern, const char *host, const char *name)
{
	const char *ending = flight_files_ending(pattern);

	name = match(pattern, ending, host, name);
	if (!name || *name != '-')
		return false;
	name = skip_digits(name + 1);
	return name && !strcmp(name, ending);
}

/* --- headers --- */

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool same_texts(const char *const *a, const char *const *b)
{
	static const char *const none[] = { NULL };
	size_t i = 0;

	a = a ? a : none;
	b = b ? b : none;
	while (a[i] && b[i] && !strcmp(a[i], b[i]))
		i++;
	return !a[i] && !b[i];
}

static bool is_own(const char *path, const struct trace_header *like)
{
	const struct trace_header *header;
	struct trace_reader *reader;
	struct trace_error error;
	bool own;

	if (trace_reader_open(&reader, path, &error))
		return false;
	header = trace_reader_header(reader);
	own = header->flight.reason && same_text(header->host, like->host) &&
	      same_text(header->start, like->start) && same_texts(header->command, like->command) &&
	      same_texts(header->targets, like->targets);
	trace_reader_close(reader);
	return own;
}

/* --- the directory --- */

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec < b->changed.tv_sec ? -1 : 1;
	if (a->changed.tv_nsec != b->changed.tv_nsec)
		return a->changed.tv_nsec < b->changed.tv_nsec ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void look_at(struct founds *founds, const char *directory, const char *name,
		    const struct trace_header *like)
{
	char path[PATH_MAX];
	struct stat status;
	char *copy;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path) ||
	    lstat(path, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    !is_own(path, like))
		return;
	copy = strdup(path);
	if (!copy || !GROW(founds->items, founds->room, founds->count + 1)) {
		free(copy);
		return;
	}
	founds->items[founds->count++] =
		(struct found) { copy, status.st_mtim, (uint64_t)status.st_size };
}

/* Opens the directory of the traces. With the time or a pid in its name, each run has its own. */
static DIR *open_place(const struct flight_files *files, char place[PATH_MAX])
{
	char path[PATH_MAX];
	DIR *directory;

	if (tracefile_name(files->pattern, files->pid, path))
		return NULL;
	strcpy(place, dirname(path));
	directory = opendir(place);
	if (!directory)
		log_warning("%s: cannot count traces of earlier runs: %s", place, strerror(errno));
	return directory;
}

void flight_kept_find(struct flight_files *files, const struct trace_header *like)
{
	const char *slash = strrchr(files->pattern, '/');
	const char *pattern = slash ? slash + 1 : files->pattern;
	struct founds founds = { 0 };
	char place[PATH_MAX];
	struct dirent *entry;
	DIR *directory;

	if (files->keep.files == UINT64_MAX && files->keep.bytes == UINT64_MAX)
		return;
	directory = open_place(files, place);
	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (is_name(pattern, like->host, entry->d_name))
			look_at(&founds, place, entry->d_name, like);
	closedir(directory);
	if (founds.count)
		qsort(founds.items, founds.count, sizeof(*founds.items), compare_found);
	for (size_t i = 0; i < founds.count; i++) {
		flight_files_made(files, founds.items[i].path, founds.items[i].bytes);
		free(founds.items[i].path);
	}
	free(founds.items);
}
