/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A helper process looks for kernel modules repeatedly, and loads and attaches the programs that
 * need them. It is a process, not a thread, because it keeps its privileges.
 */
#include "capture/session/late.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/drain/ring.h"
#include "capture/host/helper.h"
#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/session/session_state.h"
#include "capture/support/kernel.h"
#include "capture/support/load.h"
#include "capture/support/missed.h"
#include "base/log.h"

#define LOOK_MS 200

/* Modules whose tracepoints and types the programs use; without nfs there is nothing to record. */
enum { NFS, SUNRPC, NFSV4, MODULES };
static const char *const modules[MODULES] = { "nfs", "sunrpc", "nfsv4" };

/* Written by the helper, each number by itself. */
struct late_status {
	uint64_t unseen_ns, missed;
};

struct late {
	pid_t pid;
	int alive; /* the helper ends when this end of a pipe is closed */
	struct late_status *status;
};

/* State of the helper. */
struct helper {
	struct session *session;
	struct late_status *status;
	struct faultline *skeleton; /* with the attached programs; NULL: none, or the session's */
	struct choice choice;	    /* of these programs */
	uint64_t missed;	    /* by programs that are no longer attached */
	uint64_t unseen_ns;	    /* until now, or ... */
	uint64_t since_ns;	    /* ... before this time, since when none are recorded; 0: no */
	/* As last seen: */
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
		err = loader_load(session->loader, skeleton->skeleton, true);
	if (err)
		faultline__destroy(skeleton);
	else
		*out = skeleton;
	return err;
}

static uint64_t missed_now(const struct helper *helper)
{
	const struct faultline *skeleton = helper->skeleton;

	return helper->missed +
	       (skeleton ? missed_by_layer(skeleton->obj, &helper->choice, LAYER_NFS) : 0);
}

static void publish(const struct helper *helper)
{
	uint64_t now_ns = host_now_ns();

	__atomic_store_n(&helper->status->unseen_ns,
			 helper->unseen_ns + (helper->since_ns ? now_ns - helper->since_ns : 0),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&helper->status->missed, missed_now(helper), __ATOMIC_RELAXED);
}

/* Replaces what is attached. `err`: nothing is attached, although the modules are there. */
static void replace(struct helper *helper, struct faultline *skeleton, const struct choice *choice,
		    const struct attached *attached, int err)
{
	struct attached old_links = helper->session->late_attached;
	struct faultline *old = helper->skeleton;
	uint64_t now_ns = host_now_ns();

	helper->missed = missed_now(helper);
	if (err && !helper->since_ns)
		helper->since_ns = now_ns;
	if (!err && helper->since_ns) {
		helper->unseen_ns += now_ns - helper->since_ns;
		helper->since_ns = 0;
	}
	helper->skeleton = skeleton;
	helper->choice = *choice;
	helper->session->late_attached = *attached;
	attached_free(&old_links);
	faultline__destroy(old);
}

/* Goes by the modules that are there now. New programs are attached before earlier ones are
 * detached: what both see counts once, as for copies of a program. */
static void renew(struct helper *helper)
{
	struct session *session = helper->session;
	struct faultline *skeleton = NULL;
	struct attached attached = { 0 };
	struct choice choice = { 0 };
	struct probe_program failed;
	int err = 0;

	if (helper->present[NFS]) {
		if (!session->late_attached.count && !helper->since_ns)
			helper->since_ns = helper->looked_ns;
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
	replace(helper, skeleton, &choice, &attached, err);
}

static void look(struct helper *helper)
{
	uint64_t now_ns = host_now_ns(), present[MODULES];

	read_modules(present);
	if (memcmp(present, helper->present, sizeof(present))) {
		memcpy(helper->present, present, sizeof(present));
		renew(helper);
	}
	helper->looked_ns = now_ns;
	publish(helper);
}

/* Keeps what loading needs, and the messages. */
static void keep_descriptors(struct session *session, int alive)
{
	int kept[HELPER_DESCRIPTORS_MAX], messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	struct attached *links = &session->late_attached;
	struct bpf_map *map;
	size_t count = 0;

	kept[count++] = alive;
	kept[count++] = messages;
	kept[count++] = loader_types_fd(session->loader);
	kept[count++] = rings_outer_fd(session->rings);
	for (size_t i = 0; i < links->count; i++)
		kept[count++] = bpf_link__fd(links->links[i]);
	bpf_object__for_each_map(map, session->skeleton->obj) if (count < HELPER_DESCRIPTORS_MAX)
		kept[count++] = bpf_map__fd(map);
	helper_keep_descriptors(kept, count);
	dup2(messages, STDERR_FILENO);
	close(messages);
}

static void run(struct session *session, struct late_status *status, int alive)
{
	struct helper helper = { .session = session, .status = status };
	struct pollfd wait = { .fd = alive };
	sigset_t all;

	prctl(PR_SET_NAME, "faultline-late");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	keep_descriptors(session, alive);
	privileges_keep_attaching();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	helper.looked_ns = host_now_ns();
	if (session->late_attached.count) /* otherwise what was loaded since is found as new */
		read_modules(helper.present);
	do
		look(&helper);
	while (poll(&wait, 1, LOOK_MS) <= 0);
	publish(&helper);
	_exit(0);
}

struct late *late_start(struct session *session)
{
	struct late *late;
	int ends[2] = { -1, -1 };

	if (!session->choice.on[LAYER_NFS])
		return NULL;
	late = calloc(1, sizeof(*late));
	if (!late)
		return NULL;
	late->pid = late->alive = -1;
	late->status = mmap(NULL, sizeof(*late->status), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (late->status != MAP_FAILED && !pipe2(ends, O_CLOEXEC))
		late->pid = helper_fork();
	if (!late->pid)
		run(session, late->status, ends[0]);
	if (ends[0] >= 0)
		close(ends[0]);
	late->alive = ends[1];
	if (late->pid > 0)
		attached_free(&session->late_attached); /* the helper has these links, too */
	else
		log_warning("cannot follow the modules of NFS: %s", strerror(errno));
	return late;
}

void late_stop(struct late *late)
{
	if (!late || late->alive < 0)
		return;
	close(late->alive);
	late->alive = -1;
	while (late->pid > 0 && waitpid(late->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

void late_close(struct late *late)
{
	if (!late)
		return;
	late_stop(late);
	if (late->status != MAP_FAILED)
		munmap(late->status, sizeof(*late->status));
	free(late);
}

static uint64_t number(const struct late *late, const uint64_t *of)
{
	return late && late->status != MAP_FAILED ? __atomic_load_n(of, __ATOMIC_RELAXED) : 0;
}

uint64_t late_unseen_ns(const struct late *late)
{
	return number(late, late ? &late->status->unseen_ns : NULL);
}

uint64_t late_missed(const struct late *late, enum layer layer)
{
	return layer == LAYER_NFS ? number(late, late ? &late->status->missed : NULL) : 0;
}
