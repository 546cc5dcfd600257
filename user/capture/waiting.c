/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the iterator of calls in flight: its programs send records, the read itself has no bytes.
 */
#include "capture/waiting.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/faultline.skel.h"
#include "capture/host.h"
#include "log.h"

struct waiting {
	struct faultline *skeleton;
	struct bpf_link *link;
	int fd;
	uint64_t stopped_ns;
};

struct waiting *waiting_open(struct faultline *skeleton)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		goto fail;
	waiting->skeleton = skeleton;
	waiting->fd = -1;
	waiting->link = bpf_program__attach_iter(skeleton->progs.fl_waiting, NULL);
	if (!waiting->link)
		goto fail;
	waiting->fd = bpf_iter_create(bpf_link__fd(waiting->link));
	if (waiting->fd < 0)
		goto fail;
	return waiting;
fail:
	log_warning("calls in flight at the end of the recording cannot be recorded: %s",
		    strerror(errno));
	waiting_close(waiting);
	return NULL;
}

void waiting_stop(struct waiting *waiting)
{
	if (waiting && !waiting->stopped_ns)
		waiting->stopped_ns = host_now_ns();
}

void waiting_record(struct waiting *waiting, uint64_t end_ns)
{
	char nothing[64];
	ssize_t got;

	if (!waiting)
		return;
	if (waiting->stopped_ns && waiting->stopped_ns < end_ns)
		end_ns = waiting->stopped_ns;
	waiting->skeleton->bss->waiting_end_ns = end_ns;
	__sync_synchronize();
	do
		got = read(waiting->fd, nothing, sizeof(nothing));
	while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		log_warning("calls in flight at the end of the recording are missing: %s",
			    strerror(errno));
}

void waiting_close(struct waiting *waiting)
{
	if (!waiting)
		return;
	if (waiting->fd >= 0)
		close(waiting->fd);
	bpf_link__destroy(waiting->link);
	free(waiting);
}
