/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The iterator arms tasks and lists those it armed in one go. Command lines and environments come
 * from /proc, which does not disturb the processes.
 */
#include "capture/session/arming.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collections/compare.h"
#include "bpf/faultline.skel.h"
#include "capture/host/host.h"
#include "capture/names/names.h"
#include "capture/host/proc.h"
#include "collections/grow.h"
#include "base/log.h"

#define ENVIRON_BYTES (128u << 10) /* searched per environment */
#define PASSES_MAX 32 /* followed tasks arm their children, so passes end long before */

/* A process already recorded. Pids are reused, so its start time is part of the key. */
struct reported {
	uint64_t started_ns;
	uint32_t pid;
};

struct arming {
	struct faultline *skeleton;
	struct bpf_link *link;
	uint64_t begun_ns, unarmed;
	struct attach_row *rows; /* not recorded yet */
	size_t row_count, row_room;
	struct reported *reported;
	size_t reported_count, reported_room;
	size_t present;	  /* number of leading rows that arming_run found */
	uint64_t records; /* passed on */
	struct reported_text *texts;
};

/* Read from /proc while privileges allow it. */
struct reported_text {
	size_t command_bytes, environ_bytes;
	char *command, *environ;
};

int arming_open(struct arming **out, struct faultline *skeleton)
{
	struct arming *arming = calloc(1, sizeof(*arming));
	int err;

	if (!arming)
		return -ENOMEM;
	arming->skeleton = skeleton;
	arming->link = bpf_program__attach_iter(skeleton->progs.fl_arm, NULL);
	if (!arming->link) {
		err = -errno;
		free(arming);
		return err;
	}
	*out = arming;
	return 0;
}

void arming_close(struct arming *arming)
{
	if (!arming)
		return;
	bpf_link__destroy(arming->link);
	for (size_t i = 0; arming->texts && i < arming->row_count; i++) {
		free(arming->texts[i].command);
		free(arming->texts[i].environ);
	}
	free(arming->texts);
	free(arming->rows);
	free(arming->reported);
	free(arming);
}

int arming_mark(struct arming *arming, int pidfd)
{
	uint32_t mark = ATTACH_NAMED;

	if (bpf_map_update_elem(bpf_map__fd(arming->skeleton->maps.attach_marks), &pidfd, &mark,
				BPF_ANY))
		return -errno;
	return 0;
}

bool arming_found(const struct arming *arming, int pidfd)
{
	uint32_t mark = ATTACH_NOT_NAMED;

	bpf_map_lookup_elem(bpf_map__fd(arming->skeleton->maps.attach_marks), &pidfd, &mark);
	return mark == ATTACH_MET;
}

/* --- passes --- */

/* Appends the rows of one pass. */
static int read_rows(struct arming *arming, int fd)
{
	char buffer[256 * sizeof(struct attach_row)];
	size_t held = 0;
	ssize_t got;

	for (;;) {
		size_t whole;

		got = read(fd, buffer + held, sizeof(buffer) - held);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		held += got;
		whole = held / sizeof(struct attach_row);
		if (whole && !GROW(arming->rows, arming->row_room, arming->row_count + whole))
			return -ENOMEM;
		memcpy(arming->rows + arming->row_count, buffer, whole * sizeof(*arming->rows));
		arming->row_count += whole;
		held -= whole * sizeof(struct attach_row);
		memmove(buffer, buffer + whole * sizeof(struct attach_row), held);
	}
}

/* *found receives the number of newly followed tasks. */
static int make_pass(struct arming *arming, uint64_t *found)
{
	struct faultline__bss *counts = arming->skeleton->bss;
	int fd = bpf_iter_create(bpf_link__fd(arming->link)), err;

	if (fd < 0)
		return -errno;
	counts->attach_found = counts->attach_unarmed = 0;
	counts->attach_pass_ns = host_now_ns();
	__sync_synchronize();
	err = read_rows(arming, fd);
	close(fd);
	__sync_synchronize();
	*found = counts->attach_found;
	arming->unarmed = counts->attach_unarmed;
	return err;
}

COMPARE_BY(compare_rows, struct attach_row,
	   COMPARE(a->pid, b->pid) ?:
	   COMPARE(a->started_ns, b->started_ns) ?:
	   COMPARE(a->armed_ns, b->armed_ns))

COMPARE_BY(compare_reported, struct reported,
	   COMPARE(a->pid, b->pid) ?: COMPARE(a->started_ns, b->started_ns))

static bool was_reported(const struct arming *arming, const struct reported *one)
{
	return arming->reported_count && bsearch(one, arming->reported, arming->reported_count,
						 sizeof(*one), compare_reported);
}

/* Keeps one row per process not recorded yet, and marks these processes as recorded. */
static int keep_processes(struct arming *arming)
{
	size_t kept = 0, known = arming->reported_count;

	if (!arming->row_count)
		return 0;
	qsort(arming->rows, arming->row_count, sizeof(*arming->rows), compare_rows);
	for (size_t i = 0; i < arming->row_count; i++) {
		const struct attach_row *row = &arming->rows[i];
		const struct reported one = { row->started_ns, row->pid };

		if ((kept && arming->rows[kept - 1].pid == row->pid &&
		     arming->rows[kept - 1].started_ns == row->started_ns) ||
		    was_reported(arming, &one))
			continue;
		if (!GROW(arming->reported, arming->reported_room, known + 1))
			return -ENOMEM;
		arming->reported[known++] = one;
		arming->rows[kept++] = *row;
	}
	arming->row_count = kept;
	arming->reported_count = known;
	qsort(arming->reported, known, sizeof(*arming->reported), compare_reported);
	return 0;
}

/* --- command lines and environments --- */

static void read_texts(const struct attach_row *row, struct reported_text *text)
{
	uint32_t pid = proc_is_of_kernel_side() ? row->pid : row->local_pid;

	if (!pid)
		return;
	text->command = proc_arguments(pid, EVENT_COMMAND_BYTES, &text->command_bytes);
	text->environ = proc_read(pid, "environ", ENVIRON_BYTES, &text->environ_bytes);
}

int arming_run(struct arming *arming, size_t *processes, size_t *threads)
{
	uint64_t found = 1;
	int err = 0;

	*processes = *threads = 0;
	arming->begun_ns = host_now_ns();
	arming->skeleton->bss->attach_arming = true;
	for (int i = 0; i < PASSES_MAX && !err && (found || arming->unarmed || i < 2); i++) {
		err = make_pass(arming, &found);
		log_debug("pass %d over tasks: %llu armed", i + 1, (unsigned long long)found);
		*threads += found;
	}
	/* Followed tasks pass it on from here; ancestors are no longer searched. */
	arming->skeleton->bss->attach_arming = false;
	if (!err)
		err = keep_processes(arming);
	if (!err && !*threads && arming->unarmed)
		err = -ENOMEM;
	if (err)
		return err;
	*processes = arming->present = arming->row_count;
	arming->texts = calloc(arming->row_count + 1, sizeof(*arming->texts));
	for (size_t i = 0; arming->texts && i < arming->row_count; i++)
		read_texts(&arming->rows[i], &arming->texts[i]);
	return arming->texts ? 0 : -ENOMEM;
}

uint64_t arming_begun_ns(const struct arming *arming)
{
	return arming->begun_ns;
}

void arming_each(const struct arming *arming, void (*take)(void *context, pid_t pid), void *context)
{
	for (size_t i = 0; i < arming->present; i++)
		take(context, arming->rows[i].pid);
}

/* --- records --- */

static void fill_header(struct event_header *header, const struct attach_row *row, uint16_t kind,
			size_t size)
{
	*header = (struct event_header) {
		.time_ns = row->armed_ns,
		.kind = kind,
		.size = size,
		.pid = row->pid,
		.tid = row->tid,
	};
}

static void emit(struct arming *arming, const struct attach_row *row,
		 const struct reported_text *text, uint32_t flags, ring_record_fn take,
		 void *context)
{
	_Alignas(8) char memory[sizeof(struct event_exec) + EVENT_COMMAND_BYTES];
	struct event_exec *record = (struct event_exec *)memory;

	memset(record, 0, sizeof(*record));
	fill_header(&record->header, row, RECORD_EXEC, sizeof(*record) + text->command_bytes);
	record->started_ns = row->started_ns;
	record->cgroup_id = row->cgroup_id;
	record->cgroup_set = row->cgroup_set;
	record->ppid = row->ppid;
	record->uid = row->uid;
	names_find_ranks(text->environ, text->environ_bytes, &record->ranks);
	memcpy(record->comm, row->comm, sizeof(record->comm));
	record->command_bytes = text->command_bytes;
	record->flags = flags;
	if (text->command_bytes)
		memcpy(record->command, text->command, text->command_bytes);
	take(context, 0, record, record->header.size);
	arming->records++;
}

static void free_texts(struct reported_text *text)
{
	free(text->command);
	free(text->environ);
	*text = (struct reported_text) { 0 };
}

/* Finds threads of processes that joined later, and processes that joined by themselves. */
static void search_again(struct arming *arming)
{
	uint64_t found;
	int err;

	arming->skeleton->bss->attach_again = false;
	__sync_synchronize();
	err = make_pass(arming, &found);
	if (!err)
		err = keep_processes(arming);
	if (err)
		log_warning("cannot search for processes that joined: %s", strerror(-err));
}

size_t arming_drain(struct arming *arming, ring_record_fn take, void *context)
{
	size_t reported = 0;

	if (!arming->row_count && arming->skeleton->bss->attach_again)
		search_again(arming);
	for (; reported < arming->row_count; reported++) {
		struct reported_text late = { 0 },
				     *text = arming->texts ? &arming->texts[reported] : &late;
		uint32_t flags = arming->texts ? TRACE_EXEC_PRESENT : TRACE_EXEC_JOINED;

		if (!arming->texts)
			read_texts(&arming->rows[reported], text);
		emit(arming, &arming->rows[reported], text, flags, take, context);
		free_texts(text);
	}
	free(arming->texts);
	arming->texts = NULL;
	arming->row_count = arming->present = 0;
	return reported;
}

void arming_count(const struct arming *arming, struct kind_total *kinds, uint64_t *notes)
{
	kinds[RECORD_EXEC].events += arming->records;
	notes[NOTE_UNFOLLOWED] += arming->unarmed;
}
