/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Looks for kernel modules repeatedly, and loads and attaches the programs that need them. */
#include "capture/session/late.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/session/session_state.h"
#include "capture/support/kernel.h"
#include "capture/support/load.h"
#include "capture/support/missed.h"
#include "base/log.h"

#define LOOK_NS 200000000ull

/* Modules whose tracepoints and types the programs use; without nfs there is nothing to record. */
enum { NFS, SUNRPC, NFSV4, MODULES };
static const char *const modules[MODULES] = { "nfs", "sunrpc", "nfsv4" };

struct late {
	struct session *session;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop, started;
	struct faultline *skeleton; /* with the attached programs; NULL: none, or the session's */
	struct choice choice;	    /* of these programs */
	uint64_t missed;	    /* by programs that are no longer attached */
	uint64_t unseen_ns;	    /* until now, or ... */
	uint64_t since_ns;	    /* ... before this time, since when none are recorded; 0: no */
	/* As the thread last saw them: */
	uint64_t present[MODULES]; /* numbers that differ when a module is loaded again; 0: not */
	uint64_t looked_ns;
};

static void read_modules(uint64_t present[MODULES])
{
	for (size_t i = 0; i < MODULES; i++)
		present[i] = kernel_module(modules[i]);
}

/* Loads the chosen programs on the maps of the session, as a part of it. */
static int load(struct session *session, const struct choice *choice, struct faultline **out)
{
	struct bpf_program *program;
	struct faultline *skeleton;
	struct bpf_map *map, *own = NULL;
	int err = 0;

	loader_forget_types(session->loader);
	skeleton = session_open_skeleton(session);
	if (!skeleton)
		return -errno;
	bpf_object__for_each_map(map, skeleton->obj)
	{
		own = bpf_object__next_map(session->skeleton->obj, own);
		if (!err)
			err = bpf_map__reuse_fd(map, bpf_map__fd(own));
	}
	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(
		program, probes_chosen(choice, bpf_program__name(program)));
	if (!err)
		err = loader_load(session->loader, skeleton->skeleton, false);
	if (err)
		faultline__destroy(skeleton);
	else
		*out = skeleton;
	return err;
}

/* Replaces what is attached; `attached` receives the earlier links. Returns the earlier skeleton.
 * `err`: nothing is attached, although the modules are there. */
static struct faultline *replace(struct late *late, struct faultline *skeleton,
				 const struct choice *choice, struct attached *attached, int err)
{
	struct attached links = *attached;
	struct faultline *old = late->skeleton;
	uint64_t now_ns = host_now_ns();

	pthread_mutex_lock(&late->lock);
	if (old)
		late->missed += missed_by_layer(old->obj, &late->choice, LAYER_NFS);
	if (err && !late->since_ns)
		late->since_ns = now_ns;
	if (!err && late->since_ns) {
		late->unseen_ns += now_ns - late->since_ns;
		late->since_ns = 0;
	}
	late->skeleton = skeleton;
	late->choice = *choice;
	*attached = late->session->late_attached;
	late->session->late_attached = links;
	pthread_mutex_unlock(&late->lock);
	return old;
}

/* Goes by the modules that are there now. New programs are attached before earlier ones are
 * detached: what both see counts once, as for copies of a program. */
static void renew(struct late *late)
{
	struct session *session = late->session;
	struct faultline *skeleton = NULL;
	struct attached attached = { 0 };
	struct choice choice = { 0 };
	struct probe_program failed;
	int err = 0;

	if (late->present[NFS]) {
		pthread_mutex_lock(&late->lock);
		if (!session->late_attached.count && !late->since_ns)
			late->since_ns = late->looked_ns;
		pthread_mutex_unlock(&late->lock);
		kernel_forget_modules(session->kernel);
		probes_choose(session->kernel, LAYERS_LATE, 0, &session->options.forced,
			      &session->refused, &choice);
		err = choice.on[LAYER_NFS] ? load(session, &choice, &skeleton) : -ENOENT;
		if (!err)
			err = attach_chosen(&attached, skeleton->obj, &choice, LAYERS_LATE,
					    session->cpus, &failed);
		if (err)
			log_warning("requests to NFS servers are not recorded: %s",
				    choice.on[LAYER_NFS] ? strerror(-err)
							 : choice.reason[LAYER_NFS]);
	}
	if (err) {
		attached_free(&attached);
		faultline__destroy(skeleton);
		skeleton = NULL;
	}
	skeleton = replace(late, skeleton, &choice, &attached, err);
	attached_free(&attached);
	faultline__destroy(skeleton);
}

static void look(struct late *late)
{
	uint64_t now_ns = host_now_ns(), present[MODULES];

	read_modules(present);
	if (memcmp(present, late->present, sizeof(present))) {
		memcpy(late->present, present, sizeof(present));
		renew(late);
	}
	late->looked_ns = now_ns;
}

static void *work(void *context)
{
	struct late *late = context;

	privileges_keep_attaching();
	pthread_mutex_lock(&late->lock);
	while (!late->stop) {
		struct timespec next = host_after_ns(LOOK_NS);

		pthread_mutex_unlock(&late->lock);
		look(late);
		pthread_mutex_lock(&late->lock);
		if (!late->stop)
			pthread_cond_clockwait(&late->stopped, &late->lock, CLOCK_MONOTONIC, &next);
	}
	pthread_mutex_unlock(&late->lock);
	return NULL;
}

struct late *late_start(struct session *session)
{
	struct late *late;
	sigset_t all, before;
	int err;

	if (!session->choice.on[LAYER_NFS])
		return NULL;
	late = calloc(1, sizeof(*late));
	if (!late)
		return NULL;
	late->session = session;
	late->looked_ns = host_now_ns();
	if (session->late_attached.count) /* otherwise the thread finds those loaded since */
		read_modules(late->present);
	pthread_mutex_init(&late->lock, NULL);
	pthread_cond_init(&late->stopped, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&late->thread, NULL, work, late);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	late->started = !err;
	if (err)
		log_warning("cannot follow the modules of NFS: %s", strerror(err));
	return late;
}

void late_stop(struct late *late)
{
	if (!late || !late->started)
		return;
	pthread_mutex_lock(&late->lock);
	late->stop = true;
	pthread_cond_signal(&late->stopped);
	pthread_mutex_unlock(&late->lock);
	pthread_join(late->thread, NULL);
	late->started = false;
	if (late->since_ns)
		late->unseen_ns += host_now_ns() - late->since_ns;
	late->since_ns = 0;
}

void late_close(struct late *late)
{
	if (!late)
		return;
	late_stop(late);
	faultline__destroy(late->skeleton);
	pthread_cond_destroy(&late->stopped);
	pthread_mutex_destroy(&late->lock);
	free(late);
}

uint64_t late_unseen_ns(struct late *late)
{
	uint64_t unseen_ns;

	if (!late)
		return 0;
	pthread_mutex_lock(&late->lock);
	unseen_ns = late->unseen_ns + (late->since_ns ? host_now_ns() - late->since_ns : 0);
	pthread_mutex_unlock(&late->lock);
	return unseen_ns;
}

uint64_t late_missed(struct late *late, enum layer layer)
{
	uint64_t missed;

	if (!late || layer != LAYER_NFS)
		return 0;
	pthread_mutex_lock(&late->lock);
	missed = late->missed;
	if (late->skeleton)
		missed += missed_by_layer(late->skeleton->obj, &late->choice, layer);
	pthread_mutex_unlock(&late->lock);
	return missed;
}
