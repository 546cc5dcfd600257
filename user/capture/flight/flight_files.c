/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers the files; never replaces one. */
#include "capture/flight/flight_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/host/tracefile.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/units.h"

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

const char *flight_files_ending(const char *name)
{
	size_t length = strlen(name), bytes = strlen(ENDING);

	return length > bytes && !strcmp(name + length - bytes, ENDING) ? name + length - bytes
									: name + length;
}

/* Inserts a number before the extension of a path. */
static int numbered(const char *path, unsigned int number, char out[PATH_MAX])
{
	const char *ending = flight_files_ending(path);
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

void flight_files_made(struct flight_files *files, const char *path, uint64_t bytes)
{
	char *copy = strdup(path);

	if (!copy || !GROW(files->made, files->room, files->count + 1)) {
		free(copy);
		log_warning("%s: out of memory; --flight-keep will not remove it", path);
		return;
	}
	files->made[files->count++] = (struct flight_file) { copy, bytes };
	while (files->count > 1 &&
	       (files->count > files->keep.files || sum(files) > files->keep.bytes))
		drop_oldest(files);
}

void flight_files_free(struct flight_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->made[i].path);
	free(files->made);
	files->made = NULL;
	files->count = files->room = 0;
}
