# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for attaching to running processes: a storm of short-lived processes that counts
its reads from the moment it is recorded; and to CPUs that come online during the run."""
from job import VARIANTS, Job, attach_of, check, equal, fetched, file_row, reported_losses

UNTIMED = 1 << 8  # of faults, as in the man page of the trace format
COUNTED = 17  # length of reads that the workload counts

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
# A CPU that comes online after the start, and one that goes offline and back at once; operations
# that run only there, after the CPU was noticed where required.
CPUS = """cpu=/sys/devices/system/cpu/cpu1/online; [ -f $cpu ] || exit 77
head -c 1048576 /dev/urandom >/mnt/hot; for n in 1 2; do fresh /mnt/late$n 4; done; fresh /mnt/other 4
echo 2 >/proc/sys/kernel/perf_event_paranoid; echo 0 >$cpu; export cpu RUN; $RUN -- sh -c 'for n in 1 2; do echo 1 >$cpu
tries=600; [ -z "${RUN##*perf}" ] || tries=0; until [ "$(grep -c "CPU 1 came online" stderr)" = $n ] || [ $tries = 0 ]; do sleep 0.1; tries=$((tries - 1)); done
taskset 2 mapper random /mnt/late$n account-late$n /mnt/other || exit
hotread /mnt/hot account-hot$n 4 reads 500; echo 0 >$cpu; done; echo 1 >$cpu'; status=$?
echo 1 >$cpu 2>/dev/null; exit $status"""


def judge_present(results):
    report, counted = results.report(), int(results.text("counted") or 0)
    lost = reported_losses(results, report)
    reads = [row for row in results.printed("syscall")
             if row["op"] == "pread64" and row["asked"] == COUNTED]
    check(counted > 20, f"the workload has read {counted} times")
    check(counted - lost <= len(reads) <= counted, f"{len(reads)} of {counted} reads, {lost} lost")
    equal(report["trace"]["start"], "attach", "how the recording began")
    processes = {row["pid"] for row in reads}
    reported = f", {lost} events reported lost" * bool(lost)
    return f"{len(reads)} of {counted} reads by {len(processes)} processes{reported}"


def judge_cpus(results):
    """Operations on a new CPU are recorded as elsewhere, with fault times once it was noticed;
    faults without a time are flagged."""
    report = results.report()
    lost = reported_losses(results, report)
    for name in ("late1", "late2"):
        truth, row = results.account(f"account-{name}"), file_row(report, f"/mnt/{name}")
        reported = fetched(row), row["mmap"]["major"]
        done = truth["resident"] * truth["page_bytes"], truth["major"]
        check(reported == done or (lost and reported < done), f"(bytes, major faults) {reported}, done {done}")
    reads = sum(results.account(f"account-hot{n}")["reads"] for n in (1, 2))
    count = file_row(report, "/mnt/hot")["read"]["count"]
    check(count == reads or (lost and count < reads <= count + lost), f"{count} of {reads} reads")
    untimed = sum(row["flags"] & UNTIMED > 0 for row in results.printed("fault"))
    noticed = results.messages().count("CPU 1 came online")
    check("+perf" not in attach_of(report, "fault") or noticed >= 2, f"noticed {noticed} times")
    check(not untimed or lost or results.passed_over, f"{untimed} faults have no time")
    check(not untimed or "faults" in [row["id"] for row in report["caveats"]],
          f"{untimed} faults have no time, and no caveat says so")
    return f"{count} reads and all faults, {untimed} of them without their time, lost {lost}"


def for_kernel(quick):
    """The jobs for a supported kernel."""
    jobs = [Job("task", "chosen", name, script, judge_present)
            for name, script in (("attach-pid", PROCESS), ("attach-cgroup", GROUP),
                                 ("attach-all", MACHINE))]
    return jobs + [Job("fault", v, "cpus", CPUS, judge_cpus) for v in VARIANTS["fault"]]
