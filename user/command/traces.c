/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opens traces for the commands that read them. Knows nothing of what they do with them.
 */
#include "command/traces.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

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
	return 0;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int traces_open(struct trace_reader **readers, char *const *paths, size_t count)
{
	int status = 0;

	memset(readers, 0, count * sizeof(*readers));
	for (size_t i = 0; i < count && !status; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!is_same_file(paths[i], paths[j]))
				continue;
			log_error("%s: the same trace as %s; each may be given once", paths[i],
				  paths[j]);
			return EXIT_USAGE;
		}
		status = traces_open_one(&readers[i], paths[i]);
	}
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
