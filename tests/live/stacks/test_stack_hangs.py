# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The lines of threads that still wait when the recording ends, compared with the functions of a
job that does nothing else."""
import os
import subprocess
import time
import unittest

import harness
from harness import Attached, Recording, faultline, machine
from test_stacks import CUT, FRAMES_MAX, UNFINISHED_SAMPLE, Stacks, for_fetched, for_others

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_hangs.py")
WAITS = {  # state, by function of the job
    "wants_lock": "lock",
    "reads_pipe": "pipe",
    "locks_file": "io",
    "is_deep": "sleep",
    "each": "sleep",
    "sleeps": "sleep",
}
# subprocess waits in wait4, or in poll on a pidfd.
CHILD = "waits_for_child"
LONG = "60"  # seconds


class Hangs(unittest.TestCase):
    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]

    def start(self, python):
        """Returns the job, whose threads wait."""
        directory = machine().new_dir()
        job = subprocess.Popen([python, JOB, directory, LONG])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        while not os.path.exists(f"{directory}/waits"):
            self.assertIsNone(job.poll())
            time.sleep(0.01)
        while self.state_of(job.pid) != "S":  # the main thread
            time.sleep(0.01)
        return job

    def check(self, trace):
        """Each wait has a sample, exact to its line, and no other function of the job has one."""
        stacks = Stacks(trace)
        found = {}
        for sample in stacks.samples:
            if not sample["flags"] & UNFINISHED_SAMPLE:
                continue
            self.assertEqual(sample["weight"], sample["dur"])
            chain = [frame for frame in stacks.chain(sample["stack"]) if frame[0] == JOB]
            if not chain:
                continue  # a child of the job
            function = chain[0][2].rpartition(".")[2]
            found[function] = sample["state"].decode()
            with open(JOB) as file:
                line = file.read().splitlines()[chain[0][1] - 1]
            self.assertTrue(any(call in line for call in (
                "acquire", "os.read", "LOCK_EX)", "run(", "sleep(seconds)")), (function, line))
            if function == "is_deep":
                self.assertTrue(sample["flags"] & CUT)
                self.assertEqual(len(chain), FRAMES_MAX)
        self.assertIn(found.pop(CHILD, None), ("child", "pipe"))
        self.assertEqual(found, WAITS)

    def attach(self, python):
        job = self.start(python)
        attached = Attached("--duration", "1s", str(job.pid))
        status, output = attached.end()
        self.assertEqual(status, 0, output)
        self.check(attached.trace)
        job.kill()
        return attached

    def test_attached(self):
        """All of them waited before the recording began."""
        attached = self.attach(harness.PYTHON)
        text = " ".join(faultline("report", attached.path).stdout.decode().split())
        self.assertIn("in locks_file, had waited ≥", text)

    def test_others(self):
        for_others(self, self.attach)

    def test_fetched(self):
        for_fetched(self, self.attach)

    def test_command_outlives(self):
        """A command that goes on after its recording."""
        directory = machine().new_dir()
        recording = Recording([harness.PYTHON, JOB, directory, "8"], "--duration", "4s")
        self.check(recording.trace)

    def test_not_python(self):
        """The stack of another program is not searched for frames of Python."""
        program = subprocess.Popen(["sleep", LONG])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        time.sleep(0.1)
        attached = Attached("--duration", "1s", str(program.pid))
        self.assertEqual(attached.end()[0], 0)
        samples = list(attached.trace.dicts("sample"))
        self.assertEqual([(row["stack"], row["state"]) for row in samples], [(0, b"sleep")])


if __name__ == "__main__":
    unittest.main()
