# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Thread states in faultline monitor and top, for programs that are each in one state."""
import importlib.util
import subprocess
import sys
import time
import unittest

import harness
from harness import below_root, in_cgroup, machine
from test_top import Frames
from test_users import AS_NOBODY, CAPABILITIES, capable
from watching import Watching

FOREVER = 1000000  # seconds
# Each waits for `seconds` in one state.
STATES = {
    "sleep": "time.sleep(seconds)",
    "lock": "lock.acquire(timeout=seconds)",
    "pipe": "select.select([end], [], [], seconds)",
    "cpu": "end_at = time.monotonic() + seconds\n    while time.monotonic() < end_at: pass",
}
PROGRAM = """
import os, select, sys, threading, time
seconds = float(sys.argv[1])
end, other_end = os.pipe()
lock = threading.Lock()
lock.acquire()
file = os.open(sys.argv[2], os.O_RDONLY)
os.write(1, b"ready\\n")
while True:
    os.pread(file, 4096, 0)
    """


class Programs:
    """Programs in each state, by state. Each reads once, or again after `seconds`."""

    def __init__(self, test, seconds, enter=lambda state, *command: command):
        self.all = {}
        data = harness.random_file(f"{machine().new_dir()}/data", 4096)
        test.addCleanup(self.end)
        for state, wait in STATES.items():
            self.all[state] = machine().start(
                enter(state, sys.executable, "-c", PROGRAM + wait, str(seconds), data),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        for program in self.all.values():
            test.assertEqual(program.stdout.readline(), b"ready\n")

    def end(self):
        for program in self.all.values():
            program.kill()
            program.wait()
            program.stdout.close()


@unittest.skipUnless(importlib.util.find_spec("prometheus_client"), "no python3-prometheus-client")
class Monitor(Watching):
    def states(self, samples, group):
        return {dict(labels)["state"]: value for labels, value in
                samples.find("faultline_thread_seconds_total", cgroup=below_root(group)).items()}

    def test_states(self):
        """Threads count while they are blocked, or compute, without a switch; no time counts twice."""
        watched, groups = self.watch(), {state: harness.new_cgroup(self) for state in STATES}
        started = time.monotonic()
        programs = Programs(self, FOREVER, lambda state, *command: in_cgroup(groups[state], *command))
        before, grown, blocked = {}, {}, set(STATES) - {"cpu"}

        def only_theirs_grow():
            samples = watched.scrape()
            for state, group in groups.items():
                now = self.states(samples, group)
                was = before.get(state, {})
                grown[state] = {name: value - was.get(name, 0) for name, value in now.items()
                                if value != was.get(name, 0)}
                before[state] = now
            return all(set(grown[state]) == {state} for state in blocked)

        self.assertTrue(harness.wait_until(only_theirs_grow), grown)
        time.sleep(1)
        only_theirs_grow()
        took = {state: sum(grown[state].values()) for state in STATES}
        for state in STATES:
            self.assertGreater(grown[state].get(state, 0), 0)
        # What computes may have to wait for a CPU.
        computing = sum(grown["cpu"].get(name, 0) for name in ("cpu", "runnable"))
        self.assertGreater(computing, 0.9 * took["cpu"], grown)
        for state in blocked:
            self.assertFalse(set(grown[state]) & set(STATES) - {state}, grown)
            self.assertGreater(took[state], max(took[other] for other in blocked) / 2, grown)
        programs.end()
        samples = watched.scrape()
        elapsed = time.monotonic() - started
        for state, group in groups.items():
            now = self.states(samples, group)
            for name, value in before[state].items():
                self.assertGreaterEqual(now[name], value, (state, name))
            self.assertLess(sum(now.values()), elapsed, (state, now, before[state]))
        self.assertEqual(watched.end(), 0)

    def test_moved(self):
        """A process that only sleeps counts in the cgroup that it was moved to."""
        watched, groups = self.watch(), [harness.new_cgroup(self) for _ in "ab"]
        job = machine().start(in_cgroup(groups[0], "sleep", str(FOREVER)))
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.assertTrue(harness.wait_until(
            lambda: self.states(watched.scrape(), groups[0]).get("sleep")))
        with open(f"{groups[1]}/cgroup.procs", "w") as file:
            file.write(str(job.pid))
        self.assertTrue(harness.wait_until(
            lambda: self.states(watched.scrape(), groups[1]).get("sleep")))
        first = watched.scrape()
        time.sleep(0.1)
        second = watched.scrape()
        self.assertEqual(self.states(second, groups[0]), self.states(first, groups[0]))
        self.assertGreater(self.states(second, groups[1])["sleep"],
                           self.states(first, groups[1])["sleep"])


WITHOUT_IO = {
    "sleep": "time.sleep(FOREVER)",
    "cpu": "while True: pass",
    "lock": "while True: lock.acquire(timeout=0.005)",
}
NO_IO_PROGRAM = """
import os, threading, time
FOREVER = 1000000
lock = threading.Lock()
lock.acquire()
os.write(1, b"ready\\n")
"""


# A function for each state, which waits or computes at its third line.
LINES_PROGRAM = """
import os, select, sys, threading, time
end, other_end = os.pipe()
held = threading.Lock()
held.acquire()

def sleep():
    while True:
        time.sleep(0.02)

def lock():
    while True:
        held.acquire(timeout=0.02)

def pipe():
    while True:
        select.select([end], [], [], 0.02)

def cpu():
    while True:
        x = 0; x = 1; x = 2; x = 3

def child():
    while started:
        os.wait()

# Lives as long as the other end is open.
started = sys.argv[1] == "child"
if started and not os.fork():
    os.close(other_end)
    os.read(end, 1)
    os._exit(0)
function = globals()[sys.argv[1]]
print(function.__code__.co_firstlineno + 2, flush=True)
function()
"""
LINES = ["sleep", "lock", "pipe", "cpu", "child"]  # the last one waits once, for ever


class Lines:
    """Programs in each state, which print at which line they are."""

    def __init__(self, test, *by):
        self.test, self.by, self.all, self.at = test, by, {}, {}
        self.path = f"{machine().new_dir()}/job.py"
        with open(self.path, "w") as file:
            file.write(LINES_PROGRAM)

    def start(self, *states):
        for state in states:
            program = machine().start([*self.by, harness.PYTHON, self.path, state],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            self.test.addCleanup(program.stdout.close)
            self.test.addCleanup(program.wait)
            self.test.addCleanup(program.kill)
            self.all[program.pid] = state
            self.at[state] = f"job.py:{int(program.stdout.readline())} in {state}"

    def await_lines(self, frames):
        """Each process has been seen in its state, then always at its line."""
        missing, end = set(self.at), time.monotonic() + harness.LIMIT / 4
        while missing:
            self.test.assertLess(time.monotonic(), end, missing)
            for row in frames.next()["processes"]:
                state = self.all.get(row["pid"])
                if state and row["waits_for"] == state and row["at"]:
                    # A loop's other line runs, too, but hardly ever.
                    self.test.assertEqual(row["at"], self.at[state])
                    missing -= {state}
                elif state and row["waits_for"] == "runnable" and row["at"]:
                    missing -= {state} & {"cpu"}


class Top(unittest.TestCase):
    def test_lines(self):
        """Processes have the line at which they are, whether they started before top or later, and
        whoever's they are; unless stacks are off."""
        lent = [*AS_NOBODY, capable(machine().new_dir(), CAPABILITIES)]
        for by, program, before in ((), None, ["sleep", "lock", "child"]), (AS_NOBODY, lent, LINES):
            lines = Lines(self, *by)
            lines.start(*before)
            frames = Frames("--show", "processes", "--idle", "--connect", "none",
                            program=program)
            try:
                frames.next()
                lines.start(*(set(LINES) - set(before)))
                lines.await_lines(frames)
            finally:
                frames.end()
        frames = Frames("--show", "processes", "--connect", "none", "--stacks", "off")
        try:
            rows = [row for _ in range(3) for row in frames.next()["processes"]]
        finally:
            frames.end()
        self.assertTrue({row["pid"] for row in rows} & set(lines.all))
        self.assertEqual({row["at"] for row in rows}, {None})

    def test_without_io(self):
        """Processes without I/O have rows; one that sleeps all the time only with --idle."""
        programs, seen = {}, {}
        for state, work in WITHOUT_IO.items():
            programs[state] = machine().start([sys.executable, "-c", NO_IO_PROGRAM + work],
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            self.addCleanup(programs[state].stdout.close)
            self.addCleanup(programs[state].wait)
            self.addCleanup(programs[state].kill)
            self.assertEqual(programs[state].stdout.readline(), b"ready\n")
        for options in [], ["--idle"]:
            frames = Frames("--show", "processes", "--connect", "none", *options)
            try:
                frames.next()  # its interval includes the start
                expected = set(programs) - ({"sleep"} if not options else set())
                rows = {}
                while not {programs[state].pid for state in expected} <= set(rows):
                    rows |= {row["pid"]: row for row in frames.next()["processes"]}
            finally:
                frames.end()
            seen[bool(options)] = rows
            self.assertGreater(rows[programs["cpu"].pid]["cpu"], rows[programs["lock"].pid]["cpu"])
            self.assertIn(rows[programs["lock"].pid]["waits_for"], ("lock", "runnable"))
        self.assertNotIn(programs["sleep"].pid, seen[False])
        self.assertEqual(seen[True][programs["sleep"].pid]["waits_for"], "sleep")

    def test_states(self):
        """Each program's row has its state; on a busy machine it may wait longest for a CPU."""
        programs = Programs(self, 0.02)
        state_of = {program.pid: state for state, program in programs.all.items()}
        frames, missing = Frames("--show", "processes", "--connect", "none"), set(STATES)
        try:
            frames.next()
            while missing:
                for row in frames.next()["processes"]:
                    state = state_of.get(row["pid"])
                    if state and row["waits_for"] == "runnable":
                        missing -= {state} & {"cpu"}
                    elif state:
                        self.assertEqual(row["waits_for"], state)
                        missing -= {state}
        finally:
            frames.end()
