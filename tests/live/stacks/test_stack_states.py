# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Which lines wait other than for I/O, and which compute: compared with the job's own clock, and
with the time of each thread in each state."""
import collections
import json
import os
import unittest

import harness
from harness import Recording, machine
from test_stacks import PERIOD_NS, Stacks

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_waits.py")
CPU_NS = 1000000000 // 49
STATES = {
    "sleeps_long": "sleep",
    "sleeps_often": "sleep",
    "waits_for_lock": "lock",
    "reads_pipe": "pipe",
}


class States(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        truth_path = f"{machine().new_dir()}/truth"
        cls.recording = Recording([harness.PYTHON, JOB, truth_path], *cls.arguments)
        with open(truth_path) as file:
            cls.truth = json.load(file)
        cls.stacks = Stacks(cls.recording.trace)
        cls.times = collections.Counter()  # by function of the job, and state
        for sample in cls.stacks.samples:
            functions = {function for path, _, function in cls.stacks.chain(sample["stack"])
                         if path == JOB}
            for function in functions & set(cls.truth):
                cls.times[function, sample["state"].decode()] += sample["weight"]

    def test_nothing_is_lost(self):
        self.assertEqual(self.recording.report["trace"]["lost"]["total"], 0)

    def test_waits(self):
        """A wait lasts from when the thread leaves the CPU, which is later than its timer starts,
        until it is woken: no later than the job sees it."""
        for function, state in STATES.items():
            least, most = self.truth[function]
            with self.subTest(function):
                self.assertGreater(self.times[function, state],
                                   max(least * 8 // 10 - PERIOD_NS, 0))
                self.assertLessEqual(self.times[function, state], most + PERIOD_NS)

    def test_child(self):
        """subprocess waits by vfork, a pipe and waitpid."""
        waited = self.times["waits_for_child", "child"] + self.times["waits_for_child", "pipe"]
        self.assertGreater(waited, 0)
        self.assertLessEqual(waited, self.truth["waits_for_child"][1] + PERIOD_NS)

    def test_threads(self):
        """The samples of a thread stand for its time in these states. A wait ends a little before
        the scheduler begins to count the wait for a CPU."""
        expected, sampled = collections.Counter(), collections.Counter()
        states = set(STATES.values())
        for row in self.recording.trace.dicts("thread_time"):
            for state in states:
                expected[row["tid"], state] += row[f"{state}"]
        for sample in self.stacks.samples:
            if sample["state"].decode() in states:
                sampled[sample["tid"], sample["state"].decode()] += sample["weight"]
        for tid in {tid for tid, _ in expected}:
            waited = sum(expected[tid, state] for state in states)
            left = waited - sum(sampled[tid, state] for state in states)
            with self.subTest(tid=tid):
                self.assertLess(abs(left), PERIOD_NS + waited // 20)

    def test_computation(self):
        """A second of CPU time is 49 samples on average. Their number depends on chance: it is
        within four standard deviations of a Poisson distribution, which is the widest."""
        samples = sum(sample["state"] == b"cpu" for sample in self.stacks.samples)
        cpu = sum(row["cpu"] for row in self.recording.trace.dicts("thread_time"))
        self.assertGreater(cpu, 2_000_000_000)
        self.assertLess(abs(samples - cpu / CPU_NS), 4 * (cpu / CPU_NS) ** 0.5)
        self.assertGreater(self.times["computes", "cpu"], samples * CPU_NS / 2)
        idle = sum(self.times[function, "cpu"] for function in STATES)
        self.assertLess(idle, self.times["computes", "cpu"])


class Unwoken(States):
    """No wakeup is seen: the scheduler's count of waits for a CPU says when a wait ended."""
    arguments = "--force-absent", "sched_waking"


if __name__ == "__main__":
    unittest.main()
