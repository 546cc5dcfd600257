// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Starts children in every way that C offers, each of which reads a file of its own.
 *
 *   spawner DIR OUT    DIR holds files named after the ways; OUT maps {way: PID of the reader}
 *   spawner --read FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "live.h"

extern char **environ;

static char path[600], self[600];

static void read_all(const char *name)
{
	char buffer[1000];
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		_exit(WORKLOAD_BROKEN);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static char **arguments(void)
{
	static char *list[] = { "spawner", "--read", path, NULL };

	return list;
}

static pid_t start_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		read_all(path);
		_exit(0);
	}
	return pid;
}

static pid_t start_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv(self, arguments());
		_exit(WORKLOAD_BROKEN);
	}
	return pid;
}

static pid_t start_spawn(void)
{
	pid_t pid;

	require(!posix_spawn(&pid, self, NULL, NULL, arguments(), environ));
	return pid;
}

/* Execs repeatedly before it reads. */
static pid_t start_exec_chain(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exec env READER=1 \"$0\" --read \"$1\"", self, path,
		      (char *)NULL);
		_exit(WORKLOAD_BROKEN);
	}
	return pid;
}

static int read_in_clone(void *argument)
{
	read_all(argument);
	return 0;
}

/* A process that shares its parent's memory and descriptors. */
static pid_t start_clone(void)
{
	const size_t stack = 256 << 10;
	char *memory =
		mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED);
	return clone(read_in_clone, memory + stack, CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD,
		     path);
}

static void *start_in_thread(void *argument)
{
	*(pid_t *)argument = start_fork();
	return NULL;
}

/* The new process is forked by a thread other than the leader. */
static pid_t start_thread_fork(void)
{
	pthread_t thread;
	pid_t pid;

	require(!pthread_create(&thread, NULL, start_in_thread, &pid));
	require(!pthread_join(thread, NULL));
	return pid;
}

static void *exec_in_thread(void *argument)
{
	(void)argument;
	execv(self, arguments());
	_exit(WORKLOAD_BROKEN);
}

/* A thread execs and takes over the PID of the leader, which is gone. */
static pid_t start_thread_exec(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		if (!pthread_create(&thread, NULL, exec_in_thread, NULL))
			pause();
		_exit(WORKLOAD_BROKEN);
	}
	return pid;
}

static void *read_in_thread(void *argument)
{
	(void)argument;
	usleep(100000);
	read_all(path);
	_exit(0);
}

/* A process whose main thread ends before the file is read. */
static pid_t start_leader_gone(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		if (!pthread_create(&thread, NULL, read_in_thread, NULL))
			pthread_exit(NULL);
		_exit(WORKLOAD_BROKEN);
	}
	return pid;
}

static const struct {
	const char *name;
	pid_t (*start)(void);
} ways[] = {
	{ "fork", start_fork },
	{ "vfork", start_vfork },
	{ "spawn", start_spawn },
	{ "exec_chain", start_exec_chain },
	{ "clone", start_clone },
	{ "thread_fork", start_thread_fork },
	{ "thread_exec", start_thread_exec },
	{ "leader_gone", start_leader_gone },
};

int main(int argc, char **argv)
{
	FILE *out;

	if (argc == 3 && !strcmp(argv[1], "--read")) {
		read_all(argv[2]);
		return 0;
	}
	require(argc == 3 && readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	out = fopen(argv[2], "w");
	require(out != NULL);
	fprintf(out, "{");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		pid_t pid;
		int status;

		snprintf(path, sizeof(path), "%s/%s", argv[1], ways[i].name);
		fflush(out);
		pid = ways[i].start();
		require(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
		fprintf(out, "%s\"%s\": %d", i ? ", " : "", ways[i].name, pid);
	}
	fprintf(out, "}\n");
	require(fclose(out) == 0);
	return 0;
}
