# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls that hang on a frozen file system, and have not returned when the recording ends."""
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import machine
from test_attach import Attached

UNFINISHED = 1 << 12
EINPROGRESS = 115
OPEN = "import sys; open(sys.argv[1], 'w')"
WRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY)
print("open", flush=True)
sys.stdin.readline()
os.pwrite(file, b"x", 0)
"""


class Frozen(unittest.TestCase):
    def setUp(self):
        self.top = machine().mount_image("ext4", 64 << 20)
        self.path = f"{self.top}/config.json"
        with open(self.path, "w") as file:
            file.write("{}")
        os.sync()

    def freeze(self):
        subprocess.run(["fsfreeze", "-f", self.top], check=True)
        self.addCleanup(self.thaw)

    def thaw(self):
        subprocess.run(["fsfreeze", "-u", self.top], check=False, stderr=subprocess.DEVNULL)

    def start(self, *command, **options):
        job = subprocess.Popen(command, **options)
        self.addCleanup(job.wait)
        self.addCleanup(self.thaw)
        return job

    def blocked(self, pid):
        """Whether its first thread sleeps in the kernel without being interruptible."""
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "D"

    def check(self, traced, op, pid, least_ns):
        row, = [row for row in traced.trace.calls() if row["flags"] & UNFINISHED]
        self.assertEqual((row["op"], row["pid"], row["result"]), (op, pid, -EINPROGRESS))
        self.assertGreaterEqual(row["dur"], least_ns)
        found, = [row for row in traced.report["findings"] if row["id"] == "still-waiting"]
        evidence = found["evidence"]
        self.assertEqual((evidence["op"], evidence["path"]), (op, self.path))
        self.assertEqual((evidence["pid"], evidence["calls"]), (pid, 1))
        self.assertEqual(evidence["waited_ns"], row["dur"])
        self.assertEqual(traced.report["trace"]["unaccounted"], 0)
        self.assertGreaterEqual(traced.report["totals"]["io"]["time_ns"], least_ns)
        self.assertIn(os.path.basename(self.path), found["title"])

    def attach(self, pid):
        attached = Attached("-p", str(pid))
        time.sleep(1.1)
        attached.end(signal.SIGINT)
        return attached

    def test_open_before_attach(self):
        """The call was under way when the recording began: its path is in the program's memory."""
        self.freeze()
        job = self.start(harness.PYTHON, "-S", "-c", OPEN, self.path)
        harness.wait_until(lambda: self.blocked(job.pid), 10)
        self.check(self.attach(job.pid), "openat", job.pid, 1_000_000_000)

    def test_write_before_attach(self):
        job = self.start(harness.PYTHON, "-S", "-c", WRITE, self.path, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        self.addCleanup(job.stdout.close)
        job.stdout.readline()
        self.freeze()
        job.stdin.close()
        harness.wait_until(lambda: self.blocked(job.pid), 10)
        self.check(self.attach(job.pid), "pwrite64", job.pid, 1_000_000_000)

    def test_write_after_attach(self):
        job = self.start(harness.PYTHON, "-S", "-c", WRITE, self.path, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        self.addCleanup(job.stdout.close)
        job.stdout.readline()
        attached = Attached("-p", str(job.pid))
        self.freeze()
        job.stdin.close()
        harness.wait_until(lambda: self.blocked(job.pid), 10)
        time.sleep(1.1)
        attached.end(signal.SIGINT)
        self.check(attached, "pwrite64", job.pid, 1_000_000_000)


if __name__ == "__main__":
    unittest.main()
