/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Follows a command from its exec on, or processes that already run. */
#include "capture/session/session_state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/faultline.skel.h"
#include "capture/session/arming.h"
#include "capture/support/probes.h"
#include "base/log.h"

/* Sets or reads a task's mode; a pidfd is the key of its map. */
static int task_mode(struct session *session, pid_t pid, bool arm, uint32_t *mode)
{
	int map = bpf_map__fd(session->skeleton->maps.tasks);
	int pidfd = syscall(SYS_pidfd_open, pid, 0), err;

	if (pidfd < 0)
		return -errno;
	err = arm ? bpf_map_update_elem(map, &pidfd, mode, BPF_ANY)
		  : bpf_map_lookup_elem(map, &pidfd, mode);
	if (err)
		err = -errno;
	close(pidfd);
	return err;
}

int session_arm(struct session *session, pid_t pid)
{
	uint32_t mode = TASK_ARMED;

	return task_mode(session, pid, true, &mode);
}

int session_attach(struct session *session, const int *pidfds, size_t count, size_t *processes,
		   size_t *threads)
{
	int err;

	if (!probes_chosen(&session->choice, "fl_arm")) {
		log_error("this kernel has no task iterator; cannot attach to running processes");
		return -ENOTSUP;
	}
	err = arming_open(&session->arming, session->skeleton);
	for (size_t i = 0; i < count && !err; i++) {
		err = arming_mark(session->arming, pidfds[i]);
		if (err == -ENOENT || err == -ESRCH)
			err = 0; /* it has ended */
	}
	if (!err)
		err = arming_run(session->arming, processes, threads);
	if (err)
		log_error("cannot attach to running processes: %s", strerror(-err));
	return err;
}

bool session_found(const struct session *session, int pidfd)
{
	return arming_found(session->arming, pidfd);
}

void session_each_attached(const struct session *session, void (*take)(void *context, pid_t pid),
			   void *context)
{
	arming_each(session->arming, take, context);
}

uint64_t session_attached_ns(const struct session *session)
{
	return session->arming ? arming_begun_ns(session->arming) : 0;
}

bool session_follows(struct session *session, pid_t pid)
{
	uint32_t mode = TASK_IGNORED;

	return !task_mode(session, pid, false, &mode) && mode == TASK_FOLLOWED;
}
