/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A queue of jobs to be named, and the thread that names them. */
#include "monitor/intake/job_naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/host/privileges.h"
#include "monitor/intake/lookup_thread.h"

#define PLACES 32 /* jobs at a time; others are named at the next readings */

struct place {
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
	struct place places[PLACES];
};

static void free_naming(void *shared)
{
	struct job_naming *naming = shared;

	close(naming->root);
	free(naming);
}

/* NULL: none. */
static struct place *find(struct job_naming *naming, int state)
{
	for (int i = 0; i < PLACES; i++)
		if (naming->places[i].state == (unsigned int)state)
			return &naming->places[i];
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
		struct place *place = find(naming, ASKED);

		if (!place) {
			pthread_cond_wait(&naming->thread.asked, &naming->thread.lock);
			continue;
		}
		/* Until it is answered, no other thread touches it. */
		pthread_mutex_unlock(&naming->thread.lock);
		job_names_read(naming->root, &place->ids, place->pid, &place->names);
		pthread_mutex_lock(&naming->thread.lock);
		place->state = ANSWERED;
	}
	lookup_thread_leave(&naming->thread);
	return NULL;
}

/* Returns false if there is no room. */
static bool ask(void *context, const struct ledger_job *job, uint32_t pid)
{
	struct job_naming *naming = context;
	struct place *place = find(naming, FREE);

	if (!place)
		return false;
	*place = (struct place) {
		.state = ASKED,
		.job = job->id,
		.ids = job->labels.ids,
		.pid = pid,
		.names = job->names,
	};
	pthread_cond_signal(&naming->thread.asked);
	return true;
}

void job_naming_settle(struct job_naming *naming, struct ledger *ledger, uint64_t now_ns)
{
	struct place *place;

	pthread_mutex_lock(&naming->thread.lock);
	while ((place = find(naming, ANSWERED))) {
		ledger_name_job(ledger, place->job, &place->names);
		place->state = FREE;
	}
	ledger_ask_names(ledger, now_ns, ask, naming);
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
