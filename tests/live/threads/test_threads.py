# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The time of threads in each state, against the kernel's schedstat, the clock around each wait, and
the lives and operations in the same trace."""
import collections
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Attached, Recording, account, machine

ALONE = True  # compares with the scheduler's counts, and waits for the kernel's log

STATES = ("cpu", "runnable", "storage", "memory", "lock", "pipe", "child", "sleep", "device",
          "stopped", "other")
UNFINISHED, BEFORE = 1, 2


def threads(*arguments):
    return [machine().program("threads"), *arguments]


def status(pid, tid=None):
    """The letter of a thread's state."""
    with open(f"/proc/{pid}/task/{tid or pid}/stat") as file:
        return file.read().rpartition(") ")[2][0]


def is_blocked(pid, tid=None):
    """Whether a thread has no CPU and is blocked: its status says so before it leaves the CPU."""
    with open(f"/proc/{pid}/task/{tid or pid}/syscall") as file:
        return not file.read().startswith("running")


def wait_for_status(pid, letters):
    """The time from which on the process is known to be in one of these states, and off CPU if it
    is not R."""
    if not harness.wait_until(lambda: status(pid) in letters):
        raise AssertionError(f"{pid} is in {status(pid)}, not in {letters}")
    if letters != "R" and not harness.wait_until(lambda: is_blocked(pid)):
        raise AssertionError(f"{pid} is not blocked")
    return time.monotonic_ns()


def totals_by(trace, key="tid"):
    """{thread or process: {state: ns}}, with io_wait."""
    sums = collections.defaultdict(collections.Counter)
    for row in trace.dicts("thread_time"):
        sums[row[key]].update({name: row[name] for name in (*STATES, "io_wait", "io", "dur")})
    return sums


class Threads(unittest.TestCase):
    def check_rows(self, trace):
        """Every nanosecond is in one state, and intervals have no gaps, from fork to exit."""
        rows = collections.defaultdict(list)
        for row in trace.dicts("thread_time"):
            self.assertEqual(sum(row[name] for name in STATES), row["dur"], row)
            self.assertLessEqual(row["io_wait"], row["dur"], row)
            rows[row["tid"]].append((row["time"], row["time"] + row["dur"]))
        forks, exits = collections.defaultdict(list), collections.defaultdict(list)
        for row in trace.dicts("fork"):
            forks[row["child_tid"]].append(row["time"])
        for row in trace.dicts("exit"):
            exits[row["tid"]].append(row["time"])
        for tid, intervals in rows.items():
            # An id may be used again, and a thread that executes a program gets its leader's.
            starts, ends = forks[tid], exits[tid]
            lives = [[intervals[0][0]]]
            for (_, end), (start, _) in zip(intervals, intervals[1:]):
                if start != end:
                    self.assertIn(end, ends, tid)
                    lives[-1].append(end)
                    lives.append([start])
            lives[-1].append(intervals[-1][1])
            if starts:
                self.assertEqual(lives[0][0], starts[0], tid)
            if ends:
                self.assertEqual(lives[-1][1], ends[-1], tid)
        self.assertEqual(trace.totals["kinds"] and
                         [kind for kind in trace.totals["kinds"]
                          if kind["kind"] in ("thread_time", "wait") and kind["lost"]], [])
        return rows


class Waits(Threads):
    """The workload knows when each of its threads was certainly blocked, when it may have been,
    and who ended the wait."""

    def record(self, *arguments):
        out = f"{machine().new_dir()}/waits"
        recording = Recording([machine().program("waits"), out], *arguments)
        self.check_rows(recording.trace)
        return recording.trace, account(out)

    def check_times(self, case, sums):
        # A new message in the kernel's log wakes its reader, which then waits again.
        woken = sums["cpu"] + sums["runnable"] if case["name"] == "kernel log" else 0
        self.assertGreaterEqual(sums[case["state"]] + woken, case["ended"] - case["asleep"])
        # Threads that begin or end may be in these states, too.
        if case["state"] not in ("storage", "other"):
            self.assertLessEqual(sums[case["state"]], case["after"] - case["before"])

    def check_wait(self, case, rows):
        row, = [row for row in rows if row["call"].decode() in case["call"].split("|")]
        self.assertEqual((row["pid"], row["state"].decode()), (case["pid"], case["state"]))
        self.assertGreaterEqual(row["time"], case["before"])
        self.assertLessEqual(row["time"] + row["dur"], case["after"])
        if case["ended"] > case["asleep"]:
            self.assertLessEqual(row["time"], case["asleep"])
            self.assertGreaterEqual(row["time"] + row["dur"], case["ended"])
        if case["waker"][0] >= 0:
            self.assertEqual([row["waker_pid"], row["waker_tid"]], case["waker"])
        self.assertEqual([row["owner_pid"], row["owner_tid"]],
                         [case["pid"] if case["owner"] else 0, case["owner"]])
        if case["object"]:
            # The machine may read its log, too, and hide the switches of those who do.
            unseen = [0] * (case["name"] == "kernel log")
            self.assertIn(row["object"], [case["object"], *unseen])
        self.assertEqual(row["flags"], 0)

    def check_all(self, *arguments):
        trace, cases = self.record(*arguments)
        sums, rows = totals_by(trace), collections.defaultdict(list)
        for row in trace.dicts("wait"):
            rows[row["tid"]].append(row)
        for case in cases:
            with self.subTest(case["name"]):
                self.check_times(case, sums[case["tid"]])
                if case["state"] == "storage":
                    self.assertEqual(rows[case["tid"]], [])
                else:
                    self.check_wait(case, rows[case["tid"]])

    def test_each(self):
        self.check_all()

    def test_only_this_layer(self):
        """What a thread waits for does not depend on what the other layers record."""
        self.check_all("--layers", "thread")

    def test_profile(self):
        """Times are recorded as in mode trace, and no waits."""
        trace, cases = self.record("--mode", "profile")
        sums = totals_by(trace)
        for case in cases:
            with self.subTest(case["name"]):
                self.check_times(case, sums[case["tid"]])
        self.assertIsNone(trace.rows("wait"))

    def test_off(self):
        recording = Recording(threads("short", "1"), "--layers", "task,syscall,fault")
        self.assertEqual(recording.trace.header["layers"]["thread"]["state"], "off")
        for kind in ("thread_time", "wait"):
            self.assertIsNone(recording.trace.rows(kind))

    def test_child_in_namespace(self):
        """A child's number is that of the records, which are in the initial PID namespace."""
        script = ("import os, time; child = os.fork()\n"
                  "if not child: time.sleep(0.05); os._exit(0)\n"
                  "os.waitpid(child, 0)")
        trace = Recording(["unshare", "--pid", "--fork", harness.PYTHON, "-c", script]).trace
        outer, inner = sorted(trace.dicts("fork"), key=lambda row: row["time"])
        children = {row["pid"]: row["object"] for row in trace.dicts("wait")
                    if row["state"] == b"child"}
        self.assertEqual(children, {outer["pid"]: inner["pid"], inner["pid"]: 0})


class Schedstat(Threads):
    """Time on a CPU and time of waiting for one are the kernel's own, to the nanosecond: all
    threads are blocked when the recording begins and ends."""

    def schedstat(self, pid):
        """{tid: (ns on CPU, ns of run-queue delay, how often it left a CPU while it could run)}"""
        found = {}
        for tid in os.listdir(f"/proc/{pid}/task"):
            self.assertTrue(is_blocked(pid, tid))
            with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
                cpu, delay, _ = map(int, file.read().split())
            with open(f"/proc/{pid}/task/{tid}/status") as file:
                switches = int(file.read().partition("nonvoluntary_ctxt_switches:")[2].split()[0])
            found[int(tid)] = cpu, delay, switches
        return found

    def settled(self, pid):
        self.assertTrue(harness.wait_until(lambda: all(
            is_blocked(pid, tid) for tid in os.listdir(f"/proc/{pid}/task"))))

    def record(self, *arguments, **options):
        """Attaches to threads that all wait, lets them run, and ends when all wait again. Returns
        the recording, the process, and the kernel's counts for that time."""
        job = machine().start(threads("pool"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        # Once, so that all threads exist and are in the state that they come back to.
        job.stdin.write(b"\n")
        job.stdin.flush()
        job.stdout.readline()
        self.settled(job.pid)
        before = self.schedstat(job.pid)
        attached = Attached("-p", str(job.pid), *arguments, **options)
        for _ in range(2):
            job.stdin.write(b"\n")
            job.stdin.flush()
            job.stdout.readline()
        self.settled(job.pid)
        attached.end(signal.SIGINT)
        after = self.schedstat(job.pid)
        return attached.trace, job.pid, {
            tid: tuple(new - old for old, new in zip(before[tid], after[tid])) for tid in before}

    def check(self, *arguments):
        trace, pid, counted = self.record(*arguments)
        sums = totals_by(trace)
        lives = self.check_rows(trace)
        self.assertEqual(sums.keys(), counted.keys())
        for tid, (cpu, delay, _) in counted.items():
            self.assertEqual((sums[tid]["cpu"], sums[tid]["runnable"]), (cpu, delay), tid)
            # On an idle machine a thread may never wait for a CPU.
            self.assertEqual({name for name in STATES if sums[tid][name]} - {"other", "runnable"},
                             {"cpu", "pipe", *["sleep"] * (tid != pid)})
        self.assertEqual(len({end for rows in lives.values() for _, end in rows[-1:]}), 1)

    def test_attach(self):
        self.check()

    def test_attach_profile(self):
        self.check("--mode", "profile")


class NoSchedstat(Schedstat):
    """A kernel that does not count run-queue delay: its types lack the field. Switches and wake-ups
    then tell when a thread waits for a CPU."""

    TOLERANCE_NS = 1_000_000  # for a hundred switches, of which each takes a while

    def hidden(self):
        """The words that start Faultline with such types of the kernel."""
        with open("/sys/kernel/btf/vmlinux", "rb") as file:
            types = file.read()
        self.assertEqual(types.count(b"\0run_delay\0"), 1)
        path = f"{machine().new_dir()}/types"
        with open(path, "wb") as file:
            file.write(types.replace(b"\0run_delay\0", b"\0not_known\0"))
        mount = f'mount --bind {path} /sys/kernel/btf/vmlinux && exec "$@"'
        return ["unshare", "-m", "sh", "-c", mount, "sh", machine().faultline]

    def compare(self, *arguments):
        """For each thread: what is recorded of its waits for a CPU, what is counted, and how often
        it left a CPU while it could run. They wait for each other, because they have only one."""
        every = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(every)})
        try:
            trace, _, counted = self.record(*arguments, by=self.hidden())
        finally:
            os.sched_setaffinity(0, every)
        self.check_rows(trace)
        sums = totals_by(trace)
        self.assertEqual({tid: sums[tid]["cpu"] for tid in counted},
                         {tid: cpu for tid, (cpu, *_) in counted.items()})
        return [(sums[tid]["runnable"], *rest) for tid, (_, *rest) in counted.items()]

    def check(self, *arguments):
        """A pause of the machine between a wake-up and the kernel's count is in one of them."""
        def alike(counted):
            return all(abs(ours - theirs) <= self.TOLERANCE_NS + theirs / 10
                       for ours, theirs, _ in counted)
        counted = harness.counted_right(lambda: self.compare(*arguments), alike)
        self.assertTrue(alike(counted), counted)
        self.assertGreater(sum(theirs for _, theirs, _ in counted), 5 * self.TOLERANCE_NS)

    def test_wakeups_absent(self):
        """A thread that is blocked does not wait for a CPU, even if no event says until when. One
        that leaves a CPU while it can run does."""
        def fewer(counted):
            return all(ours <= theirs + self.TOLERANCE_NS and (ours or switches < 10)
                       for ours, theirs, switches in counted)
        counted = harness.counted_right(
            lambda: self.compare("--force-absent", "sched_waking"), fewer)
        self.assertTrue(fewer(counted), counted)
        self.assertGreaterEqual(max(switches for *_, switches in counted), 10, counted)


class Storage(Threads):
    """Time off CPU in operations, against the recorded operations."""

    def test_direct_reads(self):
        path = harness.random_file(f"{machine().new_dir('ext4')}/data", 8 << 20)
        harness.cool(path)
        recording = Recording(threads("read", path))
        self.check_rows(recording.trace)
        sums = totals_by(recording.trace, "pid")
        pid, = {row["pid"] for row in recording.trace.calls(path)}
        times, calls = sums[pid], recording.trace.calls(pid=pid)
        in_calls = sum(row["dur"] for row in calls if recording.trace.is_io(row))
        in_faults = sum(row["dur"] for row in recording.trace.dicts("fault"))
        self.assertGreater(times["storage"], 0)
        self.assertLessEqual(times["io_wait"], sum(row["dur"] for row in calls) + in_faults)
        # Time in operations is on a CPU, or off it. Those inside others count once.
        in_call = 1 << 5
        self.assertEqual(times["io"], in_calls + sum(
            row["dur"] for row in recording.trace.dicts("fault") if not row["flags"] & in_call))
        # The rest of the calls ran on a CPU, or was interrupted there.
        self.assertGreaterEqual(times["io_wait"], in_calls - times["cpu"] - times["other"])


# The clock without the thread's CPU time and its waits for a CPU, read without one in between.
REST = """
import os, time
def delay():
    with open("/proc/self/schedstat") as file:
        return int(file.read().split()[1])
def rest():
    while True:
        waited, left = delay(), time.monotonic_ns() - time.thread_time_ns()
        if waited == delay():
            return left - waited
"""


class Taken(Threads):
    """A thread that never waits: what interrupts and the hypervisor take from it while it runs is
    what is left of the clock without its own CPU time and its waits for a CPU."""

    JOB = """
before, end = rest(), time.monotonic_ns() + 500_000_000
while time.monotonic_ns() < end: pass
print(rest() - before, flush=True)
os._exit(0)
"""

    def compare(self):
        recording = Recording([harness.PYTHON, "-S", "-c", REST + self.JOB], stdout=subprocess.PIPE)
        self.check_rows(recording.trace)
        sums, = totals_by(recording.trace).values()
        return sums["other"], int(recording.done.stdout)

    def test_busy(self):
        """Before and after, too, but seldom."""
        def alike(pair):
            return pair[1] - 500_000 <= pair[0] <= pair[1] + 1_000_000
        pair = harness.counted_right(self.compare, alike)
        self.assertTrue(alike(pair), pair)


class Memory(Threads):
    """A cgroup with little memory: who writes more than that waits until pages are written back."""

    LIMIT = 8 << 20
    WRITE = ("import os, sys\n"
             "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
             "for i in range(6 * 8): os.write(file, bytes(1 << 20))\n")

    def test_reclaim(self):
        group, limit = harness.new_cgroup(self), "memory.high"
        if not os.path.exists(f"{group}/{limit}"):
            group, limit = harness.new_cgroup(self, "memory"), "memory.limit_in_bytes"
        with open(f"{group}/{limit}", "w") as file:
            file.write(str(self.LIMIT))
        path = f"{machine().new_dir('ext4')}/data"
        recording = Recording(harness.in_cgroup(group, harness.PYTHON, "-c", self.WRITE, path))
        self.check_rows(recording.trace)
        pid, = {row["pid"] for row in recording.trace.calls(path)}
        times = totals_by(recording.trace, "pid")[pid]
        self.assertGreater(times["memory"], 0)
        # The writes wait for it.
        calls = sum(row["dur"] for row in recording.trace.calls(pid=pid))
        faults = sum(row["dur"] for row in recording.trace.dicts("fault"))
        self.assertLessEqual(times["io_wait"], calls + faults)
        self.assertLessEqual({row["state"] for row in recording.trace.dicts("wait")
                              if row["call"] == b"write"}, {b"memory"})


class Swapped(Threads):
    """Programs with half of the memory that they need: they wait for what was swapped out. The
    kernel counts their faults; clocks and schedstat tell for how long they were off CPU without
    waiting for one."""

    JOB = """
import mmap, os, resource, sys
kind, size, page = sys.argv[1], 64 << 20, 4096
memory = mmap.mmap(-1, size, mmap.MAP_SHARED if kind == "shared" else mmap.MAP_PRIVATE)
if kind != "shared": memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, size, page): memory[at] = 1
reader, writer = os.pipe()
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
before, major = rest(), faults()
for at in 2 * list(range(0, size, page)):
    if kind == "call":
        with memoryview(memory)[at : at + page] as view: os.write(writer, view)
        os.read(reader, page)
    else:
        memory[at]
touched, off = faults() - major, rest() - before
print(off, touched, faults(), flush=True)
os._exit(0)
"""

    def record(self, kind, *arguments, group=None):
        job = [harness.PYTHON, "-S", "-c", REST + self.JOB, kind]
        recording = Recording(harness.in_cgroup(group, *job) if group else job, *arguments,
                              stdout=subprocess.PIPE)
        self.check_rows(recording.trace)
        sums, = totals_by(recording.trace, "pid").values()
        return recording, sums, tuple(map(int, recording.done.stdout.split()))

    def check(self, kind, *arguments):
        group = harness.little_memory(self, 32 << 20)
        recording, sums, (off, touched, major) = self.record(kind, *arguments, group=group)
        self.assertGreater(touched, 1000)
        self.assertLessEqual(off, sums["memory"] + sums["storage"] + sums["other"] + 1_000_000)
        # Its program and libraries are read again, too.
        self.assertGreaterEqual(sums["memory"], (off - sums["other"]) * 0.8)
        totals = recording.report["totals"]
        found = sum(totals[name]["major"] for name in (
            "anonymous_faults", "shmem_faults", "mmap_read", "mmap_write"))
        # A few more after its message.
        self.assertLessEqual(abs(found - major), 0.02 * major + 20)

    def test_anonymous(self):
        self.check("anonymous")

    def test_shared(self):
        self.check("shared")

    def test_in_calls(self):
        """The kernel touches the memory, to copy it."""
        self.check("call")

    def test_profile(self):
        self.check("anonymous", "--mode", "profile")

    def test_enough(self):
        _, sums, (_, touched, _) = self.record("anonymous")
        self.assertEqual(touched, 0)
        self.assertLess(sums["memory"], 10_000_000)


class Stopped(Threads):
    """Processes that are stopped from outside, at known times."""

    BLOCKED = "import select, sys; p = select.poll(); p.register(0, 1); p.poll(100000)"
    BUSY = "while True: pass"

    def start(self, script, *before):
        job = machine().start([*before, harness.PYTHON, "-c", script], stdin=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        return job

    def pause(self, seconds=0.003):  # longer waits are recorded
        time.sleep(seconds)
        return time.monotonic_ns()

    def check_stopped(self, trace, pid, times):
        """`times`: before it was stopped, when it was, before it was continued, when it was."""
        row, = [row for row in trace.dicts("wait") if row["state"] == b"stopped"]
        start, end = row["time"], row["time"] + row["dur"]
        self.assertEqual(row["pid"], pid)
        self.assertTrue(times[0] <= start <= times[1] and times[2] <= end <= times[3], (row, times))
        self.assertEqual(row["waker_pid"], os.getpid())
        # The host may pause a virtual CPU while it switches a thread that ran when it was attached
        # to. That time counts as its run, and again as its wait for a CPU.
        stopped = totals_by(trace)[pid]["stopped"]
        self.assertTrue((times[2] - times[1]) / 2 <= stopped <= times[3] - times[0],
                        (stopped, times))

    def test_signal(self):
        """The call that was interrupted goes on as another one of the kernel's."""
        job = self.start(self.BLOCKED)
        wait_for_status(job.pid, "S")
        while b"poll" not in open(f"/proc/{job.pid}/wchan", "rb").read():
            time.sleep(0.01)
        attached = Attached("-p", str(job.pid))
        times = [self.pause()]
        job.send_signal(signal.SIGSTOP)
        times += [wait_for_status(job.pid, "T"), self.pause()]
        job.send_signal(signal.SIGCONT)
        times.append(wait_for_status(job.pid, "S"))
        self.pause()
        attached.end(signal.SIGINT)
        self.check_rows(attached.trace)
        self.check_stopped(attached.trace, job.pid, times)
        rows = list(attached.trace.dicts("wait"))
        self.assertEqual([(row["state"], row["call"], row["flags"]) for row in rows],
                         [(b"pipe", b"poll", BEFORE), (b"stopped", b"poll", 0),
                          (b"pipe", b"poll", UNFINISHED)])
        self.assertEqual(rows[0]["waker_pid"], os.getpid())

    def freeze(self, hierarchy, control, freeze, thaw, state, frozen):
        group = harness.new_cgroup(self, hierarchy)
        if not os.path.exists(f"{group}/{control}"):
            self.skipTest(f"no {control} here")
        job = self.start(self.BUSY)
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write(str(job.pid))

        def write(text):
            with open(f"{group}/{control}", "w") as file:
                file.write(text)

        def is_frozen():
            with open(f"{group}/{state}") as file:
                return frozen in file.read()

        self.addCleanup(write, thaw)
        attached = Attached("-p", str(job.pid))
        times = [time.monotonic_ns()]
        write(freeze)
        self.assertTrue(harness.wait_until(lambda: is_frozen() and is_blocked(job.pid)))
        times += [time.monotonic_ns(), self.pause(0.1)]
        write(thaw)
        self.assertTrue(harness.wait_until(lambda: not is_frozen()))
        times.append(wait_for_status(job.pid, "R"))
        attached.end(signal.SIGINT)
        self.check_rows(attached.trace)
        self.check_stopped(attached.trace, job.pid, times)

    def test_freezer(self):
        self.freeze("", "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1")

    def test_freezer_of_the_first_version(self):
        self.freeze("freezer", "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN")


if __name__ == "__main__":
    unittest.main()
