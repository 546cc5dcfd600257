/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers the files; never replaces one. Does not trust the names or contents of existing files. */
#include "capture/flight/flight_files.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/host/tracefile.h"
#include "collections/grow.h"
#include "base/log.h"
#include "trace/read/reader.h"
#include "base/units.h"
#include "collections/compare.h"

#define ENDING ".flt"
#define TRIES 10000 /* names already in use */

int flight_keep_parse(const char *option, const char *text, struct flight_keep *keep)
{
	*keep = (struct flight_keep) { UINT64_MAX, UINT64_MAX };
	if (units_read_number(text, false, &keep->files) && keep->files)
		return 0;
	keep->files = UINT64_MAX;
	if (units_read_number(text, true, &keep->bytes) && keep->bytes)
		return 0;
	log_error("%s %s: not a number of files (5) or a size (2G) above 0", option, text);
	return -EINVAL;
}

/* Returns where the extension of a name or pattern starts: the file's number goes there. Without an
 * extension, returns the end. */
static const char *find_ending(const char *name)
{
	size_t length = strlen(name), bytes = strlen(ENDING);

	return length > bytes && !strcmp(name + length - bytes, ENDING) ? name + length - bytes
									: name + length;
}

/* Inserts a number before the extension of a path. */
static int numbered(const char *path, unsigned int number, char out[PATH_MAX])
{
	const char *ending = find_ending(path);
	int written =
		snprintf(out, PATH_MAX, "%.*s-%u%s", (int)(ending - path), path, number, ending);

	return written < 0 || written >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int flight_files_create(struct flight_files *files, char path[PATH_MAX])
{
	char plain[PATH_MAX];
	int fd = tracefile_name(files->pattern, files->pid, plain);

	if (fd)
		return fd;
	for (unsigned int i = 1; i <= TRIES; i++) {
		fd = numbered(plain, files->last + i, path);
		if (fd)
			break;
		if (!access(path, F_OK))
			continue;
		fd = tracefile_create(path, false, geteuid(), getegid());
		if (fd >= 0)
			files->last += i;
		return fd;
	}
	log_error("%s: %s", path, fd ? strerror(-fd) : "exists, as do all other numbers tried");
	return fd ? fd : -EEXIST;
}

static uint64_t sum(const struct flight_files *files)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < files->count; i++)
		bytes += files->made[i].bytes;
	return bytes;
}

static void drop_oldest(struct flight_files *files)
{
	char *path = files->made[0].path;

	if (unlink(path) && errno != ENOENT)
		log_warning("%s: cannot remove old trace: %s", path, strerror(errno));
	else
		log_debug("%s: removed to stay within --flight-keep", path);
	free(path);
	files->count--;
	memmove(files->made, files->made + 1, files->count * sizeof(*files->made));
}

static void drop_old(struct flight_files *files)
{
	while (files->count > 1 &&
	       (files->count > files->keep.files || sum(files) > files->keep.bytes))
		drop_oldest(files);
}

static void add(struct flight_files *files, const char *path, uint64_t bytes, uint64_t changed_ns)
{
	char *copy = strdup(path);

	if (copy && GROW(files->made, files->room, files->count + 1)) {
		files->made[files->count++] = (struct flight_file) { copy, bytes, changed_ns };
		return;
	}
	free(copy);
	log_warning("%s: out of memory; --flight-keep will not remove it", path);
}

void flight_files_made(struct flight_files *files, const char *path, uint64_t bytes)
{
	add(files, path, bytes, 0);
	drop_old(files);
}

/* --- traces of earlier runs --- */

#define GLOB_BYTES (8 * NAME_MAX)
#define DIGITS "+([0-9])"

/* Adds literal characters to an extended glob. */
static char *add_plain(char *glob, const char *end, const char *text, size_t length)
{
	for (; length-- && glob + 2 < end; text++) {
		if (strchr("\\*?[]+@!()|", *text))
			*glob++ = '\\';
		*glob++ = *text;
	}
	return glob;
}

/* Whether the name is one of this recorder's, with a number before the extension. */
static bool is_name(const char *pattern, const char *host, const char *name)
{
	const char *ending = find_ending(pattern);
	char glob[GLOB_BYTES], *at = glob, *end = glob + sizeof(glob) - 3 * sizeof(DIGITS);

	for (; pattern < ending && at < end; pattern++) {
		bool escaped = *pattern == '%';

		pattern += escaped;
		if (escaped && (*pattern == 'p' || *pattern == 't'))
			at = stpcpy(at, DIGITS);
		else if (escaped && *pattern == 'h')
			at = add_plain(at, end, host, strlen(host));
		else
			at = add_plain(at, end, pattern, 1);
	}
	at = stpcpy(at, "-" DIGITS);
	*add_plain(at, glob + sizeof(glob), ending, strlen(ending)) = 0;
	return !fnmatch(glob, name, FNM_EXTMATCH);
}

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

COMPARE_BY(compare_age, struct flight_file,
	   COMPARE(a->changed_ns, b->changed_ns) ?: strcmp(a->path, b->path))

static void look_at(struct flight_files *files, const char *directory, const char *name,
		    const struct trace_header *like)
{
	char path[PATH_MAX];
	struct stat status;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) &&
	    !lstat(path, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    is_own(path, like))
		add(files, path, status.st_size,
		    status.st_mtim.tv_sec * 1000000000ull + status.st_mtim.tv_nsec);
}

/* Opens the directory of the traces. With the time or a pid in its name, each run has its own. */
static DIR *open_directory(const struct flight_files *files, char directory[PATH_MAX])
{
	char path[PATH_MAX];
	DIR *dir;

	if (tracefile_name(files->pattern, files->pid, path))
		return NULL;
	strcpy(directory, dirname(path));
	dir = opendir(directory);
	if (!dir)
		log_warning("%s: cannot count traces of earlier runs: %s", directory,
			    strerror(errno));
	return dir;
}

void flight_files_find(struct flight_files *files, const struct trace_header *like)
{
	const char *slash = strrchr(files->pattern, '/');
	const char *pattern = slash ? slash + 1 : files->pattern;
	char directory[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (files->keep.files == UINT64_MAX && files->keep.bytes == UINT64_MAX)
		return;
	dir = open_directory(files, directory);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (is_name(pattern, like->host, entry->d_name))
			look_at(files, directory, entry->d_name, like);
	closedir(dir);
	if (files->count)
		qsort(files->made, files->count, sizeof(*files->made), compare_age);
	drop_old(files);
}

void flight_files_free(struct flight_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->made[i].path);
	free(files->made);
	files->made = NULL;
	files->count = files->room = 0;
}
