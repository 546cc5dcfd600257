// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * User names from a slow directory: bounded waiting, one lookup per nameless user, and shutdown
 * while a lookup is pending.
 */
#include "unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "made_ledger.h"
#include "monitor/intake/intake.h"
#include "monitor/intake/user_names.h"

#define PARENT 4194400u /* above any live PID */
#define SLOW 77u
#define NAMELESS 1234567u
#define SAME_SLOT 5245u /* in the cache as SLOW */
#define SAME_SLOT_NUMBER "5245"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held, waiting;
static bool broken; /* the directory does not answer */
static unsigned int asked;
static uint64_t later_ns; /* how far the clock is ahead */

/* Replaces the C library's: names are looked up again after minutes. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int status = syscall(SYS_clock_gettime, clock, time);

	time->tv_sec += __atomic_load_n(&later_ns, __ATOMIC_RELAXED) / 1000000000;
	return status;
}

/* Replaces the C library's: blocks while the test holds the lock. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *bytes, size_t size, struct passwd **found)
{
	pthread_mutex_lock(&lock);
	asked++;
	waiting = uid == SLOW;
	pthread_cond_broadcast(&changed);
	while (uid == SLOW && held)
		pthread_cond_wait(&changed, &lock);
	waiting = false;
	*found = NULL;
	if (broken) {
		pthread_mutex_unlock(&lock);
		return EIO;
	}
	pthread_mutex_unlock(&lock);
	if (uid == NAMELESS)
		return 0;
	snprintf(bytes, size, "user-%u", uid);
	*entry = (struct passwd) { .pw_name = bytes, .pw_uid = uid };
	*found = entry;
	return 0;
}

static void hold(bool on)
{
	pthread_mutex_lock(&lock);
	held = on;
	asked = on ? 0 : asked;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_until_asked(void)
{
	pthread_mutex_lock(&lock);
	while (!waiting)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static unsigned int times_asked(void)
{
	unsigned int times;

	pthread_mutex_lock(&lock);
	times = asked;
	pthread_mutex_unlock(&lock);
	return times;
}

TEST(test_slow)
{
	struct user_names *names;
	char name[USER_NAME_BYTES];

	assert_int_equal(user_names_open(&names), 0);
	hold(true);
	assert_false(user_name(names, SLOW, name));
	assert_string_equal(name, "77"); /* for callers that cannot wait */
	while (!user_name(names, SLOW, name))
		usleep(1000);
	assert_string_equal(name, "77"); /* no further waiting */
	hold(false);
	do
		assert_true(user_name(names, SLOW, name));
	while (!strcmp(name, "77"));
	assert_string_equal(name, "user-77");
	assert_int_equal(times_asked(), 1);
	user_names_close(names);
}

TEST(test_without_a_name)
{
	struct user_names *names;
	char name[USER_NAME_BYTES];

	assert_int_equal(user_names_open(&names), 0);
	hold(true);
	for (int i = 0; i < 3; i++) {
		while (!user_name(names, NAMELESS, name))
			usleep(1000);
		assert_string_equal(name, "1234567");
	}
	assert_int_equal(times_asked(), 1);
	user_names_close(names);
}

static void pass_minutes(void)
{
	__atomic_add_fetch(&later_ns, 2 * USER_NAMES_AGAIN_NS, __ATOMIC_RELAXED);
}

/* A name is known while it is looked up again, and if that fails. */
TEST(test_again)
{
	struct user_names *names;
	char name[USER_NAME_BYTES];

	assert_int_equal(user_names_open(&names), 0);
	hold(false);
	while (!user_name(names, SLOW, name))
		usleep(1000);
	assert_string_equal(name, "user-77");
	hold(true);
	pass_minutes();
	for (int i = 0; i < 3; i++) {
		assert_true(user_name(names, SLOW, name));
		assert_string_equal(name, "user-77");
		wait_until_asked();
	}
	/* A user of the same slot does not get that name. */
	user_name(names, SAME_SLOT, name);
	assert_string_equal(name, SAME_SLOT_NUMBER);
	pthread_mutex_lock(&lock);
	broken = true;
	pthread_mutex_unlock(&lock);
	hold(false);
	while (times_asked() < 1)
		usleep(1000);
	for (int i = 0; i < 100; i++) {
		assert_true(user_name(names, SLOW, name));
		assert_string_equal(name, "user-77");
		usleep(100);
	}
	pthread_mutex_lock(&lock);
	assert_int_equal(asked, 1);
	broken = false;
	pthread_mutex_unlock(&lock);
	user_names_close(names);
}

/* More users than slots. */
TEST(test_many)
{
	struct user_names *names;
	char name[USER_NAME_BYTES], expected[USER_NAME_BYTES];

	assert_int_equal(user_names_open(&names), 0);
	for (unsigned int uid = 100; uid < 5000; uid++) {
		while (!user_name(names, uid, name))
			usleep(100);
		snprintf(expected, sizeof(expected), "user-%u", uid);
		assert_string_equal(name, expected);
	}
	user_names_close(names);
}

static void runs_as(struct intake *intake, uint32_t pid, uint32_t uid, const char *comm)
{
	struct event_exec event = {
		.header = { .time_ns = 120,
			    .kind = RECORD_EXEC,
			    .size = sizeof(event),
			    .pid = pid,
			    .tid = pid },
		.uid = uid,
	};

	strcpy(event.comm, comm);
	intake_take(intake, 0, &event, sizeof(event));
}

/* Records are taken and booked during a lookup, and the service can end during one. */
TEST(test_taking_goes_on)
{
	struct ledger *ledger = open_with(roomy);
	const struct ledger_job *job;
	struct intake *intake;

	hold(true);
	assert_int_equal(intake_open(&intake, ledger, 2, 4096), 0);
	begin(ledger, PARENT, "/a", "x", 100);
	for (uint32_t pid = PARENT + 1; pid < PARENT + 3; pid++)
		ledger_fork(ledger, PARENT, pid, 110);
	runs_as(intake, PARENT + 1, SLOW, "slow");
	wait_until_asked();
	runs_as(intake, PARENT + 2, 5, "after");
	while (!intake_book(intake, 200, 200))
		usleep(1000);
	job = job_called(ledger, LEDGER_UNKNOWN); /* the cgroup of both */
	assert_ptr_equal(job, ledger_process(ledger, PARENT + 1)->job);
	assert_int_equal(job->uid, SLOW);
	assert_string_equal(job->user, "77");
	assert_int_equal(ledger_process(ledger, PARENT + 2)->job->uid, 5);
	intake_close(intake);
	ledger_close(ledger);
	hold(false);
}
