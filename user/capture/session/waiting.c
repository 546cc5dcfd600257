/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads the iterators over operations in flight and threads: their programs send records, and the
 * reads themselves return no bytes.
 */
#include "capture/session/waiting.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "bpf/faultline.skel.h"
#include "capture/host/host.h"
#include "base/log.h"

struct iterator {
	struct bpf_link *link;
	int fd; /* -1: not open */
	const char *what;
};

struct waiting {
	struct faultline *skeleton;
	struct iterator calls, async, threads;
	uint64_t stopped_ns;
};

static void iterator_open(struct iterator *iterator, struct bpf_program *program, const char *what)
{
	iterator->what = what;
	iterator->link = bpf_program__attach_iter(program, NULL);
	if (iterator->link)
		iterator->fd = bpf_iter_create(bpf_link__fd(iterator->link));
	if (iterator->fd < 0)
		log_warning("%s will not be recorded: %s", what, strerror(errno));
}

static void iterator_read(const struct iterator *iterator)
{
	char nothing[64];
	ssize_t got;

	if (iterator->fd < 0)
		return;
	do
		got = read(iterator->fd, nothing, sizeof(nothing));
	while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		log_warning("%s are missing: %s", iterator->what, strerror(errno));
}

static void iterator_close(struct iterator *iterator)
{
	if (iterator->fd >= 0)
		close(iterator->fd);
	bpf_link__destroy(iterator->link);
}

struct waiting *waiting_open(struct faultline *skeleton, bool calls, bool async, bool threads)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		return NULL;
	waiting->skeleton = skeleton;
	waiting->calls.fd = waiting->async.fd = waiting->threads.fd = -1;
	if (calls)
		iterator_open(&waiting->calls, skeleton->progs.fl_waiting,
			      "operations in flight at the end");
	if (async)
		iterator_open(&waiting->async, skeleton->progs.fl_async_waits,
			      "asynchronous operations in flight at the end");
	if (threads)
		iterator_open(&waiting->threads, skeleton->progs.fl_threads,
			      "the last times of threads that outlive the recording");
	return waiting;
}

void waiting_stop(struct waiting *waiting)
{
	if (waiting && !waiting->stopped_ns)
		waiting->stopped_ns = host_now_ns();
}

void waiting_record(struct waiting *waiting, uint64_t end_ns)
{
	if (!waiting)
		return;
	if (waiting->stopped_ns && waiting->stopped_ns < end_ns)
		end_ns = waiting->stopped_ns;
	waiting->skeleton->bss->waiting_end_ns = end_ns;
	waiting->skeleton->bss->threads_end_ns = end_ns;
	__sync_synchronize();
	iterator_read(&waiting->calls);
	iterator_read(&waiting->async);
	iterator_read(&waiting->threads);
}

void waiting_close(struct waiting *waiting)
{
	if (!waiting)
		return;
	iterator_close(&waiting->calls);
	iterator_close(&waiting->async);
	iterator_close(&waiting->threads);
	free(waiting);
}
