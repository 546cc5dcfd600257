# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Exports name the lines at which a real program waited."""
import collections
import json
import os
import unittest

import harness
from harness import Recording, machine

JOB = """import os, sys, threading
descriptor = os.open(sys.argv[1], os.O_RDONLY)
buffers = [bytearray(32 << 20)]
def read():
    os.preadv(descriptor, buffers, 0)
def wait():
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(0.2, lock.release).start()
    lock.acquire()
for i in range(3):
    read()
wait()
"""
PERIOD_NS = 1000000


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = machine().new_dir()
        cls.data = harness.random_file(f"{directory}/data", 32 << 20)
        cls.job = f"{directory}/job.py"
        with open(cls.job, "w") as file:
            file.write(JOB)
        cls.recording = Recording([harness.PYTHON, cls.job, cls.data])

    def export(self, to):
        done = harness.faultline("export", "--to", to, "-o", "-", self.recording.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_timeline(self):
        """Each read of 1 ms or more, and the wait for the lock, has its line."""
        lines = collections.defaultdict(set)
        for event in json.loads(self.export("chrome"))["traceEvents"]:
            if event["ph"] == "X" and event["dur"] * 1000 >= PERIOD_NS:
                lines[event["name"]].add(event["args"].get("at"))
        self.assertEqual(lines["preadv"] | lines["preadv2"], {"job.py:5 in read"})
        self.assertIn("job.py:10 in wait", lines["lock"])

    def test_collapsed(self):
        """The totals are those of the samples."""
        lines = dict(line.rsplit(" ", 1) for line in os.fsdecode(self.export("collapsed"))
                     .splitlines())
        weights = collections.Counter()
        for sample in self.recording.trace.dicts("sample"):
            weights[os.fsdecode(sample["state"])] += sample["weight"]
        found = collections.Counter()
        for stack, weight in lines.items():
            found[stack.rsplit("[", 1)[1][:-1]] += int(weight)
        self.assertEqual(found, weights)
        self.assertIn(f"python3 main;<module> ({self.job}:13);wait ({self.job}:10);[lock]", lines)


if __name__ == "__main__":
    unittest.main()
