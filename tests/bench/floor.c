// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Runs a command under empty BPF programs attached where a tracer attaches: a lower bound for any
 * tracer of system calls and faults, or (`switch`) of context switches and wake-ups. With `clock`,
 * each program reads the clock once, as durations require.
 *
 * usage: floor empty|clock|switch COMMAND [ARGUMENT...]
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int load(enum bpf_prog_type type, int btf_id, bool clock)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);

	if (type == BPF_PROG_TYPE_TRACING) {
		options.expected_attach_type = BPF_TRACE_RAW_TP;
		options.attach_btf_id = btf_id;
	}
	return bpf_prog_load(type, "fl_floor", "GPL", clock ? code : code + 1, clock ? 3 : 2,
			     &options);
}

static int attach_tracepoint(struct btf *btf, const char *name, bool clock)
{
	char type[64];
	int id, program;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	program = id < 0 ? -1 : load(BPF_PROG_TYPE_TRACING, id, clock);
	return program < 0 ? -1 : bpf_raw_tracepoint_open(NULL, program);
}

static int attach_fault_end(unsigned long config, int cpu, bool clock)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int program = load(BPF_PROG_TYPE_PERF_EVENT, 0, clock);

	if (fd < 0 || program < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program))
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

static int attach_switch(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	return !btf || attach_tracepoint(btf, "sched_switch", false) < 0 ||
	       attach_tracepoint(btf, "sched_waking", false) < 0;
}

static int attach(bool clock)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf || attach_tracepoint(btf, "sys_enter", clock) < 0 ||
	    attach_tracepoint(btf, "sys_exit", clock) < 0 ||
	    attach_tracepoint(btf, "page_fault_user", clock) < 0 ||
	    attach_tracepoint(btf, "page_fault_kernel", clock) < 0)
		return -1;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		if (attach_fault_end(PERF_COUNT_SW_PAGE_FAULTS_MAJ, cpu, clock) ||
		    attach_fault_end(PERF_COUNT_SW_PAGE_FAULTS_MIN, cpu, clock))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: floor empty|clock|switch COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (!strcmp(argv[1], "switch") ? attach_switch() : attach(!strcmp(argv[1], "clock"))) {
		perror("floor: cannot attach");
		return 125;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("floor");
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
