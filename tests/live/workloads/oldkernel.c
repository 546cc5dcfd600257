// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Runs a command on a kernel that appears to lack some helpers: programs that call them are
 * rejected with such a kernel's verifier message, and so are programs by name. By default, the
 * helpers that loop are missing, as before 5.13. Everything else reaches the real kernel.
 *
 *   oldkernel [-f HELPER,HELPER...] [-p PROGRAM,PROGRAM...] COMMAND [ARG...]
 *
 * Helpers are given by their numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSNS_MAX 65536
#define LOOPS "164,181" /* bpf_for_each_map_elem, bpf_loop */

static const char *helpers = "", *programs = "";

static void die(const char *what)
{
	perror(what);
	exit(99);
}

/* Makes calls of bpf() wait for our decision. Returns the descriptor that reports them. */
static int listen_to_bpf(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	int fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			 &program);

	if (fd < 0)
		die("seccomp");
	return fd;
}

/* Whether the name is in a list, separated by commas. */
static int is_in(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; length && (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return 1;
	return 0;
}

/* Returns the first of the helpers that a program calls; 0: none. */
static int helper_called(int memory, const union bpf_attr *attr)
{
	static struct bpf_insn insns[INSNS_MAX];
	size_t count = attr->insn_cnt < INSNS_MAX ? attr->insn_cnt : INSNS_MAX;
	ssize_t got = pread(memory, insns, count * sizeof(insns[0]), attr->insns);

	for (size_t i = 0; got > 0 && i < got / sizeof(insns[0]); i++) {
		char number[16];

		snprintf(number, sizeof(number), "%d", insns[i].imm);
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
		    is_in(helpers, number))
			return insns[i].imm;
	}
	return 0;
}

static int is_refused(const struct seccomp_notif *call)
{
	union bpf_attr attr = { 0 };
	int memory, refused = 0, size;
	char path[64], said[96];

	if (call->data.args[0] != BPF_PROG_LOAD)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/mem", call->pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	if (memory < 0)
		die(path);
	if (pread(memory, &attr, offsetof(union bpf_attr, prog_ifindex), call->data.args[1]) > 0)
		refused = is_in(programs, attr.prog_name) ? 1 : helper_called(memory, &attr);
	size = snprintf(said, sizeof(said),
			"0: (95) exit\ninvalid func unknown#%d\nprocessed 1 insns\n", refused);
	if (refused && attr.log_buf && attr.log_size > (__u32)size &&
	    pwrite(memory, said, size + 1, attr.log_buf) < 0)
		die("log");
	close(memory);
	return refused;
}

static void answer(int listener)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp response = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return; /* the caller was killed */
	response.id = call.id;
	if (is_refused(&call))
		response.error = -EINVAL;
	else
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int argc, char **argv)
{
	pid_t helper, self = getpid();
	int listener;

	while (argc > 2 && (!strcmp(argv[1], "-f") || !strcmp(argv[1], "-p"))) {
		*(argv[1][1] == 'f' ? &helpers : &programs) = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (!helpers[0] && !programs[0])
		helpers = LOOPS;
	if (argc < 2)
		return 2;
	/* The command keeps our PID and the supervisor is a child, so that our parent waits for the
	 * command.
	 */
	listener = listen_to_bpf();
	helper = fork();
	if (helper < 0)
		die("fork");
	if (helper) {
		close(listener);
		execvp(argv[1], argv + 1);
		die(argv[1]);
	}
	while (getppid() == self) {
		struct timeval second = { 1, 0 };
		fd_set set;

		FD_ZERO(&set);
		FD_SET(listener, &set);
		if (select(listener + 1, &set, NULL, NULL, &second) > 0)
			answer(listener);
	}
	return 0;
}
