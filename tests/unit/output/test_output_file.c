// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Output files: complete or absent, whatever happens on the way. */
#define OWN_MAIN
#include "unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/common/output_file.h"

static char directory[] = "/tmp/test_output_file.XXXXXX";

static size_t entries(void)
{
	DIR *there = opendir(".");
	size_t count = 0;

	assert_non_null(there);
	while (readdir(there))
		count++;
	closedir(there);
	return count - 2;
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void expect(const char *name, const char *text)
{
	char bytes[64] = "";
	int fd = open(name, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), strlen(text));
	assert_string_equal(bytes, text);
	close(fd);
}

static void write_new(struct output_file *file)
{
	assert_int_equal(write(file->fd, "new", 3), 3);
}

TEST(test_renamed_when_complete)
{
	struct output_file file;
	struct stat status;

	assert_int_equal(output_file_open(&file, "out", false), 0);
	write_new(&file);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(output_file_finish(&file), 0);
	output_file_drop(&file);
	expect("out", "new");
	assert_int_equal(stat("out", &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(entries(), 1);
	unlink("out");
}

TEST(test_existing_file)
{
	struct output_file file;

	put("out", "old");
	assert_int_equal(output_file_open(&file, "out", false), -EEXIST);
	assert_int_equal(output_file_open(&file, "out", true), 0);
	write_new(&file);
	output_file_drop(&file);
	expect("out", "old");
	assert_int_equal(output_file_open(&file, "out", true), 0);
	write_new(&file);
	assert_int_equal(output_file_finish(&file), 0);
	expect("out", "new");
	/* Another program takes the name in between. */
	unlink("out");
	assert_int_equal(output_file_open(&file, "out", false), 0);
	write_new(&file);
	put("out", "theirs");
	assert_int_equal(output_file_finish(&file), -EEXIST);
	expect("out", "theirs");
	assert_int_equal(entries(), 1);
	unlink("out");
}

TEST(test_links_and_pipes)
{
	struct output_file file;
	char bytes[8];
	int reader;

	put("victim", "old");
	assert_int_equal(symlink("victim", "out"), 0);
	assert_int_equal(output_file_open(&file, "out", true), -ELOOP);
	expect("victim", "old");
	unlink("out");
	unlink("victim");
	assert_int_equal(mkfifo("out", 0600), 0);
	reader = open("out", O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_file_open(&file, "out", false), 0);
	write_new(&file);
	assert_int_equal(output_file_finish(&file), 0);
	assert_int_equal(read(reader, bytes, sizeof(bytes)), 3);
	close(reader);
	assert_int_equal(entries(), 1);
	unlink("out");
}

/* The signal ends the program, and the old file stays. */
TEST(test_signals)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };

	put("out", "old");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct output_file file;
		int status;
		pid_t pid = fork();

		if (!pid) {
			signal(signals[i], SIG_DFL);
			if (output_file_open(&file, "out", true))
				_exit(1);
			write_new(&file);
			raise(signals[i]);
			_exit(2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		expect("out", "old");
		assert_int_equal(entries(), 1);
	}
	unlink("out");
}

/* A signal that nohup ignores stays ignored. */
TEST(test_ignored_signals)
{
	struct output_file file;

	signal(SIGHUP, SIG_IGN);
	assert_int_equal(output_file_open(&file, "out", false), 0);
	raise(SIGHUP);
	write_new(&file);
	assert_int_equal(output_file_finish(&file), 0);
	expect("out", "new");
	unlink("out");
}

int main(void)
{
	int failed;

	if (!mkdtemp(directory) || chdir(directory))
		return 1;
	failed = cmocka_run_group_tests(unit_tests, NULL, NULL);
	if (chdir("/") || rmdir(directory))
		failed++;
	return failed;
}
