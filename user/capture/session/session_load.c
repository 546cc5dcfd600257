/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loads and attaches the best variants that the kernel accepts, and detaches them. */
#include "capture/session/session_state.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/faultline.skel.h"
#include "capture/drain/device_stats.h"
#include "capture/drain/quiesce.h"
#include "capture/drain/ring.h"
#include "capture/session/late.h"
#include "capture/session/waiting.h"
#include "capture/support/attach.h"
#include "capture/support/load.h"
#include "capture/support/probes.h"
#include "capture/support/refusal.h"
#include "base/log.h"

#define VERIFIER_LOG_BYTES (1u << 20)

/* Tries to load the variants that are chosen now. */
static int load_chosen(struct session *session)
{
	struct faultline *skeleton = session_open_skeleton(session);
	struct bpf_program *program;
	int err;

	if (!skeleton)
		return -errno;
	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(
		program, probes_chosen(&session->choice, bpf_program__name(program)));
	err = loader_load(session->loader, skeleton->skeleton, false);
	if (err)
		faultline__destroy(skeleton);
	else
		session->skeleton = skeleton;
	return err;
}

/* Loads one program by itself. If it is refused, notes the program and the verifier's log. */
static int try_alone(struct session *session, const char *name, char *verifier_log)
{
	struct faultline *skeleton = session_open_skeleton(session);
	struct bpf_program *program;
	int err, status = 0;

	if (!skeleton)
		return -errno;
	bpf_object__for_each_program(program, skeleton->obj)
	{
		bool chosen = !strcmp(bpf_program__name(program), name);

		bpf_program__set_autoload(program, chosen);
		if (chosen)
			bpf_program__set_log_buf(program, verifier_log, VERIFIER_LOG_BYTES);
	}
	verifier_log[0] = 0;
	err = loader_load(session->loader, skeleton->skeleton, true);
	if (err)
		status = refusals_add(&session->refused, name, verifier_log, err);
	faultline__destroy(skeleton);
	return status;
}

/* Finds all chosen programs that the kernel refuses; libbpf stops at the first one. */
static int find_refused(struct session *session)
{
	char *verifier_log = malloc(VERIFIER_LOG_BYTES);
	struct probe_program program = { 0 };
	int err = verifier_log ? 0 : -ENOMEM;

	while (!err && probes_next(&session->choice, &program))
		err = try_alone(session, program.name, verifier_log);
	free(verifier_log);
	return err;
}

void session_detach(struct session *session)
{
	bool preempted = false;

	if (!session || !session->attached.count)
		return;
	device_stats_end(session->device_stats);
	waiting_stop(session->waiting);
	late_stop(session->late);
	session->skeleton->bss->recording_ended = true;
	for (size_t layer = 0; layer < LAYER_COUNT; layer++)
		attached_free(&session->late_attached[layer]);
	attached_free(&session->attached);
	for (size_t p = 0; p < part_count; p++)
		preempted |= probes_preempted(session->kernel, session->choice.variants[p]);
	quiesce(preempted);
}

/* Attaches what was loaded. If the kernel refuses a target, notes its program as refused and
 * unloads everything. */
static int attach_or_note(struct session *session)
{
	struct probe_program failed;
	int err = attach_chosen(&session->attached, session->skeleton->obj, &session->choice,
				~LAYERS_LATE, session->cpus, &failed);
	int status;

	for (size_t layer = 0; layer < LAYER_COUNT && !err; layer++)
		err = attach_chosen(&session->late_attached[layer], session->skeleton->obj,
				    &session->choice, LAYERS_LATE & 1u << layer, session->cpus,
				    &failed);
	if (!err)
		return 0;
	log_debug("cannot attach %s to %s: %s", failed.name, failed.probe->target, strerror(-err));
	status = refusals_add(&session->refused, failed.name, "", err);
	session_detach(session);
	faultline__destroy(session->skeleton);
	session->skeleton = NULL;
	return status ? status : err;
}

static unsigned int uses_of(const struct session_options *options)
{
	return (options->attach.to ? 1u << USE_ATTACH : 0) |
	       (options->in_flight ? 1u << USE_IN_FLIGHT : 0);
}

void session_say_no_buffers(const struct session *session, int err)
{
	log_error("cannot create %u buffers: %s; try a smaller --buffer", session->sizes.lane_count,
		  strerror(-err));
}

/* Kernels without bpf_loop may be unsafe to use: see bpf/core/loop_check.bpf.c. */
static int check_loops(struct session *session)
{
	size_t refused = session->refused.count;
	char *verifier_log;
	int err;

	if (kernel_has_loop(session->kernel))
		return 0;
	verifier_log = malloc(VERIFIER_LOG_BYTES);
	err = verifier_log ? try_alone(session, "fl_loop_check", verifier_log) : -ENOMEM;
	free(verifier_log);
	if (err || session->refused.count == refused)
		return err;
	log_error("this kernel cannot loop in BPF programs safely (%s): it needs commit "
		  "3990ed4c4266, part of Linux 5.16 and of later 5.15 releases",
		  session->refused.rows[refused].why);
	return -ENOTSUP;
}

int session_choose(struct session *session)
{
	probes_choose(session->kernel, session->options.layers, uses_of(&session->options),
		      &session->options.forced, &session->refused, &session->choice);
	if (session->choice.on[LAYER_TASK])
		return session_check_open_files(session);
	log_error("cannot follow processes: %s", session->choice.reason[LAYER_TASK]);
	return -ENOTSUP;
}

int session_load(struct session *session)
{
	int err = check_loops(session);

	if (err)
		return err;
	for (;;) {
		size_t refused = session->refused.count;
		int status;

		if (refused) {
			err = session_choose(session);
			if (err)
				return err;
		}
		err = load_chosen(session);
		status = err ? find_refused(session) : 0;
		if (!err) {
			err = rings_wait_offered(session->rings);
			if (err) {
				session_say_no_buffers(session, err);
				return err;
			}
		}
		if (!err)
			err = attach_or_note(session);
		if (!err)
			return 0;
		if (status || session->refused.count == refused) {
			log_error("the kernel rejects the BPF programs: %s; use -v for details",
				  strerror(-err));
			return err;
		}
		for (; refused < session->refused.count; refused++)
			log_debug("the kernel rejects program %s (%s); trying without it",
				  session->refused.rows[refused].program,
				  session->refused.rows[refused].why);
	}
}
