# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks in traces of the flight recorder: each is complete, whatever has been dropped."""
import subprocess
import unittest

import harness
from flights import Recorder
from harness import machine
from test_stacks import CUT, PERIOD_NS, READ_BYTES, READS, Stacks

# Reads that take long, from two lines in turn, and enough short ones to fill the memory.
ROUNDS = """
import os, sys
descriptor = os.open(sys.argv[1], os.O_RDONLY)
buffer = [bytearray(32 << 20)]
def one():
    os.preadv(descriptor, buffer, 0)
def two():
    os.preadv(descriptor, buffer, 4096)
def fill():
    for i in range(100_000):
        os.pread(descriptor, 1, i)
sys.stdin.readline()
for i in range(8):
    one()
    two()
    fill()
print("done", flush=True)
sys.stdin.readline()
"""
ONE, TWO = [[6, "one"], [14, "<module>"]], [[8, "two"], [15, "<module>"]]


class Flight(unittest.TestCase):
    def start(self, script, *arguments):
        job = machine().start([harness.PYTHON, "-c", script, *arguments], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
        return job, Recorder("--flight", "1M", "-p", str(job.pid))

    def test_kept(self):
        """Older events are dropped, and with them what describes their stacks."""
        data = harness.random_file(f"{machine().new_dir()}/data", READ_BYTES + 4096)
        job, recorder = self.start(ROUNDS, data)
        job.stdin.write("\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "done\n")
        trace = recorder.ask_and_wait()
        job.communicate("\n", timeout=harness.LIMIT)
        self.assertEqual(recorder.end()[0], 0)
        self.assertGreater(trace.header["flight"]["overwritten"], 100_000)
        stacks, ids = Stacks(trace), trace.file_ids(data)
        reads = {row["time"]: row["offset"] for row in trace.calls(data)
                 if row["op"] in READS and row["dur"] >= PERIOD_NS}
        self.assertGreater(len(reads), 1)
        samples = {row["time"]: row for row in stacks.samples
                   if row["file"] in ids and row["op"] in READS}
        for time, offset in reads.items():
            sample = samples[time]
            chain = [frame[1:] for frame in stacks.chain(sample["stack"])]
            self.assertEqual(chain, TWO if offset else ONE, sample)
            self.assertEqual(sample["flags"] & CUT, 0)
        text = harness.faultline("report", recorder.traces()[0], "--table", "lines")
        self.assertIn(b"in one", text.stdout)


if __name__ == "__main__":
    unittest.main()
