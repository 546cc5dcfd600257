// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Records left out by --include and --exclude: by file, by path, and samples of such operations. */
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "capture/calls/file_choice.h"
#include "trace/format/thread_states.h"

static const char *const excluded[] = { "/tmp/*" };

struct call_on_path {
	struct event_syscall_path record;
	char text[64];
};

static bool leaves_call(struct file_choice *choice, uint64_t time_ns, uint32_t tid,
			const char *path)
{
	struct call_on_path call = { .record.call.header = { .time_ns = time_ns,
							     .kind = RECORD_SYSCALL_PATH,
							     .tid = tid } };

	memcpy(call.record.text, path, strlen(path));
	call.record.path_bytes = strlen(path);
	return file_choice_leaves_record(choice, &call.record.call.header);
}

static bool leaves_sample(struct file_choice *choice, uint64_t time_ns, uint32_t tid, uint32_t file,
			  uint32_t state)
{
	const struct event_sample sample = {
		.header = { .time_ns = time_ns, .kind = RECORD_SAMPLE, .tid = tid },
		.file = file,
		.state = state,
	};

	return file_choice_leaves_record(choice, &sample.header);
}

TEST(test_samples)
{
	struct file_choice *choice = calloc(1, sizeof(*choice));

	assert_non_null(choice);
	file_choice_init(choice, &(struct file_globs) { .exclude = excluded, .exclude_count = 1 },
			 4096);
	file_choice_name(choice, 1, "/tmp/a");
	file_choice_name(choice, 2, "/data/a");
	assert_true(leaves_sample(choice, 10, 7, 1, SAMPLE_IO));
	assert_false(leaves_sample(choice, 10, 7, 2, SAMPLE_IO));
	assert_false(leaves_sample(choice, 10, 7, 0, SAMPLE_IO));
	/* Calls without a file, by their paths. */
	assert_true(leaves_call(choice, 20, 7, "/tmp/gone"));
	assert_false(leaves_call(choice, 20, 8, "/data/gone"));
	assert_true(leaves_sample(choice, 20, 7, 0, SAMPLE_IO));
	assert_false(leaves_sample(choice, 20, 8, 0, SAMPLE_IO));
	/* Samples of another thread, another operation, or no operation. */
	assert_false(leaves_sample(choice, 20, 7 + FILE_CHOICE_THREADS, 0, SAMPLE_IO));
	assert_false(leaves_sample(choice, 21, 7, 0, SAMPLE_IO));
	assert_false(leaves_sample(choice, 20, 7, 0, THREAD_LOCK));
	assert_int_equal(choice->records[RECORD_SYSCALL_PATH], 1);
	assert_int_equal(choice->records[RECORD_SAMPLE], 2);
	assert_int_equal(choice->operations, 1);
	file_choice_free(choice);
	free(choice);
}

static void expect_files(const struct file_choice *choice, uint32_t first, uint32_t second)
{
	assert_true(file_choice_leaves(choice, first));
	assert_true(file_choice_knows(choice, second));
	assert_false(file_choice_leaves(choice, second));
	assert_false(file_choice_knows(choice, second + 1));
}

static void name_files(struct file_choice *choice, uint32_t first)
{
	file_choice_name(choice, first + 1, "/data/a");
	file_choice_name(choice, first, "/tmp/a"); /* from a CPU buffer that is drained later */
	expect_files(choice, first, first + 1);
}

/* Memory is bounded, however many files there are: the oldest are forgotten. */
TEST(test_many_files)
{
	struct file_choice *choice = calloc(1, sizeof(*choice));
	const uint32_t last = FILE_CHOICE_ID_MASK - 1;

	assert_non_null(choice);
	file_choice_init(choice, &(struct file_globs) { .exclude = excluded, .exclude_count = 1 },
			 4096);
	name_files(choice, 1);
	name_files(choice, 1000);
	expect_files(choice, 1, 2);
	name_files(choice, FILE_CHOICE_FILES);
	assert_false(file_choice_knows(choice, 1)); /* its place was taken */
	expect_files(choice, 1000, 1001);
	file_choice_name(choice, 1, "/tmp/a"); /* too late */
	assert_false(file_choice_knows(choice, 1));
	expect_files(choice, FILE_CHOICE_FILES, FILE_CHOICE_FILES + 1);
	name_files(choice, 8 * FILE_CHOICE_FILES + 5);
	assert_false(file_choice_knows(choice, FILE_CHOICE_FILES));
	name_files(choice, last / 2);
	name_files(choice, last); /* then ids start again */
	name_files(choice, 1);
	expect_files(choice, last, last + 1);
	assert_true(choice->room <= FILE_CHOICE_FILES / 4);
	file_choice_free(choice);
	free(choice);
}
