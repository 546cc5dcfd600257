# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The times of threads from their creation to their end: short ones, many, and those that execute a
program or are killed."""
import collections
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Attached, Recording, account, machine
from test_threads import BEFORE, Threads, threads, totals_by

ALONE = True  # compares with the scheduler's counts

# The scheduler's clock, which counts waits for a CPU, and the clock of rows may differ by this.
CLOCKS_NS = 100_000


class Lives(Threads):
    def tids(self, trace, kind, name):
        return collections.Counter(row[name] for row in trace.dicts(kind))

    def record_created(self, kind, count):
        recording = Recording(threads(kind, str(count)), "--buffer", "32M")  # they end at once
        rows = self.check_rows(recording.trace)
        created = self.tids(recording.trace, "fork", "child_tid")
        self.assertEqual(sum(created.values()), count)
        self.assertLessEqual(created.keys(), rows.keys())
        return recording, created

    def test_short_threads(self):
        self.record_created("short", 3000)

    def test_more_threads_than_slots(self):
        """10,000 at a time: the state of a thread is then somewhere else."""
        recording, created = self.record_created("crowd", 10000)
        sums = totals_by(recording.trace)
        # Each of them waited at a barrier or ended last, and slept.
        self.assertEqual([tid for tid in created if not sums[tid]["lock"] + sums[tid]["sleep"]], [])

    def test_exit_of_blocked_threads(self):
        recording = Recording(threads("exit"))
        rows = self.check_rows(recording.trace)
        self.assertEqual(len(rows), 3)
        killed = self.tids(recording.trace, "fork", "child_tid")
        sums = totals_by(recording.trace)
        for row in recording.trace.dicts("wait"):
            if row["tid"] in killed:
                self.assertEqual((row["state"], row["waker_pid"], row["waker_tid"]),
                                 (b"pipe", row["pid"], row["pid"]))
                self.assertGreaterEqual(sums[row["tid"]]["pipe"] + CLOCKS_NS, row["dur"])

    def test_exec_of_another_thread(self):
        """It continues under the id of its leader, which has ended; its times have no gap."""
        self.check_exec()

    def test_exec_of_a_thread_without_slot(self):
        """Another thread has its slot, and the leader's is not free yet."""
        self.check_exec("4096")

    def check_exec(self, *arguments):
        out = f"{machine().new_dir()}/exec"
        recording = Recording(threads("exec", out, *arguments))
        rows, truth = self.check_rows(recording.trace), account(out)
        exits = {row["tid"]: row["time"] for row in recording.trace.dicts("exit")}
        moved = rows[truth["tid"]][-1][1]
        self.assertEqual(moved, exits[truth["tid"]])
        self.assertIn(moved, [start for start, _ in rows[truth["pid"]]])
        self.assertEqual(rows[truth["pid"]][-1][1], exits[truth["pid"]])

    def test_fork_during_attach(self):
        """Threads that began before, and after."""
        script = ("import os, subprocess, sys\n"
                  "while os.read(0, 1): subprocess.run(['true']); print('done', flush=True)\n")
        job = machine().start([harness.PYTHON, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        attached = Attached("-p", str(job.pid))
        job.stdin.write(b"\n")
        job.stdin.flush()
        job.stdout.readline()
        attached.end(signal.SIGINT)
        rows = self.check_rows(attached.trace)
        child, = [row["child_pid"] for row in attached.trace.dicts("fork")]
        self.assertEqual(rows.keys(), {job.pid, child})
        sums = totals_by(attached.trace)
        self.assertGreater(sums[job.pid]["child"], 0)
        first = min(attached.trace.dicts("wait"), key=lambda row: row["time"])
        if first["tid"] == job.pid and first["call"] == b"read":
            self.assertEqual(first["flags"], BEFORE)


if __name__ == "__main__":
    unittest.main()
