/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A queue of jobs to be named, and the thread that names them. */
#include "monitor/intake/job_naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/host/privileges.h"
#include "monitor/intake/lookup_thread.h"

#define SLOTS 32 /* jobs at a time; others are named at the next readings */

struct slot {
	enum { FREE, ASKED, ANSWERED } state;
	uint64_t job;
	struct job_ids ids;
	uint32_t pid;
	struct job_names names;
};

struct job_naming {
	struct lookup_thread thread; /* its lock also protects the places */
	bool privileged;
	int root;
	struct slot slots[SLOTS];
};

static void free_naming(void *shared)
{
	struct job_naming *naming = shared;

	close(naming->root);
	free(naming);
}

/* NULL: none. */
static struct slot *find(struct job_naming *naming, int state)
{
	for (int i = 0; i < SLOTS; i++)
		if (naming->slots[i].state == (unsigned int)state)
			return &naming->slots[i];
	return NULL;
}

static void *work(void *context)
{
	struct job_naming *naming = context;

	if (naming->privileged)
		privileges_keep_naming();
	else
		privileges_drop_all();
	pthread_mutex_lock(&naming->thread.lock);
	while (!naming->thread.stop) {
		struct slot *slot = find(naming, ASKED);

		if (!slot) {
			pthread_cond_wait(&naming->thread.wake, &naming->thread.lock);
			continue;
		}
		/* Until it is answered, no other thread touches it. */
		pthread_mutex_unlock(&naming->thread.lock);
		job_names_read(naming->root, &slot->ids, slot->pid, &slot->names);
		pthread_mutex_lock(&naming->thread.lock);
		slot->state = ANSWERED;
	}
	lookup_thread_leave(&naming->thread);
	return NULL;
}

/* Returns false if there is no room. */
static bool queue_lookup(void *context, const struct ledger_job *job, uint32_t pid)
{
	struct job_naming *naming = context;
	struct slot *slot = find(naming, FREE);

	if (!slot)
		return false;
	*slot = (struct slot) {
		.state = ASKED,
		.job = job->id,
		.ids = job->labels.ids,
		.pid = pid,
		.names = *ledger_job_names(job),
	};
	pthread_cond_signal(&naming->thread.wake);
	return true;
}

void job_naming_settle(struct job_naming *naming, struct ledger *ledger, uint64_t now_ns)
{
	struct slot *slot;

	pthread_mutex_lock(&naming->thread.lock);
	while ((slot = find(naming, ANSWERED))) {
		ledger_name_job(ledger, slot->job, &slot->names);
		slot->state = FREE;
	}
	ledger_ask_names(ledger, now_ns, queue_lookup, naming);
	pthread_mutex_unlock(&naming->thread.lock);
}

int job_naming_open(struct job_naming **out, const char *root, bool privileged)
{
	struct job_naming *naming = calloc(1, sizeof(*naming));
	int err;

	if (!naming)
		return -ENOMEM;
	naming->privileged = privileged;
	naming->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (naming->root < 0) {
		err = -errno;
		free(naming);
		return err;
	}
	err = lookup_thread_start(&naming->thread, work, free_naming);
	if (!err)
		*out = naming;
	return err;
}

void job_naming_close(struct job_naming *naming)
{
	if (naming)
		lookup_thread_close(&naming->thread);
}
