/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Answers waiting programs first, then inspects what the kernel side has reported. */
#include "capture/markers/listener.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/markers/clients.h"
#include "capture/host/helper.h"
#include "capture/host/maps.h"
#include "capture/markers/interpreters.h"
#include "capture/markers/marker_files.h"
#include "capture/markers/marker_programs.h"
#include "capture/host/privileges.h"
#include "span/tracer.h"

#define PRIORITY (-10) /* programs wait for us */

struct state {
	const struct listener *listener;
	struct uprobes uprobes;
	struct marker_files *files;
	struct marker_programs *programs;
	struct marker_programs *unseen; /* that had exited or unmapped the file */
	struct clients clients;
	struct interpreters interpreters;
	bool spans; /* the span layer is on */
	int heard;  /* rounds with a connection or request since the last answer */
};

/* --- mappings --- */

/* Finds the mapping at an address, as its name in /proc/PID/map_files. */
static bool find_mapping(pid_t pid, uint64_t address, char *path, size_t size)
{
	struct mapping mapping;
	bool found = false;
	struct maps maps;

	maps_open(&maps, pid);
	while (!found && maps_next(&maps, &mapping))
		found = address >= mapping.start && address < mapping.end;
	maps_close(&maps);
	if (found)
		snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping.start,
			 mapping.end);
	return found;
}

static int open_mapped(pid_t pid, uint64_t address)
{
	char path[128];

	return find_mapping(pid, address, path, sizeof(path)) ? marker_files_open(path) : -ENOENT;
}

static int open_program(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return marker_files_open(path);
}

static int open_mapping(const struct code_mapping *mapping)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	char path[128];
	int fd;

	if (!mapping->address)
		return open_program(mapping->pid);
	snprintf(
		path, sizeof(path), "/proc/%u/map_files/%llx-%llx", mapping->pid,
		(unsigned long long)mapping->address,
		(unsigned long long)(mapping->address + (mapping->bytes + page - 1) / page * page));
	fd = marker_files_open(path);
	/* Without CAP_SYS_ADMIN. Most interpreters are programs, not libraries. */
	if (fd == -EPERM && mapping->python.ino)
		return open_program(mapping->pid);
	/* The mapping may have been split or merged. */
	return fd == -ENOENT ? open_mapped(mapping->pid, mapping->address) : fd;
}

/* Counts a refused file, and keeps the reason for the first one. */
static void emit_refused(struct state *state, struct marker_file *file, int fd)
{
	struct listener_status *status = state->listener->status;
	char link[64];
	ssize_t length;

	if (!file || !file->status || file->reported)
		return;
	file->reported = true;
	if (atomic_fetch_add(&status->refused_files, 1))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, status->refused_path, sizeof(status->refused_path) - 1);
	status->refused_path[length > 0 ? length : 0] = 0;
	atomic_store(&status->refused_status, file->status);
}

static void examine(struct state *state, const struct code_mapping *mapping, int fd)
{
	struct marker_file *file;

	if (!marker_files_known(state->files, fd, &file) || !file)
		return;
	emit_refused(state, file, fd);
	if (file->status || mapping->time_ns < file->since_ns)
		marker_programs_set(state->programs, mapping->pid, file->number, PROGRAM_LATE);
}

/* --- requests --- */

static void accept_client(struct state *state)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fd = accept4(state->listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	/* Anyone may connect; only followed processes are served. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0 ||
	    !session_follows(state->listener->session, peer.pid))
		close(fd);
	else
		clients_add(&state->clients, fd, peer.pid);
}

/* Receives a request for the file mapped at the given address. Returns false if it is invalid. */
static bool receive(struct state *state, struct client *client)
{
	struct tracer_ask question;
	ssize_t got = recv(client->fd, &question, sizeof(question), 0);
	int file;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got != sizeof(question) || question.magic != TRACER_MAGIC)
		return false;
	file = open_mapped(client->pid, question.address);
	clients_request(client, file, file < 0 ? 0 : marker_files_cost(state->files, file));
	return true;
}

/* Attaches to the requested file. */
static int listen_to(struct state *state, const struct client *client, struct marker_file **file)
{
	if (client->file < 0)
		return client->file;
	*file = marker_files_attach(state->files, client->file);
	emit_refused(state, *file, client->file);
	return *file ? (*file)->status : -ENOENT;
}

static void answer(struct state *state, struct client *client)
{
	struct tracer_answer reply = { .magic = TRACER_MAGIC };
	struct marker_file *file = NULL;

	reply.status = listen_to(state, client, &file);
	/* The client may have stopped waiting. */
	if (send(client->fd, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply))
		reply.status = -ETIMEDOUT;
	if (file)
		marker_programs_set(state->programs, client->pid, file->number,
				    reply.status ? PROGRAM_LATE : PROGRAM_ASKED);
	clients_drop(&state->clients, client);
}

/*
 * Receives requests, and answers the client whose turn it is. Returns false if nothing was received
 * or answered. If no client waits for an answer, waits up to `wait_ms` (-1: forever) for requests
 * or mappings.
 */
static bool answer_clients(struct state *state, int wait_ms)
{
	struct clients *clients = &state->clients;
	struct pollfd wait[2 + CLIENTS_MAX] = {
		{ .fd = state->listener->mappings, .events = POLLIN },
		{ .fd = clients_have_room(clients) ? state->listener->socket : -1,
		  .events = POLLIN },
	};
	size_t count = clients->count;
	bool heard;

	for (size_t i = 0; i < count; i++)
		wait[2 + i] =
			(struct pollfd) { .fd = clients->all[i].has_request ? -1
									    : clients->all[i].fd,
					  .events = POLLIN };
	if (poll(wait, 2 + count, clients_next(clients) ? 0 : wait_ms) < 0)
		return false;
	heard = wait[1].revents;
	for (size_t i = count; i-- > 0;) { /* backward: dropping one moves later ones */
		if (!wait[2 + i].revents)
			continue;
		heard = true;
		if (!receive(state, &clients->all[i]))
			clients_drop(clients, &clients->all[i]);
	}
	if (wait[1].revents)
		accept_client(state);
	/* Receives all pending requests first: the last one may be the cheapest. */
	state->heard += heard;
	if (!clients_next(clients) || (heard && state->heard < CLIENTS_MAX))
		return heard;
	state->heard = 0;
	answer(state, clients_next(clients));
	return true;
}

/* --- mappings --- */

/* Inspects a mapped file that may be an interpreter. */
static void look_at_interpreter(struct state *state, const struct code_mapping *mapping, int fd)
{
	struct code_file file = mapping->python;
	struct stat status;

	/* The process may have mapped something else there by now. */
	if (!file.ino || fstat(fd, &status) || status.st_ino != file.ino)
		return;
	if (mapping->present) {
		file.generation = interpreters_generation(fd);
		/* First, so that children forked during the inspection inherit it. */
		interpreters_set_process(&state->interpreters, mapping->pid, &file,
					 mapping->address, fd);
	}
	interpreters_look(&state->interpreters, &file, fd);
}

static void take_mappings(struct state *state)
{
	struct code_mapping mappings[NOTES_BATCH_MAX];
	ssize_t got = read(state->listener->mappings, mappings, sizeof(mappings));
	int fds[NOTES_BATCH_MAX];
	size_t count, opened = 0;

	if (got == 0) {
		/* Releases waiting programs first: the kernel's cleanup takes long. */
		close(state->listener->socket);
		while (state->clients.count)
			clients_drop(&state->clients, state->clients.all);
		_exit(0);
	}
	count = got > 0 ? got / sizeof(mappings[0]) : 0;
	for (size_t i = 0; i < count; i++) {
		int fd = open_mapping(&mappings[i]);

		if (state->spans && (fd == -ENOENT || fd == -ESRCH))
			marker_programs_set(state->unseen, mappings[i].pid, 0, PROGRAM_LATE);
		if (fd < 0)
			continue; /* it is gone, or not a regular file */
		look_at_interpreter(state, &mappings[i], fd);
		if (!state->spans) {
			close(fd);
			continue;
		}
		mappings[opened] = mappings[i];
		fds[opened++] = fd;
	}
	marker_files_sift(state->files, fds, opened);
	for (size_t i = 0; i < opened; i++) {
		/* Programs wait for answers; nothing waits for the remaining mappings. */
		for (int n = 0; n < CLIENTS_MAX && answer_clients(state, 0); n++)
			;
		marker_files_attach(state->files, fds[i]);
		examine(state, &mappings[i], fds[i]);
		close(fds[i]);
	}
	state->listener->status->taken += count;
}

/* One round: requests and, only if there are none, mappings. */
static void serve(struct state *state)
{
	struct pollfd mappings = { .fd = state->listener->mappings, .events = POLLIN };

	if (!answer_clients(state, -1) && poll(&mappings, 1, 0) > 0)
		take_mappings(state);
}

/* --- the process --- */

/* Opens a file with the rights of the command's user. */
static int open_as_user(const struct listener *listener, const char *path)
{
	int fd, gid = setfsgid(listener->gid), uid = setfsuid(listener->uid);

	fd = marker_files_open(path);
	setfsuid(uid);
	setfsgid(gid);
	return fd;
}

/* The layout of a library is needed before a short program, or its first waits, are over. */
static void expect_library(struct state *state, int program)
{
	static const char *const directories[] = { "lib", "lib64" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		int fd = interpreters_library(program, directories[i], path)
				 ? open_as_user(state->listener, path)
				 : -ENOENT;

		if (fd < 0)
			continue;
		interpreters_expect(&state->interpreters, fd);
		close(fd);
	}
}

static void attach_expected(struct state *state)
{
	const struct listener *listener = state->listener;

	for (const char *const *path = listener->expected; *path; path++) {
		int fd = open_as_user(listener, *path);

		if (fd < 0)
			continue;
		interpreters_expect(&state->interpreters, fd);
		expect_library(state, fd);
		if (state->spans)
			emit_refused(state, marker_files_attach(state->files, fd), fd);
		close(fd);
	}
}

void listener_run(const struct listener *listener)
{
	struct session_markers markers = session_markers(listener->session);
	const int kept[] = {
		listener->socket,     listener->mappings,
		listener->ready,      markers.specs,
		markers.tasks,	      bpf_program__fd(markers.program),
		markers.python_files, markers.python_processes,
		markers.rows,
	};
	struct state *state = calloc(1, sizeof(*state));

	prctl(PR_SET_NAME, "faultline-spans");
	helper_keep_descriptors(kept, sizeof(kept) / sizeof(kept[0]));
	if (!state)
		_exit(1);
	if (setpriority(PRIO_PROCESS, 0, PRIORITY))
		errno = 0; /* then programs wait a little longer */
	privileges_keep_attaching();
	state->listener = listener;
	state->spans = markers.on;
	state->interpreters =
		(struct interpreters) { markers.python_files, markers.python_processes,
					&listener->status->interpreters };
	state->uprobes = (struct uprobes) { .program = markers.program,
					    .specs = markers.specs,
					    .rows = markers.rows,
					    .multi = markers.multi };
	state->files = marker_files_make(&state->uprobes);
	state->programs = marker_programs_make(&listener->status->unheard);
	state->unseen = marker_programs_make(&listener->status->unseen);
	if (!state->files || !state->programs || !state->unseen)
		_exit(1);
	attach_expected(state);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* only now: a change of user clears it */
	close(listener->ready);
	for (;;)
		serve(state);
}
