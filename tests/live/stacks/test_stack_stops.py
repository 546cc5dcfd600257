# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Time that a thread is stopped, or blocked when the recording begins, is put on no other line."""
import collections
import json
import subprocess
import unittest

import harness
from harness import Attached, Recording, machine
from test_stacks import PERIOD_NS, Stacks

STOPPED = """
import json, os, sys, threading, time
def compute():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass
def wait():
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(0.3, lock.release).start()
    start = time.monotonic_ns()
    lock.acquire()
    return time.monotonic_ns() - start
child = os.fork()
if not child:
    parent = os.getppid()
    os.kill(parent, 19)
    time.sleep(0.5)
    os.kill(parent, 18)
    os._exit(0)
compute()
json.dump([os.getpid(), wait()], open(sys.argv[1], "w"))
"""

BLOCKED = """
import os, sys, time
def first():
    os.read(0, 1)
def second():
    time.sleep(0.01)
first()
second()
"""


def times(trace, pid):
    """{(state, innermost function): ns} of a process's main thread."""
    stacks, found = Stacks(trace), collections.Counter()
    for sample in stacks.samples:
        if sample["tid"] == pid and sample["stack"]:
            function = stacks.chain(sample["stack"])[0][2]
            found[sample["state"].decode(), function] += sample["weight"]
    return found


class Stops(unittest.TestCase):
    def test_stopped(self):
        """Stopped while it computes, it does not wait for the lock that it takes afterwards."""
        truth = f"{machine().new_dir()}/truth"
        recording = Recording([harness.PYTHON, "-c", STOPPED, truth])
        with open(truth) as file:
            pid, waited_ns = json.load(file)
        stopped_ns = sum(row["stopped"] for row in recording.trace.dicts("thread_time")
                         if row["tid"] == pid)
        self.assertGreater(stopped_ns, 0)
        found = times(recording.trace, pid)
        self.assertGreater(found["lock", "wait"], 0)
        self.assertLessEqual(found["lock", "wait"], waited_ns + PERIOD_NS)

    def test_blocked_before(self):
        """A wait that has begun before the recording is on its own line."""
        job = machine().start([harness.PYTHON, "-c", BLOCKED], stdin=subprocess.PIPE)
        self.assertTrue(harness.wait_until(lambda: self.is_blocked(job.pid)))
        attached = Attached("-p", str(job.pid))
        job.communicate(b"x")
        self.assertEqual(attached.end()[0], 0)
        found = times(attached.trace, job.pid)
        self.assertGreater(found["pipe", "first"], 0)
        self.assertEqual(found["pipe", "second"], 0)
        self.assertGreater(found["sleep", "second"], 0)

    def is_blocked(self, pid):
        with open(f"/proc/{pid}/syscall") as file:
            return file.read().startswith("0 0x0 ")  # read(0)


if __name__ == "__main__":
    unittest.main()
