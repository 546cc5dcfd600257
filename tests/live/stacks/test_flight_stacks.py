# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Stacks in traces of the flight recorder: each is complete, whatever has been dropped."""
import os
import subprocess
import time
import unittest

import harness
from flights import Recorder
from harness import machine
from test_stacks import (CUT, PERIOD_NS, READ_BYTES, READS, UNFINISHED, UNFINISHED_SAMPLE,
                         Stacks)

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

# Threads that wait for good: for a lock, a pipe, and the other end of a FIFO.
HANGING = """
import os, sys, threading
lock = threading.Lock()
ends = os.pipe()
ready = [threading.Event() for _ in range(3)]
def locked():
    ready[0].set()
    lock.acquire()
def piped():
    ready[1].set()
    os.read(ends[0], 1)
def opened():
    ready[2].set()
    os.open(sys.argv[1], os.O_RDONLY)
sys.stdin.readline()
lock.acquire()
for number, target in enumerate((locked, piped, opened)):
    threading.Thread(target=target, daemon=True).start()
    ready[number].wait()
print("done", flush=True)
sys.stdin.readline()
os._exit(0)
"""
HANGS = {(8, "locked"): "lock", (11, "piped"): "pipe", (14, "opened"): "io",
         (21, "<module>"): "pipe"}


class Flight(unittest.TestCase):
    def start(self, script, *arguments, more=()):
        job = machine().start([harness.PYTHON, "-c", script, *arguments], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
        return job, Recorder("--flight", "1M", "-p", str(job.pid), *more)

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
        lines = harness.report_of(recorder.traces()[0])["lines"]
        self.assertLessEqual({"two" if offset else "one" for offset in reads.values()},
                             {row["function"] for row in lines})

    def check_hanging(self, trace, fifo):
        """Each thread has a sample of what it waits for, up to the end of the trace."""
        end_ns = trace.totals["end_ns"]
        stacks, found = Stacks(trace), {}
        for sample in stacks.samples:
            if sample["flags"] & UNFINISHED_SAMPLE:
                self.assertEqual(sample["time"] + sample["dur"], end_ns)
                self.assertEqual(sample["flags"], UNFINISHED_SAMPLE)
                line = tuple(stacks.chain(sample["stack"])[0][1:])
                found[line] = os.fsdecode(sample["state"])
        self.assertEqual(found, HANGS)
        (call,) = [row for row in trace.dicts("syscall_path") if row["flags"] & UNFINISHED]
        self.assertEqual((call["op"], os.fsdecode(call["path"])), ("openat", fifo))
        # The open of a FIFO is a wait, too.
        waits = [row["state"] for row in trace.dicts("wait") if row["time"] + row["dur"] == end_ns]
        self.assertEqual(sorted(waits), [b"lock", b"pipe", b"pipe", b"pipe"])

    def check_times(self, trace):
        """The times of each thread follow one another without a gap."""
        spans = {}
        for row in trace.dicts("thread_time"):
            spans.setdefault(row["tid"], []).append((row["time"], row["time"] + row["dur"]))
        self.assertEqual(len(spans), 4)
        for times in spans.values():
            times.sort()
            for (_, end), (begin, _) in zip(times, times[1:]):
                self.assertEqual(begin, end)
            self.assertGreaterEqual(times[-1][1], trace.totals["end_ns"])

    def hang(self, job):
        job.stdin.write("\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "done\n")
        time.sleep(0.1)  # until the threads have called what they hang in

    def test_hanging(self):
        """Threads that hang have a line and a state, in each trace again."""
        fifo = f"{machine().new_dir()}/fifo"
        os.mkfifo(fifo)
        job, recorder = self.start(HANGING, fifo, more=("--flight-every", "1ms"))
        self.hang(job)
        for count in 1, 2:
            trace = recorder.ask_and_wait(count)
            self.check_hanging(trace, fifo)
            self.check_times(trace)
        job.communicate("\n", timeout=harness.LIMIT)
        self.assertEqual(recorder.end()[0], 0)
        report = harness.report_of(recorder.traces()[-1])
        functions = {row["function"] for row in report["lines"]}
        self.assertLessEqual({function for _, function in HANGS}, functions)

    def test_monitor(self):
        """The same for a chosen job of a node. Others have no samples."""
        fifo, group = f"{machine().new_dir()}/fifo", harness.new_cgroup(self)
        os.mkfifo(fifo)
        recorder = Recorder("--listen", f"unix:{machine().new_dir()}/socket", "--flight", "32M",
                            "--flight-of", f"cgroup={harness.below_root(group)}",
                            output="f.flt", command="monitor", ready="watching ")
        command = [harness.PYTHON, "-c", HANGING, fifo]
        chosen, other = [
            machine().start(full, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for full in (harness.in_cgroup(group, *command), command)]
        for job in chosen, other:
            self.hang(job)
        trace = recorder.ask_and_wait()
        for job in chosen, other:
            job.communicate("\n", timeout=harness.LIMIT)
        self.assertEqual(recorder.end()[0], 0)
        self.check_hanging(trace, fifo)
        self.assertEqual({row["pid"] for row in trace.dicts("sample")}, {chosen.pid})


if __name__ == "__main__":
    unittest.main()
