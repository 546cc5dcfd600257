/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opens traces for the commands that read them. */
#include "command/common/traces.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report/summary.h"
#include "collections/compare.h"
#include "base/number.h"
#include "base/thread.h"
#include "capture/host/host.h"
#include "command/common/command.h"
#include "base/log.h"

#define TRACE_ENDING ".flt"

/* A trace being opened. */
struct opening {
	const char *path;
	struct trace_reader *reader;
	int status;
	struct trace_error error;
};

static void open_trace(struct opening *opening)
{
	opening->status = trace_reader_open(&opening->reader, opening->path, &opening->error);
}

/* Reports the result. Returns 0 or an exit status. */
static int take_opened(struct opening *opening, struct trace_reader **reader)
{
	const char *why = opening->error.text;

	*reader = opening->status ? NULL : opening->reader;
	if (opening->status) {
		log_error("%s: %s", opening->path, why[0] ? why : strerror(-opening->status));
		return EXIT_USAGE;
	}
	if (trace_reader_incomplete(*reader))
		log_warning("%s: incomplete: %s", opening->path, trace_reader_incomplete(*reader));
	if (trace_reader_header_is_copy(*reader))
		log_warning("%s: damaged at the start; using the copy of its header",
			    opening->path);
	return 0;
}

int traces_open_one(struct trace_reader **reader, const char *path)
{
	struct opening opening = { .path = path };

	open_trace(&opening);
	return take_opened(&opening, reader);
}

/* --- several at a time --- */

#define THREADS_MAX 16

struct openings {
	struct opening *openings;
	size_t count;
	atomic_size_t next;
	atomic_bool failed; /* one of them: no further ones are begun */
};

/* A trace without an end is read completely when it is opened: worth one CPU each. */
static void *open_some(void *context)
{
	struct openings *all = context;
	size_t number;

	while (!all->failed && (number = all->next++) < all->count) {
		open_trace(&all->openings[number]);
		if (all->openings[number].status)
			all->failed = true;
	}
	return NULL;
}

static void open_all(struct openings *all)
{
	pthread_t threads[THREADS_MAX];
	size_t count = 0, max = number_min(thread_cpus(), all->count);

	while (count + 1 < max && count < THREADS_MAX &&
	       !thread_start(&threads[count], open_some, all))
		count++;
	open_some(all);
	while (count)
		pthread_join(threads[--count], NULL);
}

/* Takes readers in the order of the paths, up to the first that failed; all earlier ones are
 * open. */
static int take_all(struct openings *all, struct trace_reader **readers)
{
	int status = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (!status)
			status = take_opened(&all->openings[i], &readers[i]);
		else
			readers[i] = all->openings[i].reader;
	}
	return status;
}

/* A trace's file identity, and its position among the arguments. */
struct given_trace {
	dev_t dev;
	ino_t ino;
	size_t index;
};

COMPARE_BY(compare_given, struct given_trace,
	   COMPARE(a->dev, b->dev) ?:
	   COMPARE(a->ino, b->ino) ?:
	   COMPARE(a->index, b->index))

/* Each may be given once, including standard input. Missing files are reported when opened. */
static int check_twice(char *const *paths, size_t count)
{
	struct given_trace *given = calloc(count, sizeof(*given));
	size_t known = 0;
	int status = 0;

	if (!given) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		struct stat found;

		if (strcmp(paths[i], "-") ? !stat(paths[i], &found) : !fstat(STDIN_FILENO, &found))
			given[known++] = (struct given_trace) { found.st_dev, found.st_ino, i };
	}
	qsort(given, known, sizeof(*given), compare_given);
	for (size_t i = 1; i < known && !status; i++) {
		if (given[i].dev != given[i - 1].dev || given[i].ino != given[i - 1].ino)
			continue;
		log_error("%s: is the same trace as %s; give each trace once",
			  paths[given[i].index], paths[given[i - 1].index]);
		status = EXIT_USAGE;
	}
	free(given);
	return status;
}

/*
 * Columns of blocks are allocated and freed by the thousand, by different threads. As mappings of
 * their own their memory is returned at once; the allocator's default threshold grows with use, and
 * a thousand traces took twice the memory.
 */
#define LARGE_BYTES (128 << 10)

int traces_open(struct trace_reader **readers, char *const *paths, size_t count)
{
	struct openings all = { .count = count };
	int status;

	memset(readers, 0, count * sizeof(*readers));
	host_raise_open_files(); /* one each; if that is not enough, opening one fails */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	status = check_twice(paths, count);
	if (status)
		return status;
	all.openings = calloc(count, sizeof(*all.openings));
	if (!all.openings) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < count; i++)
		all.openings[i].path = paths[i];
	open_all(&all);
	status = take_all(&all, readers);
	free(all.openings);
	return status;
}

void traces_close(struct trace_reader **readers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (readers[i])
			trace_reader_close(readers[i]);
}

bool traces_refuse_summaries(struct trace_reader *const *readers, char *const *paths, size_t count,
			     const char *what)
{
	for (size_t i = 0; i < count; i++) {
		if (!summary_is_file(readers[i]))
			continue;
		log_error("%s: is a summary, which has no events to %s; use 'faultline report'",
			  paths[i], what);
		return true;
	}
	return false;
}

static bool is_named_as_trace(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(TRACE_ENDING) && name[0] != '.' &&
	       !strcmp(name + length - strlen(TRACE_ENDING), TRACE_ENDING);
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

char *traces_newest(const char *command)
{
	struct timespec latest = { 0 };
	DIR *directory = opendir(".");
	struct dirent *entry;
	char *newest = NULL;
	struct stat found;

	while (directory && (entry = readdir(directory))) {
		if (!is_named_as_trace(entry->d_name) || lstat(entry->d_name, &found) ||
		    !S_ISREG(found.st_mode) || (newest && !is_newer(&found.st_mtim, &latest)))
			continue;
		free(newest);
		newest = strdup(entry->d_name);
		latest = found.st_mtim;
	}
	if (directory)
		closedir(directory);
	if (newest)
		log_info("using %s, the newest trace in this directory", newest);
	else
		log_error("no trace given, and this directory has no *" TRACE_ENDING
			  "; try 'faultline %s --help'",
			  command);
	return newest;
}

int traces_emit_unread(struct trace_reader *reader, const char *path)
{
	const char *damage = trace_reader_damage(reader), *lost = trace_reader_string_error(reader);

	if (damage)
		log_warning("%s: %s", path, damage);
	if (lost)
		log_warning("%s: %s; the span arguments stored there are skipped", path, lost);
	return damage || lost ? EXIT_FAILED : 0;
}

int traces_emit_all_unread(struct trace_reader *const *readers, const char *const *paths,
			   size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count; i++)
		status |= traces_emit_unread(readers[i], paths[i]);
	return status;
}

void traces_skip(void *context, const char *why)
{
	log_warning("skipped: %s", why);
	*(bool *)context = true;
}

int output_failed(int error)
{
	log_error("cannot write the output: %s", strerror(-error));
	return EXIT_FAILED;
}
