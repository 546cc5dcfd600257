/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Answers programs first, for they wait; then looks at what the kernel side has told. Knows nothing
 * of the trace.
 */
#include "capture/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/host.h"
#include "capture/marker_files.h"
#include "capture/marker_programs.h"
#include "capture/privileges.h"
#include "span/tracer.h"

#define PRIORITY (-10) /* programs wait for us */
#define ASKERS_MAX 128 /* that have connected and not asked yet */

struct asker {
	int fd;
	pid_t pid;
};

struct state {
	const struct listener *listener;
	struct uprobes uprobes;
	struct marker_files *files;
	struct marker_programs *programs;
	struct marker_programs *unseen; /* those that had gone, or had unmapped the file */
	struct asker askers[ASKERS_MAX];
	size_t asker_count;
};

/* --- what processes map --- */

/* The mapping at an address, as its name in /proc/PID/map_files. */
static bool find_mapping(pid_t pid, uint64_t address, char *path, size_t size)
{
	unsigned long long start, end;
	char *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *maps;

	snprintf(path, size, "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &room, maps) > 0)
		found = sscanf(line, "%llx-%llx", &start, &end) == 2 && address >= start &&
			address < end;
	free(line);
	if (maps)
		fclose(maps);
	if (found)
		snprintf(path, size, "/proc/%d/map_files/%llx-%llx", pid, start, end);
	return found;
}

static int open_mapped(pid_t pid, uint64_t address)
{
	char path[128];

	return find_mapping(pid, address, path, sizeof(path)) ? marker_files_open(path) : -ENOENT;
}

static int open_looked_at(const struct listener_look *look)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	char path[128];
	int fd;

	if (!look->address) {
		snprintf(path, sizeof(path), "/proc/%u/exe", look->pid);
		return marker_files_open(path);
	}
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", look->pid,
		 (unsigned long long)look->address,
		 (unsigned long long)(look->address + (look->bytes + page - 1) / page * page));
	fd = marker_files_open(path);
	/* It may have been split, or joined with its neighbour. */
	return fd == -ENOENT ? open_mapped(look->pid, look->address) : fd;
}

/* Counts a file that is refused, and keeps why the first one was. */
static void tell_refused(struct state *state, struct marker_file *file, int fd)
{
	struct listener_news *news = state->listener->news;
	char link[64];
	ssize_t length;

	if (!file || !file->status || file->told)
		return;
	file->told = true;
	if (atomic_fetch_add(&news->refused_files, 1))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, news->refused_path, sizeof(news->refused_path) - 1);
	news->refused_path[length > 0 ? length : 0] = 0;
	atomic_store(&news->refused_status, file->status);
}

static void look_at(struct state *state, const struct listener_look *look, int fd)
{
	struct marker_file *file;

	if (!marker_files_known(state->files, fd, &file) || !file)
		return;
	tell_refused(state, file, fd);
	if (file->status || look->time_ns < file->since_ns)
		marker_programs_set(state->programs, look->pid, file->number, PROGRAM_LATE);
}

static void take_looks(struct state *state)
{
	struct listener_look looks[NOTES_BATCH_MAX];
	ssize_t got = read(state->listener->looks, looks, sizeof(looks));
	int fds[NOTES_BATCH_MAX];
	size_t count, opened = 0;

	if (got == 0) {
		/* What programs wait for first, then all that the kernel takes its time for. */
		close(state->listener->asks);
		for (size_t i = 0; i < state->asker_count; i++)
			close(state->askers[i].fd);
		_exit(0);
	}
	count = got > 0 ? got / sizeof(looks[0]) : 0;
	for (size_t i = 0; i < count; i++) {
		int fd = open_looked_at(&looks[i]);

		if (fd == -ENOENT || fd == -ESRCH)
			marker_programs_set(state->unseen, looks[i].pid, 0, PROGRAM_LATE);
		if (fd < 0)
			continue; /* it has gone, or is no regular file */
		looks[opened] = looks[i];
		fds[opened++] = fd;
	}
	marker_files_attach_all(state->files, fds, opened);
	for (size_t i = 0; i < opened; i++) {
		look_at(state, &looks[i], fds[i]);
		close(fds[i]);
	}
	state->listener->news->taken += count;
}

/* --- what programs ask --- */

static void accept_askers(struct state *state)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(state->listener->asks, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	/* Anyone may connect; who is not ours is told nothing. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0 ||
	    !session_follows(state->listener->session, peer.pid)) {
		close(fd);
		return;
	}
	state->askers[state->asker_count++] = (struct asker) { fd, peer.pid };
}

/* Attaches to the file that is mapped where the program says. */
static int listen_to(struct state *state, const struct asker *asker, uint64_t address,
		     struct marker_file **file)
{
	int fd = open_mapped(asker->pid, address);

	if (fd < 0)
		return fd;
	*file = marker_files_attach(state->files, fd);
	tell_refused(state, *file, fd);
	close(fd);
	return *file ? (*file)->status : -ENOENT;
}

static void answer(struct state *state, struct asker *asker)
{
	struct tracer_answer reply = { .magic = TRACER_MAGIC };
	struct marker_file *file = NULL;
	struct tracer_ask question;
	ssize_t got = recv(asker->fd, &question, sizeof(question), 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == sizeof(question) && question.magic == TRACER_MAGIC) {
		reply.status = listen_to(state, asker, question.address, &file);
		/* One that did not wait so long goes without. */
		if (send(asker->fd, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply))
			reply.status = -ETIMEDOUT;
		if (file)
			marker_programs_set(state->programs, asker->pid, file->number,
					    reply.status ? PROGRAM_LATE : PROGRAM_ASKED);
	}
	close(asker->fd);
	asker->fd = -1;
}

static void drop_answered(struct state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < state->asker_count; i++)
		if (state->askers[i].fd >= 0)
			state->askers[kept++] = state->askers[i];
	state->asker_count = kept;
}

/* One round: whoever asks, and only if nobody does, what was told. */
static void serve(struct state *state)
{
	struct pollfd wait[2 + ASKERS_MAX];
	size_t askers = state->asker_count;
	bool asked = false;

	wait[0] = (struct pollfd) { .fd = state->listener->looks, .events = POLLIN };
	wait[1] = (struct pollfd) { .fd = state->listener->asks, .events = POLLIN };
	for (size_t i = 0; i < askers; i++)
		wait[2 + i] = (struct pollfd) { .fd = state->askers[i].fd, .events = POLLIN };
	if (poll(wait, 2 + askers, -1) < 0)
		return;
	for (size_t i = 0; i < askers; i++)
		if (wait[2 + i].revents) {
			answer(state, &state->askers[i]);
			asked = true;
		}
	drop_answered(state);
	/* Those that connect and do not ask must not keep others out. */
	if (state->asker_count == ASKERS_MAX) {
		close(state->askers[0].fd);
		state->askers[0].fd = -1;
		drop_answered(state);
	}
	if (wait[1].revents) {
		accept_askers(state);
		asked = true;
	}
	if (wait[0].revents && !asked)
		take_looks(state);
}

/* --- the process --- */

static int compare_fds(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

/* Keeps nothing open that is not needed: not the command's pipes, nor the trace, nor what whoever
 * waits for our caller's output waits for. */
static void close_others(const int *kept, size_t count)
{
	int sorted[16], from = 3, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	memcpy(sorted, kept, count * sizeof(*kept));
	qsort(sorted, count, sizeof(*sorted), compare_fds);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i] > from)
			syscall(SYS_close_range, from, sorted[i] - 1, 0);
		if (sorted[i] >= from)
			from = sorted[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

static void attach_expected(struct state *state)
{
	const struct listener *listener = state->listener;

	for (const char *const *path = listener->expected; *path; path++) {
		int fd, gid = setfsgid(listener->gid), uid = setfsuid(listener->uid);

		fd = marker_files_open(*path);
		setfsuid(uid);
		setfsgid(gid);
		if (fd < 0)
			continue;
		tell_refused(state, marker_files_attach(state->files, fd), fd);
		close(fd);
	}
}

void listener_run(const struct listener *listener)
{
	struct session_markers markers = session_markers(listener->session);
	const int kept[] = {
		listener->asks, listener->looks, listener->ready,
		markers.specs,	markers.tasks,	 bpf_program__fd(markers.program),
	};
	struct state *state = calloc(1, sizeof(*state));

	prctl(PR_SET_NAME, "faultline-spans");
	close_others(kept, sizeof(kept) / sizeof(kept[0]));
	if (!state)
		_exit(1);
	if (setpriority(PRIO_PROCESS, 0, PRIORITY))
		errno = 0; /* then programs wait a little longer */
	privileges_keep_attaching();
	state->listener = listener;
	state->uprobes = (struct uprobes) { .program = markers.program,
					    .specs = markers.specs,
					    .multi = markers.multi };
	state->files = marker_files_make(&state->uprobes);
	state->programs = marker_programs_make(&listener->news->unheard);
	state->unseen = marker_programs_make(&listener->news->unseen);
	if (!state->files || !state->programs || !state->unseen)
		_exit(1);
	attach_expected(state);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* now: a change of user would have cleared it */
	close(listener->ready);
	for (;;)
		serve(state);
}
