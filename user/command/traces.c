/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opens traces for the commands that read them. Knows nothing of what they do with them.
 */
#include "command/traces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "log.h"

int traces_open_one(struct trace_reader **reader, const char *path)
{
	struct trace_error error = { "" };
	int status = trace_reader_open(reader, path, &error);

	if (status) {
		*reader = NULL;
		log_error("%s: %s", path, error.text[0] ? error.text : strerror(-status));
		return EXIT_USAGE;
	}
	if (trace_reader_incomplete(*reader))
		log_warning("%s: incomplete: %s", path, trace_reader_incomplete(*reader));
	if (trace_reader_header_is_copy(*reader))
		log_warning("%s: damaged at the start; the copy of its header is read", path);
	return 0;
}

/* A trace by what tells files apart, and its place among the arguments. */
struct given {
	dev_t dev;
	ino_t ino;
	size_t place;
};

static int compare_given(const void *left, const void *right)
{
	const struct given *a = left, *b = right;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

/* Each may be given once, standard input too. What is not there shows when it is opened. */
static int check_twice(char *const *paths, size_t count)
{
	struct given *given = calloc(count, sizeof(*given));
	size_t known = 0;
	int status = 0;

	if (!given) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		struct stat found;

		if (strcmp(paths[i], "-") ? !stat(paths[i], &found) : !fstat(STDIN_FILENO, &found))
			given[known++] = (struct given) { found.st_dev, found.st_ino, i };
	}
	qsort(given, known, sizeof(*given), compare_given);
	for (size_t i = 1; i < known && !status; i++) {
		if (given[i].dev != given[i - 1].dev || given[i].ino != given[i - 1].ino)
			continue;
		log_error("%s: the same trace as %s; each may be given once", paths[given[i].place],
			  paths[given[i - 1].place]);
		status = EXIT_USAGE;
	}
	free(given);
	return status;
}

/* As many descriptors as there are traces, if the system lets us; else opening one will tell. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int traces_open(struct trace_reader **readers, char *const *paths, size_t count)
{
	int status;

	memset(readers, 0, count * sizeof(*readers));
	raise_descriptors();
	status = check_twice(paths, count);
	for (size_t i = 0; i < count && !status; i++)
		status = traces_open_one(&readers[i], paths[i]);
	return status;
}

void traces_close(struct trace_reader **readers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (readers[i])
			trace_reader_close(readers[i]);
}

void traces_tell_unread(struct trace_reader *reader, const char *path)
{
	const char *why = trace_reader_damage(reader);

	if (why)
		log_warning("%s: %s", path, why);
	why = trace_reader_string_error(reader);

	if (why)
		log_warning("%s: %s; arguments of spans that stand there are left out", path, why);
}

int output_failed(int error)
{
	log_error("cannot write the output: %s", strerror(-error));
	return EXIT_FAILED;
}
