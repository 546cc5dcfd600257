# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tables of lines, compared with what the program measured itself at each line, and with the calls
in the trace."""
import json
import math
import os
import unittest

import harness
from harness import Recording, machine

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_line_times.py")
SIZES = {"long": 32 << 20, "short": 128 << 10, "library": 128 << 10, "helper": 128 << 10}
FUNCTIONS = {"long": "Data.long", "short": "Data.short", "library": "library",
             "helper": "helper"}
READS = "preadv", "preadv2"
PERIOD_NS = 1000000
ERRORS = 5  # standard errors that an estimate may be off


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = machine().new_dir()
        for site, size in SIZES.items():
            harness.random_file(f"{cls.directory}/{site}", size)
        harness.cool(f"{cls.directory}/long")
        cls.recording = Recording(
            [harness.PYTHON, JOB, cls.directory, f"{cls.directory}/truth.json"],
            "--stacks", "python")
        cls.truth = harness.account(f"{cls.directory}/truth.json")

    def rows(self, site, *arguments):
        """The rows of a site's line."""
        tables = json.loads(self.report("--table", "lines", *arguments))
        return [row for row in tables["lines"]
                if row["file"] == JOB and row["line"] == self.truth[site]["line"]]

    def report(self, *arguments):
        done = harness.faultline("report", "--format", "json", *arguments, self.recording.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def row(self, site, state="io"):
        """Its longest row in a state: some fault may be at the same line."""
        return max((row for row in self.rows(site) if row["state"] == state),
                   key=lambda row: row["time_ns"])

    def reads(self, site):
        return [call for call in self.recording.trace.calls(f"{self.directory}/{site}")
                if call["op"] in READS]

    def check_time(self, site):
        """A line has the time of its calls, as far as its number of samples can say, and no more
        than the program measured around them."""
        row, truth = self.row(site), self.truth[site]
        calls = self.reads(site)
        taken_ns = sum(call["dur"] for call in calls)
        error_ns = ERRORS * row["uncertainty_ns"] + PERIOD_NS
        self.assertEqual(len(calls), truth["count"])
        self.assertEqual(row["function"], FUNCTIONS[site])
        self.assertAlmostEqual(row["time_ns"], taken_ns, delta=error_ns)
        self.assertLess(row["time_ns"], truth["time_ns"] + error_ns)
        short = [call["dur"] for call in calls if call["dur"] < PERIOD_NS]
        error = ERRORS * math.sqrt(sum(PERIOD_NS / dur for dur in short)) + 1
        self.assertAlmostEqual(row["count"], truth["count"], delta=error)
        return row

    def test_long(self):
        """Each read has a sample, so their time is exact."""
        row, calls = self.row("long"), self.reads("long")
        fetched = sum(call["fetched_bytes"] + call["fault_fetched_bytes"] for call in calls)
        self.assertEqual(row["samples"] - row["estimated_samples"], len(calls))
        self.assertEqual(row["time_ns"] - row["estimated_ns"], sum(call["dur"] for call in calls))
        self.assertGreater(fetched, 0)
        self.assertGreaterEqual(row["fetched_bytes"], fetched)

    def test_short(self):
        row = self.check_time("short")
        self.assertGreater(row["uncertainty_ns"], 0)
        self.assertEqual(row["kind"], "main")
        self.assertIsNone(row["library"])

    def test_library(self):
        """The application's line is named, and that of the library that it called."""
        row = self.check_time("library")
        self.assertEqual(row["library"], "reads.py:4")

    def test_helper(self):
        self.assertEqual(self.check_time("helper")["kind"], "helper")

    def test_wait(self):
        """Waits in a call that is no operation have the thread's state. They start when the thread
        leaves the CPU: later than its timer."""
        row, truth = self.row("sleep", "sleep"), self.truth["sleep"]
        self.assertEqual(row["uncertainty_ns"], 0)
        self.assertEqual(row["count"], truth["count"])
        self.assertLessEqual(row["time_ns"], truth["time_ns"])
        self.assertGreater(row["time_ns"], 3 * 40 * 1000000)

    def test_all_samples(self):
        """Lines, functions and samples add up to the same time in each state."""
        sums = {}
        for sample in self.recording.trace.dicts("sample"):
            state = sample["state"].decode()
            sums[state] = sums.get(state, 0) + sample["weight"]
        for table in "lines", "functions":
            found = {}
            for row in self.recording.report[table]:
                found[row["state"]] = found.get(row["state"], 0) + row["time_ns"]
            self.assertEqual(found, sums, table)

    def test_filters(self):
        short = self.row("short")
        # A fault at the same line may be of another file.
        for filters, delta in ((["--line", f"job_line_times.py:{short['line']}"], 0),
                               (["--function", "Data.short"], 0),
                               (["--file", "*/short"], 2 * PERIOD_NS)):
            rows = self.rows("short", *filters)
            nearest = min((row["time_ns"] for row in rows),
                          key=lambda time_ns: abs(time_ns - short["time_ns"]))
            self.assertAlmostEqual(nearest, short["time_ns"], delta=delta, msg=filters)
            self.assertEqual(self.rows("library", *filters), [], filters)
        below = json.loads(self.report("--by", "function", "--function", "read"))["functions"]
        self.assertEqual({row["function"] for row in below}, {"library"})

    def test_screen(self):
        """The first screen names the lines that took longest."""
        longest = max((row for row in self.recording.report["lines"]
                       if row["file"] and (row["state"] in ("io", "cpu") or row["kind"] == "main")),
                      key=lambda row: row["time_ns"])
        done = harness.faultline("report", self.recording.path)
        screen = done.stdout.decode().split("\nhow ")[0]
        self.assertIn("slowest lines, time summed over threads", screen)
        self.assertIn(longest["location"], screen)


class Memory(unittest.TestCase):
    """Calls that map or unmap memory are I/O only if they bring in or dirty pages of files."""

    JOB = """
import mmap, os, sys
populate = 0x8000
for _ in range(4):
    mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate).close()
file = os.open(sys.argv[1], os.O_RDONLY)
mmap.mmap(file, 0, mmap.MAP_SHARED | populate, mmap.PROT_READ).close()
"""

    def test_samples_agree_with_totals(self):
        path = harness.random_file(f"{machine().new_dir()}/data", 16 << 20)
        harness.cool(path)
        recording = Recording([harness.PYTHON, "-S", "-c", self.JOB, path], "--stacks", "python")
        calls = [call for call in recording.trace.calls() if call["op"] in ("mmap", "munmap")]
        long = {is_io: {call["time"] for call in calls if call["dur"] >= PERIOD_NS
                        and recording.trace.is_io(call) == is_io} for is_io in (True, False)}
        self.assertGreaterEqual(len(long[False]), 4)
        self.assertGreaterEqual(len(long[True]), 1)
        samples = [sample for sample in recording.trace.dicts("sample")
                   if sample["state"] == b"io"]
        times = {sample["time"] for sample in samples if sample["op"] in ("mmap", "munmap")}
        self.assertEqual(long[True] - times, set())
        self.assertEqual(long[False] & times, set())
        totals = recording.report["totals"]["io"]["thread_time_ns"]
        self.assertAlmostEqual(sum(sample["weight"] for sample in samples), totals,
                               delta=2 * PERIOD_NS)
        self.assertAlmostEqual(sum(row["io"] for row in recording.trace.dicts("thread_time")),
                               totals, delta=PERIOD_NS)
