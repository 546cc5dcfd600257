# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Jobs of guests on attaching to what runs already: a storm of short processes that counts what it
reads from when it is told that it is recorded. Knows nothing of virtual machines."""
from jobs import Job, check, equal, told_losses

COUNTED = 17  # bytes that reads ask for which the workload counts

STORM = """head -c 65536 /dev/urandom >/mnt/present; head -c 4096 /dev/zero >/mnt/shared; echo 0 >ready
%(start)s & job=$!
until [ -n "$(dd if=/mnt/shared bs=1 skip=8 count=1 2>/dev/null | tr -d '\\0')" ]; do sleep 0.2; done
: >ready; /bin/faultline attach -v -o trace.flt %(to)s --ready-fd 3 3>ready & attached=$!
until [ -s ready ] || ! kill -0 $attached; do sleep 0.1; done
printf '\\001' | dd of=/mnt/shared bs=1 conv=notrunc 2>/dev/null; sleep 3
printf '\\001' | dd of=/mnt/shared bs=1 seek=4 conv=notrunc 2>/dev/null
wait $job; %(end)swait $attached"""
PRESENT = "present storm /mnt/present /mnt/shared >counted"
PROCESS = STORM % {"start": PRESENT, "to": "-p $job", "end": ""}
MACHINE = STORM % {"start": PRESENT, "to": "--all", "end": "kill -INT $attached; "}
GROUP = """mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; mkdir -p /sys/fs/cgroup/job/step
""" + STORM % {
    "start": "sh -c 'echo 0 >/sys/fs/cgroup/job/step/cgroup.procs; exec %s'" % PRESENT,
    "to": "--cgroup /sys/fs/cgroup/job",
    "end": "",
}


def judge_present(results):
    report, counted = results.report(), int(results.text("counted") or 0)
    lost = told_losses(results, report)
    reads = [row for row in results.printed("syscall")
             if row["op"] == "pread64" and row["asked"] == COUNTED]
    check(counted > 20, f"the workload has read {counted} times")
    check(counted - lost <= len(reads) <= counted, f"{len(reads)} of {counted} reads, {lost} lost")
    equal(report["trace"]["start"], "attach", "how the recording began")
    processes = {row["pid"] for row in reads}
    told = f", {lost} events told as lost" * bool(lost)
    return f"{len(reads)} of {counted} reads by {len(processes)} processes{told}"


def for_kernel(quick):
    """The jobs of a kernel that is supported."""
    return [Job("task", "chosen", name, script, judge_present)
            for name, script in (("attach-pid", PROCESS), ("attach-cgroup", GROUP),
                                 ("attach-all", MACHINE))]
