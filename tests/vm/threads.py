# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Guest jobs for the time of threads: what each waited for and who ended it, and throttling for
memory and by a CPU quota."""
import collections

from job import check, equal

STATES = ("cpu", "runnable", "storage", "memory", "lock", "pipe", "child", "sleep", "device",
          "stopped", "other")
WAITS = "$RUN -- waits account"
# Ended by packets. Instead of the sender, a thread of the kernel (ksoftirqd) processes a packet that
# takes long, as the first one does in an emulated guest.
BY_PACKET = ("accept", "tcp")
MEMORY = """mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir /sys/fs/cgroup/few || exit 77
echo 4M >/sys/fs/cgroup/few/memory.high || exit 77
[ -e /proc/pressure/memory ] || exit 77
$RUN -- sh -c 'echo $$ >/sys/fs/cgroup/few/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=6M count=1'"""

# The kernel's own count is read around the recording, and by the command inside it.
QUOTA = """mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; half=/sys/fs/cgroup/half
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && mkdir $half || exit 77
echo 50000 100000 >$half/cpu.max && echo $$ >$half/cgroup.procs || exit 77
cat $half/cpu.stat >before
$RUN -- sh -c "cat $half/cpu.stat >first; i=0
while [ \\$i -lt 200000 ]; do i=\\$((i + 1)); done; cat $half/cpu.stat >last"
cat $half/cpu.stat >after"""


def times(results):
    """{thread: {state: ns}}, and its waits: each nanosecond is in one state."""
    sums, waits = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for row in results.printed("thread"):
        if row["kind"] == "wait":
            waits[row["tid"]].append(row)
            continue
        equal(sum(row[state] for state in STATES), row["dur_ns"], f"times of {row['tid']}")
        sums[row["tid"]].update({state: row[state] for state in STATES})
    return sums, waits


def judge_waits(results):
    """As tests/live/threads: the workload knows when it was certainly blocked. The sums are not
    compared: they follow the kernel's own counts, whose clock is coarse in an emulated guest."""
    (_, waits), cases = times(results), results.account()
    for case in cases:
        name, state, tid = case["name"], case["state"], case["tid"]
        if state == "storage":  # the thread's exit may wait for io_uring's workers
            found = [row for row in waits[tid] if row["time_ns"] < case["after"]]
            equal(found, [], f"waits of {name}")
            continue
        found = [row for row in waits[tid] if row["call"] in case["call"].split("|")]
        equal([row["state"] for row in found], [state], f"states of {name}")
        row, = found
        start, end = row["time_ns"], row["time_ns"] + row["dur_ns"]
        check(case["before"] <= start and case["ended"] <= end <= case["after"] and
              (start <= case["asleep"] or case["asleep"] == case["ended"]),
              f"{name}: {row} is not {case}")
        unknown = case["waker"][0] < 0 or (name in BY_PACKET and not row["waker_tid"])
        if not unknown:
            equal([row["waker_pid"], row["waker_tid"]], case["waker"], f"{name}: who ended it")
        equal(row["owner_tid"] or 0, case["owner"], f"{name}: who had the lock")
    check(len(cases) > 25, f"only {len(cases)} kinds of waits")
    return f"{len(cases)} kinds of waits as they were"


def judge_memory(results):
    sums, _ = times(results)
    memory = sum(states["memory"] for states in sums.values())
    check(memory, f"no time in memory: {[dict(states) for states in sums.values()]}")
    return f"{memory} ns in memory"


def judge_quota(results):
    before, first, last, after = (
        int(dict(line.split() for line in results.text(name).splitlines())["throttled_usec"]) * 1000
        for name in ("before", "first", "last", "after"))
    trace = results.report()["trace"]
    reported = trace["notes"]["cpu_throttled_ns"]
    equal(trace["cpu_limit"], 0.5, "CPUs that the quota allows")
    check(last > first, "the quota never held the job back")
    check(last - first <= reported <= after - before,
          f"{reported} ns throttled; the kernel counts {last - first} to {after - before}")
    return f"{reported} ns throttled"
