/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tracer's side of the process that listens to markers. */
#include "capture/markers/markers.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collections/map.h"
#include "capture/follow/child.h"
#include "capture/follow/environment.h"
#include "capture/host/helper.h"
#include "capture/host/host.h"
#include "capture/host/maps.h"
#include "capture/markers/listener.h"
#include "capture/python/layout.h"
#include "base/log.h"
#include "span/tracer.h"

#define EXPECTED_MAX 32		  /* files to listen to before the command runs */
#define MAPPINGS_BYTES (1u << 20) /* of the pipe of pending mappings */
#define BACKLOG 4096		  /* programs that connect at once */
#define READY_MS 10000
#define LAST_MAPPINGS_MS 20 /* wait at the end for the last mappings */

struct markers {
	struct listener_status *status;
	pid_t pid;
	int mappings, ready;
	uint64_t reported;   /* mappings sent */
	uint64_t unreported; /* mappings that did not fit into the pipe */
	bool spans, stacks;  /* the layers are on */
	bool stopped, died;
	char address[TRACER_NAME_BYTES + 32];
	struct map mapped; /* files inspected in processes that already ran */
};

/* --- expected files --- */

struct expected {
	char *const *environment; /* of the command */
	const char *paths[EXPECTED_MAX + 1];
	size_t count;
};

static void __attribute__((format(printf, 2, 3)))
expect(struct expected *expected, const char *format, ...)
{
	va_list list;
	char *path;

	if (expected->count == EXPECTED_MAX)
		return;
	va_start(list, format);
	if (vasprintf(&path, format, list) >= 0)
		expected->paths[expected->count++] = path;
	va_end(list);
}

/* Expects a file in each directory of a variable like PATH. */
static void expect_in(struct expected *expected, const char *variable, const char *name)
{
	const char *at = environment_get(expected->environment, variable);

	while (at && *at) {
		int length = strcspn(at, ":");

		if (length)
			expect(expected, "%.*s/%s", length, at, name);
		at += length + (at[length] == ':');
	}
}

/* Expects the program that execvp() will find. */
static void expect_command(struct expected *expected, const char *command)
{
	const char *at = environment_get(expected->environment, "PATH");

	if (strchr(command, '/')) {
		expect(expected, "%s", command);
		return;
	}
	while (at && *at) {
		int length = strcspn(at, ":");
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.*s/%s", length, at, command);
		if (!access(path, X_OK)) {
			expect(expected, "%s", path);
			return;
		}
		at += length + (at[length] == ':');
	}
}

/* Expects our own library and Python module: in the build tree, and as installed. */
static void expect_own(struct expected *expected)
{
	static const char *const paths[] = {
		"libfaultline.so.0",
		"python/faultline/_core.abi3.so",
		"../lib/libfaultline.so.0",
		"../lib/faultline/python/faultline/_core.abi3.so",
	};
	char program[PATH_MAX];

	if (host_program_path(program))
		return;
	dirname(program);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		expect(expected, "%s/%s", program, paths[i]);
}

static void expected_fill(struct expected *expected, const char *command)
{
	if (command)
		expect_command(expected, command);
	expect_command(expected, "python3"); /* if the command is a script, for example */
	expect_own(expected);
	expect_in(expected, "PYTHONPATH", "faultline/_core.abi3.so");
	expect_in(expected, "LD_LIBRARY_PATH", "libfaultline.so.0");
}

static void expected_free(struct expected *expected)
{
	for (size_t i = 0; i < expected->count; i++)
		free((char *)expected->paths[i]);
}

/* --- start --- */

/* Opens a socket with an unguessable name, and writes its address in the format of tracer.h. */
static int open_socket(char *text, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[TRACER_NAME_BYTES];
	struct stat namespace;
	uint64_t random[2];
	int fd, length, err;

	if (stat("/proc/self/ns/net", &namespace) ||
	    getrandom(random, sizeof(random), 0) != sizeof(random))
		return -errno;
	length = snprintf(name, sizeof(name), "faultline-%d-%016llx%016llx", getpid(),
			  (unsigned long long)random[0], (unsigned long long)random[1]);
	snprintf(text, size, "%s@%llu", name, (unsigned long long)namespace.st_ino);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	memcpy(address.sun_path + 1, name, length);
	if (!bind(fd, (struct sockaddr *)&address,
		  offsetof(struct sockaddr_un, sun_path) + 1 + length) &&
	    !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void close_pair(const int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int start(struct markers **out, struct session *session, const struct child_user *user,
		 const char *command, char *const *environment)
{
	int mappings[2] = { -1, -1 }, ready[2] = { -1, -1 }, err = 0;
	struct markers *markers = calloc(1, sizeof(*markers));
	struct listener listener = { .session = session, .socket = -1 };
	struct expected expected = { .environment = environment };

	if (!markers)
		return -ENOMEM;
	map_init(&markers->mapped, 2, 0);
	markers->mappings = markers->ready = -1;
	markers->spans = session_choice(session)->on[LAYER_SPAN];
	markers->stacks = session_choice(session)->on[LAYER_STACK];
	markers->status = mmap(NULL, sizeof(*markers->status), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (markers->status == MAP_FAILED || pipe2(mappings, O_CLOEXEC) ||
	    pipe2(ready, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	fcntl(mappings[1], F_SETPIPE_SZ, MAPPINGS_BYTES); /* otherwise one page or sixteen */
	fcntl(mappings[1], F_SETFL, O_NONBLOCK);
	listener.socket = open_socket(markers->address, sizeof(markers->address));
	if (listener.socket < 0) {
		err = listener.socket;
		goto out;
	}
	expected_fill(&expected, command);
	listener.status = markers->status;
	listener.uid = user->uid;
	listener.gid = user->gid;
	listener.expected = expected.paths;
	listener.mappings = mappings[0];
	listener.ready = ready[1];
	markers->pid = helper_fork();
	if (!markers->pid)
		listener_run(&listener);
	if (markers->pid < 0) {
		err = -errno;
		goto out;
	}
	markers->mappings = mappings[1];
	markers->ready = ready[0];
	mappings[1] = ready[0] = -1;
	*out = markers;
out:
	expected_free(&expected);
	close_pair(mappings);
	close_pair(ready);
	if (listener.socket >= 0)
		close(listener.socket);
	if (err)
		markers_close(markers);
	return err;
}

int markers_start(struct markers **out, struct session *session, const struct child_user *user,
		  const char *command, char *const *environment)
{
	int err;

	if (!session_choice(session)->on[LAYER_SPAN] && !session_choice(session)->on[LAYER_STACK])
		return 0;
	err = start(out, session, user, command, environment);
	if (err)
		log_error("cannot start the listener: %s", strerror(-err));
	return err;
}

void markers_await(struct markers *markers)
{
	struct pollfd wait;
	int status;

	if (!markers)
		return;
	wait = (struct pollfd) { .fd = markers->ready };
	do
		status = poll(&wait, 1, READY_MS);
	while (status < 0 && errno == EINTR);
	if (status <= 0)
		log_warning("the listener is slow to start; some spans and stacks may be missing");
	close(markers->ready);
	markers->ready = -1;
}

const char *markers_address(const struct markers *markers)
{
	return markers->spans ? markers->address : NULL;
}

/* --- while it runs --- */

void markers_look(void *context, const struct code_mapping *mapping)
{
	struct markers *markers = context;

	if (markers->mappings < 0)
		return; /* the run has ended: nothing left to inspect */
	if (!markers->spans && !mapping->python.ino)
		return;
	if (write(markers->mappings, mapping, sizeof(*mapping)) == sizeof(*mapping))
		markers->reported++;
	else if (markers->spans || mapping->present) /* other interpreters are asked for again */
		markers->unreported++;
}

/* --- running processes --- */

#define MAPPED_MAX 65536

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static bool is_mapped_new(struct markers *markers, const struct mapping *file)
{
	const uint64_t key[] = { (uint64_t)file->major << 32 | file->minor, file->inode };
	bool added = true;

	if (markers->mapped.count == MAPPED_MAX)
		return !map_find(&markers->mapped, key);
	map_add(&markers->mapped, key, &added);
	return added;
}

/* Whether a path in /proc/PID/maps is that of a file that may be an interpreter. */
static bool is_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && python_layout_may_be(slash + 1);
}

/* Waits for room in the pipe: what a process has mapped already is not reported again. Waits no
 * more once that has failed. */
static void await_room(const struct markers *markers)
{
	struct pollfd wait = { .fd = markers->mappings, .events = POLLOUT };

	if (!markers->unreported)
		poll(&wait, 1, READY_MS);
}

/* Reports the code that a process has mapped: each file once, and interpreters for each process. */
static void examine(void *context, pid_t pid)
{
	struct mapping file, interpreter = { .inode = 0 };
	struct markers *markers = context;
	struct maps maps;

	maps_open(&maps, pid);
	while (maps_next(&maps, &file)) {
		struct code_mapping mapping = { .time_ns = UINT64_MAX, .pid = pid, .present = 1 };
		bool is_new;

		if (!file.inode || !file.code)
			continue;
		mapping.address = file.start;
		mapping.bytes = file.end - file.start;
		is_new = is_mapped_new(markers, &file);
		/* The first mapping of its code is where its addresses are counted from. */
		if (markers->stacks && is_interpreter(file.path) &&
		    !is_same_file(&interpreter, &file)) {
			interpreter = file;
			mapping.python =
				(struct code_file) { .ino = file.inode,
						     .dev = file.major << 20 | file.minor };
		}
		if (is_new || mapping.python.ino) {
			await_room(markers);
			markers_look(markers, &mapping);
		}
	}
	maps_close(&maps);
}

/* Returns the number of mappings not handled yet. */
static uint64_t waiting(const struct markers *markers)
{
	return markers->reported - atomic_load(&markers->status->taken);
}

/* Waits up to `most_ms` for all mappings to be handled. Returns whether they were. */
static bool await_mappings(const struct markers *markers, int max_ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int ms = 0; ms < max_ms && waiting(markers) && !markers->died; ms++)
		nanosleep(&pause, NULL);
	return !waiting(markers);
}

void markers_look_at_attached(struct markers *markers, const struct session *session)
{
	if (!markers)
		return;
	session_each_attached(session, examine, markers);
	markers_await(markers);
	if (!await_mappings(markers, READY_MS) || markers->unreported)
		log_warning("the listener is slow to start; some spans and stacks may be missing");
}

/* --- end --- */

static void say_refused_interpreters(const struct refused_interpreters *refused)
{
	for (uint32_t i = 0; i < atomic_load(&refused->count); i++)
		log_warning("stacks of %s are not recorded: %s", refused->files[i].path,
			    refused->files[i].status == -ENODATA ? "it has no symbols"
								 : "only " PYTHON_LAYOUTS
								   " is supported");
	if (atomic_load(&refused->more))
		log_warning("stacks of other interpreters are not recorded, either");
}

static void say_troubles(const struct markers *markers)
{
	const struct listener_status *status = markers->status;
	int refused = atomic_load(&status->refused_status);

	if (markers->died)
		log_error("the listener exited before the command; spans and stacks are missing");
	if (refused)
		log_warning("%s marks spans that cannot be recorded: %s%s", status->refused_path,
			    refused == -ENOSPC	  ? "too many files mark spans"
			    : refused == -E2BIG	  ? "it has too many probes or sections"
			    : refused == -ENOTSUP ? "its probes are not supported"
						  : strerror(-refused),
			    atomic_load(&status->refused_files) > 1
				    ? "; other files are affected, too"
				    : "");
	say_refused_interpreters(&status->interpreters);
	if (markers_unheard(markers))
		log_warning(
			"%llu times a program may have marked spans before the listener attached",
			(unsigned long long)markers_unheard(markers));
}

void markers_stop(struct markers *markers)
{
	if (!markers || markers->stopped || markers->pid <= 0)
		return;
	markers->died = waitpid(markers->pid, NULL, WNOHANG | __WCLONE) == markers->pid;
	markers->stopped = true;
	close(markers->mappings);
	markers->mappings = -1;
	await_mappings(markers, LAST_MAPPINGS_MS);
	say_troubles(markers);
}

uint64_t markers_unheard(const struct markers *markers)
{
	return markers && markers->spans ? atomic_load(&markers->status->unheard) +
						   markers->unreported + markers->died
					 : 0;
}

uint64_t markers_unseen(const struct markers *markers)
{
	return markers && markers->spans ? atomic_load(&markers->status->unseen) + waiting(markers)
					 : 0;
}

void markers_close(struct markers *markers)
{
	if (!markers)
		return;
	markers_stop(markers);
	if (markers->ready >= 0)
		close(markers->ready);
	if (markers->status && markers->status != MAP_FAILED)
		munmap(markers->status, sizeof(*markers->status));
	map_free(&markers->mapped);
	free(markers);
}
