# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""faultline top with and without a monitor: its output for a program matches what the program
did."""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import unittest

import harness
from harness import machine
from test_users import AS_NOBODY, CAPABILITIES, capable

READS, BYTES = 1500, 8192
PROGRAM = f"""
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
print("ready", flush=True)
for line in sys.stdin:
    for i in range({READS}):
        os.pread(file, {BYTES}, 0)
    print("done", flush=True)
"""


class Frames:
    """top's output, frame by frame."""

    def __init__(self, *arguments, program=None):
        self.process = machine().start(
            [*(program or [machine().faultline]), "top", "--batch", "--interval", "0.25", "--format", "json",
             *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.decoder = json.JSONDecoder()
        self.text = ""

    def next(self):
        while True:
            try:
                frame, end = self.decoder.raw_decode(self.text.lstrip())
            except ValueError:
                line = self.process.stdout.readline()
                if not line:
                    raise AssertionError(f"ended: {self.process.wait(harness.LIMIT)}")
                self.text += line
                continue
            self.text = self.text.lstrip()[end:]
            return frame

    def end(self):
        self.process.terminate()
        self.process.wait(harness.LIMIT)
        self.process.stdout.close()


def amount(frame, row, column):
    """The amount between two frames, from a rounded rate."""
    return row[column] * frame["node"]["interval_ns"] / 1e9


class Top(unittest.TestCase):
    def setUp(self):
        self.path = f"{machine().new_dir()}/data"
        harness.random_file(self.path, BYTES)
        os.chmod(self.path, 0o644)
        self.start()

    def start(self, *by):
        self.program = machine().start([*by, sys.executable, "-c", PROGRAM, self.path],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.program.stdout.readline(), "ready\n")

    def tearDown(self):
        self.program.stdin.close()
        self.program.wait(harness.LIMIT)
        self.program.stdout.close()

    def work(self):
        self.program.stdin.write("go\n")
        self.program.stdin.flush()
        self.assertEqual(self.program.stdout.readline(), "done\n")

    def check(self, *arguments, **options):
        """The program's reads appear in frames, none twice and none missing."""
        for subject, is_it in (("processes", lambda row: row["pid"] == self.program.pid),
                               ("files", lambda row: row["path"] == self.path)):
            frames = Frames("--show", subject, *arguments, **options)
            try:
                first = frames.next()
                self.work()
                read = calls = error = 0
                while read < READS * BYTES - error:
                    frame = frames.next()
                    for row in filter(is_it, frame[subject]):
                        read += amount(frame, row, "read_bytes")
                        # Python may touch some of its pages for the first time.
                        calls += amount(frame, row, "operations") - amount(frame, row, "faults")
                        error += frame["node"]["interval_ns"] / 1e9
                self.assertAlmostEqual(read, READS * BYTES, delta=1 + error)
                self.assertAlmostEqual(calls, READS, delta=1 + error)
                self.assertFalse([row for row in first[subject] if is_it(row)])
            finally:
                frames.end()

    def test_by_itself(self):
        self.check("--connect", "none")

    def test_of_another_user(self):
        """Root sees everyone's activity; a user of a program with file capabilities only their
        own."""
        lent = [*AS_NOBODY, capable(machine().new_dir(), CAPABILITIES)]
        frames = Frames("--show", "processes", "--connect", "none", program=lent)
        try:
            frames.next()
            self.work()
            rows = [row for _ in range(3) for row in frames.next()["processes"]]
        finally:
            frames.end()
        self.assertNotIn(self.program.pid, [row["pid"] for row in rows])
        self.tearDown()
        self.start(*AS_NOBODY)
        self.check("--connect", "none")
        self.check("--connect", "none", program=lent)

    def test_asks_a_monitor(self):
        socket = f"{machine().new_dir()}/socket"
        monitor, messages = machine().start_ready("monitor", "-q", "--listen", f"unix:{socket}",
                                              "--interval", "0.1")
        self.assertIn("watching", messages)
        try:
            self.check("--connect", f"unix:{socket}")
        finally:
            monitor.terminate()
            self.assertEqual(monitor.wait(harness.LIMIT), 0)

    def test_gives_the_terminal_back(self):
        """Threads that watch the machine do not take the signals meant to end it."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        before, drawn = termios.tcgetattr(slave), b""
        try:
            watching = machine().start([machine().faultline, "top", "--connect", "none", "--interval",
                                        "0.25"], stdin=slave, stdout=slave, stderr=slave)
            while b" in I/O" not in drawn:  # of two samples
                self.assertTrue(select.select([master], [], [], harness.LIMIT)[0])
                drawn += os.read(master, 65536)
            self.assertNotEqual(termios.tcgetattr(slave), before)
            watching.send_signal(signal.SIGINT)
            self.assertEqual(watching.wait(harness.LIMIT), 0)
            self.assertEqual(termios.tcgetattr(slave), before)
        finally:
            os.close(master)
            os.close(slave)

    def test_without_privileges(self):
        done = subprocess.run(harness.as_user(65534, machine().faultline, "top", "--batch", "-n", "1",
                                              "--connect", "none"),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=harness.LIMIT)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("root", done.stderr)
