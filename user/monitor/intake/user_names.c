/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Caches user names by uid. */
#include "monitor/intake/user_names.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "monitor/intake/lookup_thread.h"

#define QUEUE_MAX 1024 /* one for all users with the same hash; the last one has it */
#define ENTRY_BYTES 4096

enum look_up { NOT_ASKED, ASKED, ANSWERED };

struct user {
	char name[USER_NAME_BYTES];
	uint64_t since_ns; /* when requested or answered */
	enum look_up state;
	bool again; /* ANSWERED, and requested again: until then the name stays */
	uint32_t uid;
};

struct user_names {
	struct lookup_thread thread; /* its lock also protects the rest */
	struct user users[QUEUE_MAX];
	struct user *queue[QUEUE_MAX]; /* requested, each once */
	unsigned int first, count;
};

/* Returns false if the directory did not answer; writes the number then, too. */
static bool look_up(uint32_t uid, char out[USER_NAME_BYTES])
{
	struct passwd entry, *found = NULL;
	char bytes[ENTRY_BYTES];
	bool answered = !getpwuid_r(uid, &entry, bytes, sizeof(bytes), &found);

	if (answered && found && found->pw_name[0] && strlen(found->pw_name) < USER_NAME_BYTES)
		strcpy(out, found->pw_name);
	else
		snprintf(out, USER_NAME_BYTES, "%u", uid);
	return answered;
}

static void *work(void *context)
{
	struct user_names *names = context;
	char name[USER_NAME_BYTES];

	privileges_drop_all(); /* name service modules run in this thread */
	pthread_mutex_lock(&names->thread.lock);
	while (!names->thread.stop) {
		struct user *user = names->queue[names->first];
		bool answered;

		if (!names->count) {
			pthread_cond_wait(&names->thread.wake, &names->thread.lock);
			continue;
		}
		names->first = (names->first + 1) % QUEUE_MAX;
		names->count--;
		pthread_mutex_unlock(&names->thread.lock);
		answered =
			look_up(user->uid, name); /* its slot is not reused until it is answered */
		pthread_mutex_lock(&names->thread.lock);
		if (answered || !user->again)
			strcpy(user->name, name);
		user->state = ANSWERED;
		user->again = false;
		user->since_ns = host_now_ns();
	}
	lookup_thread_leave(&names->thread);
	return NULL;
}

static void queue_lookup(struct user_names *names, struct user *user, uint32_t uid, uint64_t now_ns)
{
	if (user->state == ANSWERED && user->uid == uid)
		user->again = true;
	else
		*user = (struct user) { .uid = uid, .state = ASKED };
	user->since_ns = now_ns;
	names->queue[(names->first + names->count++) % QUEUE_MAX] = user;
	pthread_cond_signal(&names->thread.wake);
}

bool user_name(struct user_names *names, uint32_t uid, char out[USER_NAME_BYTES])
{
	struct user *user = &names->users[(uid * 0x9e3779b1u) >> 22];
	uint64_t now_ns;
	bool known;

	pthread_mutex_lock(&names->thread.lock);
	now_ns = host_now_ns(); /* under the lock: later than any answer */
	if (user->state == NOT_ASKED ||
	    (user->state == ANSWERED && !user->again &&
	     (user->uid != uid || now_ns - user->since_ns > USER_NAMES_AGAIN_NS)))
		queue_lookup(names, user, uid, now_ns);
	known = user->state == ANSWERED && user->uid == uid;
	if (known)
		strcpy(out, user->name);
	else
		snprintf(out, USER_NAME_BYTES, "%u", uid);
	/* If another user's lookup holds the slot, waiting would take even longer. */
	known |= now_ns - user->since_ns > USER_NAMES_WAIT_NS;
	pthread_mutex_unlock(&names->thread.lock);
	return known;
}

int user_names_open(struct user_names **out)
{
	struct user_names *names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	err = lookup_thread_start(&names->thread, work, free);
	if (!err)
		*out = names;
	return err;
}

void user_names_close(struct user_names *names)
{
	if (names)
		lookup_thread_close(&names->thread);
}
