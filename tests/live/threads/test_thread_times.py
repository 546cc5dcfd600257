# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The times of threads against other accounts: what perf finds from the scheduler's events, and the
kernel's CPU time in and outside of itself."""
import collections
import os
import re
import subprocess
import unittest

import harness
import test_threads
from harness import Recording, machine

ALONE = True  # its threads have one CPU, and perf records all of them

# time, CPU, name of the thread, off CPU, from wake-up to running, running; state in which it left
LINE = re.compile(r"\s*([\d.]+) \[\d+\]\s+.*\[(\d+)(?:/\d+)?\]" + 3 * r"\s+([\d.]+)" + r"\s+(\w)")


class Perf:
    """perf sched record, of all threads, from when it is made."""

    def __init__(self, test):
        directory = machine().new_dir()
        self.data, self.end_pipe, begun = (f"{directory}/{name}"
                                           for name in ("data", "end", "begun"))
        os.mkfifo(self.end_pipe)
        self.job = machine().start(
            ["perf", "sched", "record", "-k", "CLOCK_MONOTONIC", "-m", "8M", "-o", self.data, "--",
             "sh", "-c", ': >"$0"; read line <"$1"', begun, self.end_pipe],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if not harness.wait_until(lambda: os.path.exists(begun) or self.job.poll() is not None) or \
                self.job.poll() is not None:
            test.skipTest(f"perf: {self.job.communicate()[1].decode().strip()}")

    def end(self):
        """{tid: [(time, off CPU, waking, running, state)]}, in ns; a row is where it left a CPU."""
        with open(self.end_pipe, "w") as file:
            file.write("\n")
        self.job.communicate(timeout=harness.LIMIT)
        shown = harness.run("perf", "sched", "timehist", "--state", "-i", self.data).decode()
        rows = collections.defaultdict(list)
        for line in shown.splitlines():
            match = LINE.match(line)
            if match:
                seconds, tid, *times, state = match.groups()
                rows[int(tid)].append((round(float(seconds) * 1e9),
                                       *(round(float(time) * 1e6) for time in times), state))
        return rows


class Timehist(test_threads.Schedstat):
    SWITCH_NS = 4_000  # by which the clocks of perf and the scheduler differ in each switch

    def compare(self, *arguments):
        """[(state, what is recorded, what perf found, how often the thread left a CPU)]"""
        perf, every = Perf(self), os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(every)})
        try:
            trace, _, counted = self.record(*arguments)
        finally:
            os.sched_setaffinity(0, every)
        found, lives = perf.end(), self.check_rows(trace)
        sums, compared = test_threads.totals_by(trace), []
        for tid in counted:
            start, end = lives[tid][0][0], lives[tid][-1][1]
            rows = [row for row in found[tid] if start < row[0] < end]
            if not rows:  # perf has lost them
                compared.append(("cpu", sums[tid]["cpu"], 0, 0))
                continue
            first = rows[0][0] - rows[0][2] - rows[0][3]  # woken
            running = sum(row[3] for row in rows)
            runnable, blocked = rows[0][2], first - start + end - rows[-1][0]
            for before, (_, off, waking, _, _) in zip(rows, rows[1:]):
                preempted = before[4] == "R"
                runnable += off if preempted else waking
                blocked += 0 if preempted else off - waking
            waits = sum(sums[tid][state] for state in test_threads.STATES
                        if state not in ("cpu", "runnable"))
            compared += [("cpu", sums[tid]["cpu"], running, len(rows)),
                         ("runnable", sums[tid]["runnable"], runnable, len(rows)),
                         ("blocked", waits, blocked, len(rows))]
        return compared

    def check(self, *arguments):
        if harness.captured("sh", "-c", "command -v perf").returncode:
            self.skipTest("no perf")

        def alike(compared):
            return all(abs(ours - theirs) <= theirs / 50 + switches * self.SWITCH_NS
                       for _, ours, theirs, switches in compared)
        compared = harness.counted_right(lambda: self.compare(*arguments), alike)
        self.assertTrue(alike(compared), compared)
        # They have competed for the CPU.
        self.assertGreater(sum(theirs for state, _, theirs, _ in compared if state == "runnable"),
                           10_000_000)


class System(test_threads.Threads):
    """CPU time in the kernel and outside, against the kernel's own account, for threads that do one
    or the other."""

    JOB = """
import json, os, resource, sys, threading, time
zero, accounts = os.open("/dev/zero", os.O_RDONLY), {}
def in_kernel(buffers=[bytearray(1 << 20)]):
    os.preadv(zero, buffers, 0)
def outside():
    sum(range(20000))
def work(*steps):
    end = time.thread_time() + 1
    while time.thread_time() < end:
        for step in steps:
            step()
    used = resource.getrusage(resource.RUSAGE_THREAD)
    accounts[threading.get_native_id()] = used.ru_utime, used.ru_stime
for steps in (in_kernel,), (outside,), (in_kernel, outside):
    thread = threading.Thread(target=work, args=steps)
    thread.start()
    thread.join()
with open(sys.argv[1], "w") as file:
    json.dump(accounts, file)
"""

    def test_split(self):
        out = f"{machine().new_dir()}/accounts"
        recording = Recording([harness.PYTHON, "-c", self.JOB, out])
        rows, counted = {row["tid"]: row for row in recording.report["threads"]}, harness.account(out)
        shares = []
        for tid, (user, system) in counted.items():
            row = rows[int(tid)]
            # The kernel samples it at each tick, and scales that to the time on a CPU.
            self.assertLess(abs(row["system_ns"] / 1e9 - system), 0.05 * (user + system), row)
            shares.append(system / (user + system))
        self.assertGreater(shares[0], 2 * shares[1] + 0.2)


if __name__ == "__main__":
    unittest.main()
