/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Retention of flight recorder files: the newest of its own stay; files of an earlier run count and
 * are removed as well; all others stay, whatever their names.
 */
#define OWN_MAIN
#include "unit_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/flight/flight_files.h"
#include "base/log.h"
#include "trace/write/writer.h"
#include "trace_sample.h"

/* --- files of this run --- */

TEST(test_keep_words)
{
	struct flight_keep keep;
	static const char *const bad[] = { "",
					   "0",
					   "-1",
					   "x",
					   "1X",
					   "K",
					   "1Kx",
					   "1 ",
					   "1K ",
					   "99999999999999999999",
					   "99999999999999999T" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_not_equal(flight_keep_parse("--flight-keep", bad[i], &keep), 0);
	assert_int_equal(flight_keep_parse("--flight-keep", "5", &keep), 0);
	assert_true(keep.files == 5 && keep.bytes == UINT64_MAX);
	assert_int_equal(flight_keep_parse("--flight-keep", "2GiB", &keep), 0);
	assert_true(keep.files == UINT64_MAX && keep.bytes == 2ull << 30);
}

static void make_file(struct flight_files *files, uint64_t bytes, char path[PATH_MAX])
{
	int fd = flight_files_create(files, path);

	assert_true(fd >= 0);
	close(fd);
	flight_files_made(files, path, bytes);
}

TEST(test_files)
{
	char directory[] = "/tmp/flight-XXXXXX", pattern[PATH_MAX], path[PATH_MAX], all[64] = "";
	struct flight_files files = { .pid = 42, .pattern = pattern };

	assert_non_null(mkdtemp(directory));
	sprintf(pattern, "%s/f-%%p.flt", directory);
	files.keep = (struct flight_keep) { UINT64_MAX, 1000 };
	for (int i = 0; i < 5; i++) {
		make_file(&files, 400, path);
		assert_string_equal(strrchr(path, '-'),
				    ((char[]) { '-', '1' + i, '.', 'f', 'l', 't', 0 }));
	}
	assert_int_equal(files.count, 2);
	make_file(&files, 5000, path); /* exceeds the whole limit */
	assert_int_equal(files.count, 1);
	for (int i = 1; i < 8; i++) {
		sprintf(path, "%s/f-42-%d.flt", directory, i);
		strcat(all, access(path, F_OK) ? "." : "x");
		unlink(path);
	}
	assert_string_equal(all, ".....x.");
	assert_int_equal(rmdir(directory), 0);
	flight_files_free(&files);
}

/* --- files of an earlier run --- */

static const char *const targets[] = { "all processes", NULL };
static const char *const others[] = { "process 7", NULL };
static char directory[] = "/tmp/flight-kept-XXXXXX";

static struct trace_header own_header(void)
{
	struct trace_header header = sample_header;

	header.host = "node-1";
	header.start = "attach";
	header.command = NULL;
	header.targets = targets;
	header.flight.reason = "SIGUSR2";
	header.operation_count = 0;
	return header;
}

static char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* `seconds`: the modification time. */
static void put(const char *name, const struct trace_header *header, time_t seconds)
{
	const struct timespec times[] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	const struct trace_totals totals = { .exit_code = -1 };
	struct trace_writer *writer;
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	if (header) {
		assert_int_equal(trace_writer_open(&writer, fd, header, NULL), 0);
		assert_int_equal(trace_writer_finish(writer, &totals), 0);
		trace_writer_close(writer);
	} else {
		assert_int_equal(write(fd, "no trace\n", 9), 9);
	}
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_there(const char *name)
{
	struct stat status;

	return !lstat(path_of(name), &status);
}

static int compare_names(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static void clear(void)
{
	struct dirent **names;
	int count = scandir(directory, &names, NULL, compare_names);

	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.')
			unlink(path_of(names[i]->d_name));
		free(names[i]);
	}
	free(names);
}

static void find(struct flight_files *files, const char *pattern, uint64_t keep)
{
	const struct trace_header like = own_header();
	char whole[128];

	snprintf(whole, sizeof(whole), "%s/%s", directory, pattern);
	*files =
		(struct flight_files) { .pattern = whole, .pid = 42, .keep = { keep, UINT64_MAX } };
	flight_files_find(files, &like);
	files->pattern = NULL;
}

/* Three of its own, of which two may stay, and various others. */
TEST(test_own_and_foreign)
{
	static const char *const foreign[] = {
		"f-node-1-7-1700000000-4.flt", /* a job of another host */
		"f-node-1-7-1700000000-5.flt", /* other targets */
		"f-node-1-7-1700000000-6.flt", /* not made by a flight recorder */
		"f-node-1-7-1700000000-7.flt", /* not a trace */
		"f-node-1-7-1700000000.flt",   /* names in another form */
		"f-node-1-7-x-1.flt",	       "f-node-1-7-1700000000-1.flt.bak",
		"g-node-1-7-1700000000-1.flt", "f-node-2-7-1700000000-1.flt",
		"f-node-1--1700000000-1.flt",  "f-node-1-7-1700000000-8.flt", /* a link */
	};
	struct trace_header header = own_header(), other = header;
	struct flight_files files;

	put("f-node-1-9-1700000001-1.flt", &header, 300);
	put("f-node-1-7-1700000000-2.flt", &header, 200);
	put("f-node-1-7-1700000000-1.flt", &header, 100);
	other.host = "node-2";
	put(foreign[0], &other, 1);
	other = header;
	other.targets = others;
	put(foreign[1], &other, 1);
	other = header;
	other.flight.reason = NULL;
	put(foreign[2], &other, 1);
	put(foreign[3], NULL, 1);
	for (size_t i = 4; i < 10; i++)
		put(foreign[i], &header, 1);
	assert_int_equal(symlink("f-node-1-7-1700000000-2.flt", path_of(foreign[10])), 0);

	find(&files, "f-%h-%p-%t.flt", 2);
	assert_int_equal(files.count, 2);
	assert_false(is_there("f-node-1-7-1700000000-1.flt"));
	assert_true(is_there("f-node-1-7-1700000000-2.flt"));
	assert_true(is_there("f-node-1-9-1700000001-1.flt"));
	assert_string_equal(strrchr(files.made[0].path, '/') + 1, "f-node-1-7-1700000000-2.flt");
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (!is_there(foreign[i]))
			fail_msg("%s is gone", foreign[i]);
	flight_files_free(&files);
	clear();
}

/* Escaped pattern characters are literal; a name needs no suffix. */
TEST(test_patterns)
{
	static const struct {
		const char *pattern, *name;
		bool own;
	} cases[] = {
		{ "a%%p", "a%p-1", true },
		{ "a%%p", "a7-1", false },
		{ "a.flt", "a-1.flt", true },
		{ "a.flt", "a-1", false },
		{ "a", "a-12", true },
		{ "a", "a-", false },
		{ "a", "a-1-", false },
		{ "%h", "node-1-3", true },
		{ "%h", "node-1", false },
		{ "%t%t", "12-3", true },
		{ "a.flt.flt", "a.flt-1.flt", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_header header = own_header();
		struct flight_files files;

		put(cases[i].name, &header, 100);
		find(&files, cases[i].pattern, 9);
		if (files.count != cases[i].own)
			fail_msg("%s: %s", cases[i].pattern, cases[i].name);
		flight_files_free(&files);
		clear();
	}
}

/* No limit: the directory is not searched. */
TEST(test_no_limit)
{
	struct trace_header header = own_header();
	struct flight_files files;

	put("f-1.flt", &header, 100);
	find(&files, "f.flt", UINT64_MAX);
	assert_int_equal(files.count, 0);
	flight_files_free(&files);
	clear();
}

int main(void)
{
	int failed;

	if (!mkdtemp(directory))
		return 1;
	log_set_level((enum log_level) - 1); /* log rejected patterns */
	failed = cmocka_run_group_tests(unit_tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
