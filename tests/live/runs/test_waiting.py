# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Calls and page faults that hang on a frozen file system, and have not returned when the
recording ends or is inspected."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness
from flights import Recorder
from harness import machine
from test_attach import Attached
from watched import ROOM, Watched

UNFINISHED = 1 << 12
EINPROGRESS = 115
DEPTH = 256
OPEN = "import sys; open(sys.argv[1], 'w')"
WRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY)
print("open", flush=True)
sys.stdin.readline()
os.pwrite(file, b"x", 0)
"""
# The same through a mapping: the store has to notify the file system first.
STORE = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
os.ftruncate(file, 1 << 20)
memory = mmap.mmap(file, 1 << 20)
memory[0]
print("open", flush=True)
sys.stdin.readline()
memory[0] = 1
"""
WAITING = 1 << 12
FAULT_UNFINISHED = 1 << 7


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
        """True if its main thread is in uninterruptible sleep."""
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

    def start_ready(self, script):
        """The job, which proceeds to the hanging operation once its input ends."""
        job = self.start(harness.PYTHON, "-S", "-c", script, self.path, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        self.addCleanup(job.stdout.close)
        job.stdout.readline()
        return job

    def hang(self, job):
        self.freeze()
        job.stdin.close()
        harness.wait_until(lambda: self.blocked(job.pid), 10)

    def test_open_before_attach(self):
        """The call was in flight when the recording began: its path is in the program's memory."""
        self.freeze()
        job = self.start(harness.PYTHON, "-S", "-c", OPEN, self.path)
        harness.wait_until(lambda: self.blocked(job.pid), 10)
        self.check(self.attach(job.pid), "openat", job.pid, 1_000_000_000)

    def test_open_without_environment(self):
        """The path is in the last page of the stack: nothing but the program's name follows."""
        self.freeze()
        job = self.start("/bin/dd", "if=/dev/null", f"of={self.path}", env={},
                         stderr=subprocess.DEVNULL)
        harness.wait_until(lambda: self.blocked(job.pid), 10)
        self.check(self.attach(job.pid), "openat", job.pid, 1_000_000_000)

    def test_write_before_attach(self):
        job = self.start_ready(WRITE)
        self.hang(job)
        self.check(self.attach(job.pid), "pwrite64", job.pid, 1_000_000_000)

    def test_write_after_attach(self):
        job = self.start_ready(WRITE)
        attached = Attached("-p", str(job.pid))
        self.hang(job)
        time.sleep(1.1)
        attached.end(signal.SIGINT)
        self.check(attached, "pwrite64", job.pid, 1_000_000_000)

    def test_uring_after_attach(self):
        """A hanging io_uring write, for which no thread waits in a call."""
        job = self.start_uring()
        attached = Attached("-p", str(job.pid))
        time.sleep(0.5)
        self.freeze()
        time.sleep(2.5)
        attached.end(signal.SIGINT)
        rows = [row for row in attached.trace.dicts("async") if row["flags"] & UNFINISHED]
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertEqual((row["pid"], row["result"]), (job.pid, -EINPROGRESS))
            self.assertGreaterEqual(row["dur"], 1_000_000_000)
        found, = [row for row in attached.report["findings"] if row["id"] == "still-waiting"]
        self.assertEqual(found["evidence"]["path"], self.path)
        self.assertEqual(attached.report["trace"]["unaccounted"], 0)
        self.assertGreaterEqual(attached.report["totals"]["io"]["time_ns"], 1_000_000_000)

    def start_uring(self, depth=4, *options):
        """A job whose io_uring writes hang once the file system is frozen, and its submitter."""
        if not (shutil.which("fio") and harness.has_uring()):
            self.skipTest("no fio, or no io_uring")
        with open(self.path, "wb") as file:
            file.write(bytes(1 << 20))
        os.sync()
        job = self.start("fio", "--name=hang", f"--filename={self.path}", "--rw=write", "--bs=4k",
                         "--size=1m", "--ioengine=io_uring", f"--iodepth={depth}", "--direct=1",
                         "--thread", "--minimal", "--time_based", "--runtime=20",
                         *options or ["--thinktime=20ms"], stdout=subprocess.DEVNULL)
        self.addCleanup(job.kill)
        return job

    def test_many_in_flight(self):
        """More hanging operations of a process than are listed one by one: all are counted, and
        those of later processes are still listed."""
        watched = Watched(*ROOM, "--interval", "0.5")
        self.addCleanup(watched.process.wait)
        self.addCleanup(watched.process.kill)
        many = self.start_uring(DEPTH, "--iodepth_batch=16")
        time.sleep(0.5)
        job = self.start_ready(WRITE)
        self.hang(job)

        def in_flight():
            reported = json.loads(watched.get("/jobs?jobs=4096&processes=64&files=0")[2])
            return {process["pid"]: (found["in_flight"]["count"], process["in_flight"])
                    for found in reported["jobs"] for process in found.get("processes", ())
                    if process["pid"] in (many.pid, job.pid)}

        harness.wait_until(lambda: in_flight().get(many.pid, (0,))[0] > DEPTH, 10)
        reported = in_flight()
        self.assertEqual(reported[many.pid][0], DEPTH + 1, reported)  # of both, in one cgroup
        self.assertEqual([(row["op"], row["count"]) for row in reported[job.pid][1]], [("pwrite64", 1)])

    def check_fault(self, traced, pid, path):
        row, = [row for row in traced.trace.dicts("fault") if row["flags"] & WAITING]
        self.assertTrue(row["flags"] & FAULT_UNFINISHED)
        self.assertEqual(row["pid"], pid)
        self.assertGreaterEqual(row["dur"], 1_000_000_000)
        found, = [row for row in traced.report["findings"] if row["id"] == "still-waiting"]
        self.assertEqual((found["evidence"]["path"], found["evidence"]["pid"]), (path, pid))
        self.assertEqual(traced.report["trace"]["unaccounted"], 0)
        self.assertGreaterEqual(traced.report["totals"]["io"]["time_ns"], 1_000_000_000)
        self.assertFalse([row for row in traced.report["findings"] if row["id"] == "killed"])

    def test_fault_after_attach(self):
        job = self.start_ready(STORE)
        attached = Attached("-p", str(job.pid))
        self.hang(job)
        time.sleep(1.1)
        attached.end(signal.SIGINT)
        self.check_fault(attached, job.pid, self.path)

    def test_fault_before_attach(self):
        """The faulting address is only on the kernel's stack, so the file is unknown."""
        job = self.start_ready(STORE)
        self.hang(job)
        self.check_fault(self.attach(job.pid), job.pid, None)

    def watch(self, pid, begun=lambda: None):
        """top's row for a process in its last frame; `begun` is called after the first."""
        top = subprocess.Popen(
            [machine().faultline, "top", "--connect", "none", "--batch", "--show", "processes", "--format",
             "json", "--interval", "0.5", "-n", "5"], stdout=subprocess.PIPE)
        self.addCleanup(top.stdout.close)
        text, frames, decoder = top.stdout.readline().decode(), [], json.JSONDecoder()
        begun()
        text += top.stdout.read().decode()
        self.assertEqual(top.wait(), 0)
        while text.strip():
            frame, end = decoder.raw_decode(text.strip())
            frames.append(frame)
            text = text.strip()[end:]
        return [row for row in frames[-1]["processes"] if row["pid"] == pid]

    def test_top(self):
        """Operations begun before the watch count from then on."""
        for script, op in ((WRITE, "pwrite64"), (STORE, "fault")):
            with self.subTest(op):
                job = self.start_ready(script)
                self.hang(job)
                row, = self.watch(job.pid)
                self.assertEqual(row["waits_in"].split()[0], op)
                if op == "pwrite64":
                    self.assertEqual(row["waits_in"].split()[1], self.path)
                self.assertGreater(row["waits_ns"], 1_000_000_000)
                self.assertAlmostEqual(row["busy"], 1, delta=0.3)
                self.thaw()
                job.wait()

    def test_top_uring(self):
        """Operations for which no thread waits in a call."""
        job = self.start_uring(depth=1)
        row, = self.watch(job.pid, self.freeze)
        self.assertEqual(row["waits_in"].split(), ["io_uring_write", self.path])
        self.assertGreater(row["waits_ns"], 1_000_000_000)
        self.assertAlmostEqual(row["busy"], 1, delta=0.3)

    def test_flight(self):
        """A trigger fires while the call hangs, and the trace has that call."""
        for condition, why in ((["--flight-when", "stall=50%:1"], "stall"),
                               (["--flight-slower", "1100ms"], "has not returned")):
            with self.subTest(why):
                job = self.start_ready(WRITE)
                recorder = Recorder("--flight", "4M", "--interval", "0.5", *condition, "-p", str(job.pid))
                self.hang(job)
                self.assertTrue(harness.wait_until(recorder.whole))
                trace = recorder.whole()[0]
                self.thaw()
                job.wait()
                recorder.end()
                self.assertIn(why, trace.header["flight"]["reason"])
                row, = [row for row in trace.calls(self.path) if row["flags"] & UNFINISHED]
                self.assertEqual((row["op"], row["pid"], row["result"]), ("pwrite64", job.pid, -EINPROGRESS))
                report = harness.report_of(recorder.traces()[0])
                found, = [row for row in report["findings"] if row["id"] == "still-waiting"]
                self.assertEqual(found["evidence"]["path"], self.path)
                self.assertEqual(report["trace"]["unaccounted"], 0)


if __name__ == "__main__":
    unittest.main()
