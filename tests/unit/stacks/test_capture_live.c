// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The process that reads stacks of blocked threads, without an interpreter. */
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/python/live.h"
#include "trace/format/flags.h"

static void take(void *context, const void *record, size_t size)
{
	fail_msg("there is no stack");
}

/* Requests the stack of a thread, and returns its flags. */
static uint32_t read_one(struct python_live *live, int status)
{
	struct live_thread thread = { .pid = getpid(), .tid = getpid(), .stack = 1 };

	assert_int_equal(python_live_read(live, 2000, 1, &thread, 1, take, NULL), status);
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

	assert_non_null(live);
	assert_int_equal(read_one(live, 0), TRACE_SAMPLE_NO_PYTHON);
	assert_int_equal(kill(only_child(), SIGKILL), 0);
	assert_int_equal(read_one(live, -EPIPE), TRACE_SAMPLE_UNREAD);
	assert_int_equal(read_one(live, -EAGAIN), TRACE_SAMPLE_UNREAD);
	python_live_close(live);
	close(none);
}
