# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs for the monitoring service: that it counts what strace counts, and what of it runs for a
neighbour whose calls do no I/O. Knows nothing of virtual machines."""
import re

from jobs import Job, check, equal, strace_counts

READS = ("read", "pread64", "readv", "preadv", "preadv2")
# Starts the service, and waits until it watches; %s: layers.
START = """faultline monitor -v --listen 127.0.0.1:9918 --layers %s --ready-fd 3 3>ready 2>>stderr &
pid=$!; until grep -q watching ready; do sleep 0.1; kill -0 $pid || exit; done"""
CALLS = f"""head -c 1048576 /dev/urandom >/mnt/hot; cd $OUT
strace -f -qq -c -U name,calls,errors -o strace hotread /mnt/hot account 3 reads 500 || exit
{START % "task,syscall,fault,pagecache"}
hotread /mnt/hot account 3 reads 500 || exit
sleep 0.1; wget -q -O metrics http://127.0.0.1:9918/metrics || exit
kill $pid; wait $pid"""
# How often programs of ours ran, by the kernel's own count, for so many calls.
NEIGHBOUR = """echo 1 >/proc/sys/kernel/bpf_stats_enabled
for layer in vfs syscall; do rm -f ready
%s
runs() { cat /proc/$pid/fdinfo/* | awk '/^run_cnt/ { all += $2 } END { print all + 0 }'; }
before=$(runs); neighbour asks 1 >asked || exit; echo "$before $(runs) $(cat asked)" >$layer
kill $pid; wait $pid || exit; done""" % (START % "task,$layer")


def told(metrics, name, **labels):
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(float(line.rsplit(" ", 1)[1]) for line in (metrics or "").splitlines()
               if line.startswith(name + "{") and all(text in line for text in wanted))


def judge_calls(results):
    theirs = strace_counts(results.text("strace"))
    expected = sum(theirs[call][0] for call in READS if call in theirs)
    check(expected >= 1500, f"strace counted {expected} reads: {results.said()}")
    ours = told(results.text("metrics"), "faultline_io_operations_total", command="hotread",
                op="read", door="syscall")
    if results.passed_over:
        check(expected * 0.9 <= ours <= expected, f"{ours} reads, strace's {expected}")
    else:
        equal(ours, expected, "reads, strace's")
    return f"{ours:.0f} reads as strace counts them"


def judge_neighbour(results):
    """By functions of the VFS nothing runs; by tracepoints of all calls two programs each."""
    share = {}
    for layer in ("vfs", "syscall"):
        before, after, _, ops = (float(word) for word in results.text(layer).split())
        check(ops > 100, f"{ops} calls")
        share[layer] = (after - before) / ops
    attached = results.attached()
    check(any(re.match(r"fl_.*read", name) for name in attached), f"attached: {attached}")
    check(share["syscall"] >= 1.8, f"system calls: {share['syscall']:.2f} programs a call")
    check(share["vfs"] < 0.1, f"VFS: {share['vfs']:.2f} programs a call")
    return (f"{share['vfs']:.3f} programs a getppid() by the VFS, {share['syscall']:.2f} by "
            "system calls")


def for_kernel(quick):
    return [Job("monitor", "chosen", "calls", CALLS, judge_calls),
            Job("monitor", "chosen", "neighbour", NEIGHBOUR, judge_neighbour)]
