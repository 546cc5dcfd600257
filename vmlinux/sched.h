/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tasks, and what they belong to.
 */
#pragma once

#include "fs.h"
#include "mm.h"
#include "types.h"

/* Bits of a task's state. */
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_STOPPED 0x4u
#define TASK_TRACED 0x8u
#define TASK_WAKING 0x200u
#define TASK_FROZEN 0x8000u

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 */
} CORE_STRUCT;

/* How the kernel marks a task that is inside a 32-bit system call. */
#define X86_TS_COMPAT 0x2u
#define ARM64_TIF_32BIT (1ul << 22)

struct atomic {
	int counter;
} CORE_STRUCT;
typedef struct atomic atomic_t;

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;	  /* pages; set when the last thread exits */
	struct mm_struct *oom_mm; /* set once the OOM killer has chosen the process */
} CORE_STRUCT;

#define SIGNAL_GROUP_EXIT 0x4u
#define EXIT_STATUS_MASK 0xff /* of exit_group's argument */

struct sigaction {
	void *sa_handler; /* NULL: the default */
} CORE_STRUCT;

struct k_sigaction {
	struct sigaction sa;
} CORE_STRUCT;

struct kernel_siginfo;

/* The signals whose default neither ends a process nor dumps its core: continue and stop, and those
 * that are ignored. kernel/signal.c has them as masks, too. */
#define SIGNAL_BIT(signal) (1ull << ((signal)-1))
#define SIGNALS_HARMLESS                                                                           \
	(SIGNAL_BIT(17 /* CHLD */) | SIGNAL_BIT(18 /* CONT */) | SIGNAL_BIT(19 /* STOP */) |       \
	 SIGNAL_BIT(20 /* TSTP */) | SIGNAL_BIT(21 /* TTIN */) | SIGNAL_BIT(22 /* TTOU */) |       \
	 SIGNAL_BIT(23 /* URG */) | SIGNAL_BIT(28 /* WINCH */))
/* Signals that dump core. One thread receives it; the kernel ends the others by SIGKILL. */
#define SIGNALS_DUMPING                                                                            \
	(SIGNAL_BIT(3 /* QUIT */) | SIGNAL_BIT(4 /* ILL */) | SIGNAL_BIT(5 /* TRAP */) |           \
	 SIGNAL_BIT(6 /* ABRT */) | SIGNAL_BIT(7 /* BUS */) | SIGNAL_BIT(8 /* FPE */) |            \
	 SIGNAL_BIT(11 /* SEGV */) | SIGNAL_BIT(24 /* XCPU */) | SIGNAL_BIT(25 /* XFSZ */) |       \
	 SIGNAL_BIT(31 /* SYS */))
#define SIGNAL_KILL 9
#define SIGNAL_OF_STATUS(status) ((status)&0x7f)

struct linux_binprm {
	unsigned int secureexec : 1;
	unsigned int interp_flags;
} CORE_STRUCT;

/* The executing user may not read the program. */
#define BINPRM_FLAGS_ENFORCE_NONDUMP 0x1u

/* An io_uring worker, or a thread that polls rings. */
#define PF_IO_WORKER 0x10u
#define PF_EXITING 0x4u
#define PF_MEMALLOC 0x800u /* frees memory for its own allocation */
#define PF_KTHREAD 0x200000u

/* A PID in one of the namespaces of a process. */
struct upid {
	int nr;
} CORE_STRUCT;

struct pid {
	unsigned int level; /* level of the innermost namespace */
	struct upid numbers[1];
} CORE_STRUCT;

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
} CORE_STRUCT;

/* A program in the namespace sees the host's clock plus this offset. */
struct timens_offsets {
	struct timespec64 monotonic;
} CORE_STRUCT;

struct time_namespace {
	struct timens_offsets offsets;
} CORE_STRUCT;

struct nsproxy {
	struct time_namespace *time_ns;
} CORE_STRUCT;

struct sched_entity {
	__u64 sum_exec_runtime; /* ns on a CPU, up to the last tick or switch */
} CORE_STRUCT;

/* Present if the kernel has schedstats or delay accounting. */
struct sched_info {
	unsigned long pcount;	      /* how often it was on a CPU */
	unsigned long long run_delay; /* ns of waits for a CPU that have ended */
} CORE_STRUCT;

#ifdef __TARGET_ARCH_x86
struct thread_struct {
	unsigned long fsbase; /* the thread pointer */
} CORE_STRUCT;
#endif

/* Locks that lend the waiter's priority to the owner, since 5.15. */
struct rt_mutex_base {
	struct task_struct *owner; /* and flags in the lowest bits */
} CORE_STRUCT;

/* Before. */
struct rt_mutex___owner {
	struct task_struct *owner;
} CORE_STRUCT;

struct rt_mutex_waiter {
	struct rt_mutex_base *lock;
} CORE_STRUCT;

struct task_struct {
	struct thread_info thread_info;
	void *stack;	      /* lowest address */
	unsigned int __state; /* 0: running, or waiting for a CPU */
	unsigned int flags;
	unsigned int on_cpu; /* one byte on 7.2: only unsigned numbers are adapted */
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int in_iowait : 1;
	unsigned int in_memstall : 1; /* waits for memory, for the kernel's pressure figures */
	unsigned int frozen : 1;      /* by its cgroup */
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct rt_mutex_waiter *pi_blocked_on; /* NULL: on no such lock */
	void *worker_private;		       /* for an io worker: struct io_worker */
	__u64 start_time;		       /* CLOCK_MONOTONIC */
	__u64 utime, stime;		       /* ns; counted at ticks on most kernels */
	unsigned long min_flt, maj_flt;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct nameidata *nameidata; /* NULL: looks up no path */
	struct nsproxy *nsproxy;     /* NULL once the task has exited */
	struct signal_struct *signal;
	struct mm_struct *mm;
	const struct cred *real_cred;
	struct css_set *cgroups;
	void *bio_list; /* bios queued while the task submits one to a driver; else NULL */
#ifdef __TARGET_ARCH_x86
	struct thread_struct thread;
#endif
} CORE_STRUCT;

struct task_struct___kasan {
	unsigned int kasan_depth;
} CORE_STRUCT;

/* Context of an iter/task program, called for each task and once more at the end. */
struct bpf_iter_meta {
	struct seq_file *seq;
} CORE_STRUCT;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL: end of the iteration */
} CORE_STRUCT;
