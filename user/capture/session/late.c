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
#include "capture/support/modules.h"
#include "base/log.h"

#define LOOK_MS 200

#define REQUESTS(id, name, also, mounts, requests, servers)                                        \
	[LAYER_##id] = "requests to " mounts " " servers,
static const char *const requests[LAYER_COUNT] = { TRACE_SERVER_LAYERS(REQUESTS) };

#define LAYER_MODULE(layer, name) { LAYER_##layer, name },
static const struct {
	enum layer layer;
	const char *name;
} modules[] = { LAYER_MODULES(LAYER_MODULE) };

#define MODULES (sizeof(modules) / sizeof(modules[0]))

/* Written by the helper, each number by itself. */
struct late_status {
	uint64_t unseen_ns, missed;
};

struct late {
	pid_t pid;
	int alive;		    /* the helper ends when this end of a pipe is closed */
	struct late_status *status; /* of each layer, by its number */
};

/* State of the helper, for one layer. */
struct helper {
	enum layer layer;
	struct session *session;
	struct late_status *status;
	struct attached *attached;
	struct faultline *skeleton; /* with the attached programs; NULL: none, or the session's */
	struct choice choice;	    /* of these programs */
	uint64_t missed;	    /* by programs that are no longer attached */
	uint64_t unseen_ns;	    /* until now, or ... */
	uint64_t since_ns;	    /* ... before this time, since when none are recorded; 0: no */
	/* As last seen: */
	uint64_t present[MODULES]; /* numbers that differ when a module is loaded again; 0: not */
	uint64_t looked_ns;
};

static void read_modules(enum layer layer, uint64_t present[MODULES])
{
	for (size_t i = 0; i < MODULES; i++)
		present[i] = modules[i].layer == layer ? module_present(modules[i].name) : 0;
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
	       (skeleton ? missed_by_layer(skeleton->obj, &helper->choice, helper->layer) : 0);
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
	struct attached old_links = *helper->attached;
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
	*helper->attached = *attached;
	attached_free(&old_links);
	faultline__destroy(old);
}

/* Loads what the modules that are there now need. New programs are attached before earlier ones are
 * detached: what both see counts once, as for copies of a program. */
static void renew(struct helper *helper)
{
	struct session *session = helper->session;
	enum layer layer = helper->layer;
	struct faultline *skeleton = NULL;
	struct attached attached = { 0 };
	struct choice choice = { 0 };
	struct probe_program failed;
	int err = 0;

	if (module_present(layer_names[layer])) {
		if (!helper->attached->count && !helper->since_ns)
			helper->since_ns = helper->looked_ns;
		kernel_forget_modules(session->kernel);
		probes_choose(session->kernel, 1u << layer, 0, &session->options.forced,
			      &session->refused, &choice);
		err = choice.on[layer] ? load(session, &choice, &skeleton) : -ENOENT;
		if (!err)
			err = attach_chosen(&attached, skeleton->obj, &choice, 1u << layer,
					    session->cpus, &failed);
		if (err)
			log_warning("%s are not recorded: %s", requests[layer],
				    choice.on[layer] ? strerror(-err) : choice.reason[layer]);
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

	read_modules(helper->layer, present);
	if (memcmp(present, helper->present, sizeof(present))) {
		memcpy(helper->present, present, sizeof(present));
		renew(helper);
	}
	helper->looked_ns = now_ns;
	publish(helper);
}

static size_t keep_links(const struct attached *attached, int *kept, size_t count)
{
	for (size_t i = 0; i < attached->count; i++) {
		kept[count++] = bpf_link__fd(attached->rows[i].link);
		if (attached->rows[i].event >= 0)
			kept[count++] = attached->rows[i].event;
	}
	return count;
}

/* Keeps what loading needs, and the messages. */
static void keep_descriptors(struct session *session, int alive)
{
	int kept[HELPER_DESCRIPTORS_MAX], messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	struct bpf_map *map;
	size_t count = 0;

	kept[count++] = alive;
	kept[count++] = messages;
	kept[count++] = loader_types_fd(session->loader);
	kept[count++] = rings_outer_fd(session->rings);
	for (size_t layer = 0; layer < LAYER_COUNT; layer++)
		count = keep_links(&session->late_attached[layer], kept, count);
	bpf_object__for_each_map(map, session->skeleton->obj) if (count < HELPER_DESCRIPTORS_MAX)
		kept[count++] = bpf_map__fd(map);
	helper_keep_descriptors(kept, count);
	dup2(messages, STDERR_FILENO);
	close(messages);
}

static void start(struct helper *helper, enum layer layer, struct session *session,
		  struct late_status *status)
{
	*helper = (struct helper) { .layer = layer,
				    .session = session,
				    .status = &status[layer],
				    .attached = &session->late_attached[layer],
				    .looked_ns = host_now_ns() };
	if (helper->attached->count) /* otherwise what was loaded since is found as new */
		read_modules(layer, helper->present);
}

static void run(struct session *session, struct late_status *status, int alive)
{
	struct helper helpers[LAYER_COUNT];
	struct pollfd wait = { .fd = alive };
	size_t count = 0;
	sigset_t all;

	prctl(PR_SET_NAME, "faultline-late");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kernel_forget_modules(session->kernel); /* and their descriptors */
	keep_descriptors(session, alive);
	privileges_keep_attaching();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		if (LAYERS_LATE >> layer & 1 && session->choice.on[layer])
			start(&helpers[count++], layer, session, status);
	do
		for (size_t i = 0; i < count; i++)
			look(&helpers[i]);
	while (poll(&wait, 1, LOOK_MS) <= 0);
	for (size_t i = 0; i < count; i++)
		publish(&helpers[i]);
	_exit(0);
}

struct late *late_start(struct session *session)
{
	struct late *late;
	int ends[2] = { -1, -1 };

	if (!session_records_servers(session))
		return NULL;
	late = calloc(1, sizeof(*late));
	if (!late)
		return NULL;
	late->pid = late->alive = -1;
	late->status = mmap(NULL, LAYER_COUNT * sizeof(*late->status), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (late->status != MAP_FAILED && !pipe2(ends, O_CLOEXEC))
		late->pid = helper_fork();
	if (!late->pid)
		run(session, late->status, ends[0]);
	if (ends[0] >= 0)
		close(ends[0]);
	late->alive = ends[1];
	if (late->pid < 0)
		log_warning("cannot follow the modules of layers " SERVER_LAYERS ": %s",
			    strerror(errno));
	for (size_t layer = 0; late->pid > 0 && layer < LAYER_COUNT; layer++)
		attached_leave(&session->late_attached[layer]);
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
		munmap(late->status, LAYER_COUNT * sizeof(*late->status));
	free(late);
}

static struct late_status status_of(const struct late *late, enum layer layer)
{
	struct late_status copy = { 0 };

	if (late && late->status != MAP_FAILED) {
		copy.unseen_ns = __atomic_load_n(&late->status[layer].unseen_ns, __ATOMIC_RELAXED);
		copy.missed = __atomic_load_n(&late->status[layer].missed, __ATOMIC_RELAXED);
	}
	return copy;
}

uint64_t late_unseen_ns(const struct late *late, enum layer layer)
{
	return status_of(late, layer).unseen_ns;
}

uint64_t late_missed(const struct late *late, enum layer layer)
{
	return status_of(late, layer).missed;
}
