// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The process that reads stacks of blocked threads, without an interpreter. */
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/python/live.h"
#include "trace/format/flags.h"

static void take(void *context, const void *record, size_t size)
{
	fail_msg("there is no stack");
}

/* Requests the stack of a thread. Returns its flags and the log messages. */
static uint32_t read_one(struct python_live *live, char *logged, size_t size)
{
	struct live_thread thread = { .pid = getpid(), .tid = getpid(), .stack = 1 };
	FILE *log = tmpfile();
	const int standard = dup(STDERR_FILENO);
	ssize_t length;

	assert_true(log && standard >= 0);
	dup2(fileno(log), STDERR_FILENO);
	python_live_read(live, 1, &thread, 1, take, NULL);
	dup2(standard, STDERR_FILENO);
	length = pread(fileno(log), logged, size - 1, 0);
	assert_true(length >= 0);
	logged[length] = 0;
	fclose(log);
	close(standard);
	return thread.flags;
}

static pid_t only_child(void)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &pid) != 1)
		skip();
	fclose(file);
	return pid;
}

/* A process that has ended is not called slow. */
TEST(test_ended)
{
	const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct python_live *live = python_live_start(none, none);
	char logged[512];

	assert_non_null(live);
	assert_int_equal(read_one(live, logged, sizeof(logged)), TRACE_SAMPLE_NO_PYTHON);
	assert_string_equal(logged, "");
	assert_int_equal(kill(only_child(), SIGKILL), 0);
	assert_int_equal(read_one(live, logged, sizeof(logged)), TRACE_SAMPLE_UNREAD);
	assert_non_null(strstr(logged, "has ended"));
	python_live_close(live);
	close(none);
}
