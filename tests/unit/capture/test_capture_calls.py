#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Every system call in the headers is either recorded or listed here as one that moves no file
data. If this fails for a new call, decide which it is."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

# They take no file, or do not read, write or wait for storage.
NO_FILE = set("""
    accept accept4 add_key adjtimex alarm arch_prctl bind bpf brk capget capset clock_adjtime clock_getres
    clock_gettime clock_nanosleep clock_settime clone clone3 connect epoll_create epoll_create1 epoll_ctl
    epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 exit exit_group fork
    futex futex_requeue futex_wait futex_waitv futex_wake get_mempolicy get_robust_list get_thread_area getcpu
    getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom
    getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid ioperm iopl
    ioprio_get ioprio_set kcmp keyctl kill landlock_add_rule landlock_create_ruleset landlock_restrict_self
    listen lsm_get_self_attr lsm_list_modules lsm_set_self_attr map_shadow_stack membarrier memfd_create
    memfd_secret modify_ldt mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mseal msgctl
    msgget msgrcv msgsnd nanosleep pause perf_event_open personality pidfd_getfd pidfd_open pidfd_send_signal
    pipe pipe2 pkey_alloc pkey_free poll ppoll prctl prlimit64 pselect6 reboot recvfrom recvmmsg recvmsg
    request_key restart_syscall riscv_flush_icache riscv_hwprobe rseq rt_sigaction rt_sigpending rt_sigprocmask
    rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
    sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp
    select semctl semget semop semtimedop sendmmsg sendmsg sendto set_mempolicy set_mempolicy_home_node
    set_robust_list set_thread_area set_tid_address setdomainname setfsgid setfsuid setgid setgroups sethostname
    setitimer setns setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt
    settimeofday setuid shmctl shmget shutdown sigaltstack signalfd signalfd4 socket socketpair sysinfo syslog
    tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create
    timerfd_gettime timerfd_settime times tkill umask uname unshare uretprobe userfaultfd vfork vhangup wait4
    waitid
""".split())
# They change mappings or memory placement: no bytes of files move.
MEMORY_ONLY = set("""
    mbind migrate_pages mincore move_pages mprotect munlock munlockall pkey_mprotect process_mrelease shmat shmdt
""".split())
# About descriptors and names, without accessing storage beyond the path lookup.
NAMES_ONLY = set("""
    chdir chroot dup dup2 dup3 fanotify_init fanotify_mark fchdir file_getattr file_setattr getcwd inotify_add_watch
    inotify_init inotify_init1 inotify_rm_watch cachestat io_cancel io_destroy io_setup io_uring_register ustat
""".split())
# Administration: mounts, swap, kernel images, the memory of other processes.
ADMINISTRATION = set("""
    acct delete_module finit_module fsconfig fsmount fsopen fspick init_module kexec_file_load kexec_load listmount
    lookup_dcookie mount mount_setattr move_mount open_tree open_tree_attr pivot_root ptrace quotactl quotactl_fd
    statmount swapoff swapon sysfs umount2
""".split())
# Numbers of removed calls.
GONE = set("""
    _sysctl afs_syscall create_module get_kernel_syms getpmsg nfsservctl putpmsg query_module security tuxcall
    uselib vserver
""".split())


def names_of_headers():
    made = subprocess.run(["cpp", "-dM"], input=b"#include <asm/unistd.h>\n", stdout=subprocess.PIPE, check=True)
    return set(re.findall(r"#define __NR_(\w+) ", made.stdout.decode()))


def main():
    with open(os.path.join(TOP, "user/capture/calls/calls.c")) as file:
        recorded = set(re.findall(r"^\s*(?:CALL|REQUEST)\((\w+),", file.read(), re.M))
    groups = [recorded, NO_FILE, MEMORY_ONLY, NAMES_ONLY, ADMINISTRATION, GONE]
    names, failed = names_of_headers(), False
    if len(names) < 200:
        sys.exit("the headers have no system calls")
    for name in sorted(names):
        found = sum(name in group for group in groups)
        if found != 1 and not name.startswith(("syscalls", "arch_specific")):
            print(f"{name} is in {found} lists; it belongs in exactly one")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
