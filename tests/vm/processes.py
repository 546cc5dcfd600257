# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for processes: each is followed, however it was created, and reported once."""
from job import check, equal, file_row, reported_losses

READERS = """mkdir -p /mnt/readers; n=10000
for way in clone exec_chain fork leader_gone spawn thread_exec thread_fork vfork; do
head -c $n /dev/urandom >/mnt/readers/$way; n=$((n + 1000)); done
$RUN -- sh -c 'spawner /mnt/readers account && for i in $(seq 20); do /usr/bin/true; done'"""

# Two processes that use more memory than there is: than a cgroup may, and than the machine has.
OOM_LIMIT_MIB = 24
OOM = f"""mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir /sys/fs/cgroup/small || exit 77
echo {OOM_LIMIT_MIB}M >/sys/fs/cgroup/small/memory.max || exit 77
$RUN -- sh -c 'sh -c "echo \\$\\$ >/sys/fs/cgroup/small/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=64M count=1"; true'
grep -q "oom_kill 1" /sys/fs/cgroup/small/memory.events || exit 99
free=$(sed -n 's/^MemTotal: *\\([0-9]*\\) .*/\\1/p' /proc/meminfo)
free=$((free * 19 / 20)) # as much as the machine has would be refused
faultline run -q -o machine.flt -- sh -c "dd if=/dev/zero of=/dev/null bs=${{free}}k count=1; true" """


def judge_oom(results):
    """The limit is the cgroup's, unless the machine itself was out of memory."""
    equal(killed_at(results, "trace.flt"), [OOM_LIMIT_MIB << 20], "limit of the cgroup")
    limits = killed_at(results, "machine.flt")
    check(not limits or limits == [None], f"limit of the machine: {limits}")
    return f"{OOM_LIMIT_MIB} MiB, and {'none' if limits else 'nothing killed'}"


def killed_at(results, trace):
    """The memory limits in a trace's findings."""
    rows = [row for row in results.report(trace)["findings"] if row["id"] == "killed"]
    equal([row["evidence"]["oom"] for row in rows], [1] * len(rows), f"killed in {trace}")
    return [row["evidence"]["limit_bytes"] for row in rows]


def judge_processes(results):
    report, readers = results.report(), results.account()
    lost = reported_losses(results, report)
    listed = {row["pid"] for row in report["processes"]}
    for number, (way, pid) in enumerate(sorted(readers.items())):
        if not lost:
            row = file_row(report, f"/mnt/readers/{way}")
            equal(row["read"]["bytes"], 10000 + 1000 * number, f"bytes read by {way}")
        check(lost or pid in listed, f"process {pid} ({way}) is not listed")
    short = [row for row in report["processes"] if row["comm"] == "true"]
    check(len(short) + lost >= 20 >= len(short), f"{len(short)} short processes, {lost} lost")
    codes = {row["exit_code"] for row in short} - ({None} if lost else set())
    equal(codes, {0}, "exit codes of short processes")
    return f"{len(listed)} processes, each once{f', {lost} events reported lost' * bool(lost)}"
