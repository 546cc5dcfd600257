# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A report's span and overlap numbers, recomputed from the program's own log of its phases and
the trace's operations, with separate code and another algorithm."""
import collections
import functools
import json
import os
import unittest

import harness
from harness import Recording, account, machine
from intervals import measure, minus, union

APP_IO = ("io", "data", "checkpoint")
READ_FAMILY = ("read", "pread64", "readv", "preadv", "preadv2")
WRITE_FAMILY = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
SYNC_FAMILY = ("fsync", "fdatasync", "sync_file_range", "syncfs", "sync", "msync")
MAP_FAMILY = ("mmap", "munmap", "mremap", "madvise", "mlock", "mlock2")
TOLERANCE_NS, TOLERANCE = 2_000_000, 0.01


def is_io(row):
    """Mapping and unmapping is not I/O, unless the call itself fetched something."""
    if row["kind"] == "fault":
        return True
    if row["kind"] not in ("syscall", "syscall_path"):
        return False
    return row["op"] not in MAP_FAMILY or row["fetched_bytes"] or row["major"]


def printed(path):
    """Operations of a trace as `print --format json` shows them."""
    done = harness.faultline("print", "--format", "json", path)
    return list(filter(is_io, map(json.loads, done.stdout.splitlines())))


def interval(row):
    return row["time_ns"], row["time_ns"] + row["dur_ns"]


def phases_between(phases):
    return union((phase["start"], phase["end"]) for phase in phases)


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = machine().new_dir("ext4")
        data, out = f"{directory}/data", f"{directory}/out.json"
        harness.random_file(data, 32 << 20)

        def record():
            harness.cool(data)
            return Recording([machine().program("span_work"), directory, out], "--force",
                             trace=f"{directory}/trace.flt", env={**os.environ, "RANK": "5"})

        cls.recording = harness.undisturbed(record, lambda recording: True)
        cls.report = cls.recording.report
        cls.log = account(out)
        cls.phases = cls.log["phases"]
        cls.rows = printed(cls.recording.path)
        cls.data = data
        cls.spans = {row["name"]: row for row in cls.report["spans"] if row["name"]}

    def near(self, reported, right, what):
        allowed = max(TOLERANCE_NS, TOLERANCE * right)
        self.assertLessEqual(abs(reported - right), allowed, f"{what}: {reported} in place of {right}")

    # --- oracles ---

    def owner(self, row, begin, end):
        """The phase that an operation belongs to, by the log: the innermost of its thread, else
        of its process, else of its parent."""
        covering = [p for p in self.phases if p[begin] <= row["time_ns"] < p[end]]
        for mine in (lambda p: p["pid"] == row["pid"] and p["tid"] == row["tid"],
                     lambda p: p["pid"] == row["pid"],
                     lambda p: p["pid"] != row["pid"] and p["pid"] == self.parent):
            found = [p for p in covering if mine(p)]
            if found:
                return max(found, key=lambda p: p["start"])["name"]
        return None

    @functools.cached_property
    def owned(self):
        """{name: (its operations, and possible ones: they began while a span was being begun or
        ended, at a moment that the log does not resolve)}."""
        owned = {name: ([], []) for name in (*self.spans, None)}
        for row in self.rows:
            names = {self.owner(row, "start", "end"), self.owner(row, "begun", "ending")}
            for name in names:
                owned[name][len(names) > 1].append(row)
        return owned

    def between(self, reported, name, value, wanted=lambda row: True):
        """A phase's number is the sum over its operations, and possibly over some of the others."""
        sure, maybe = (sum(map(value, filter(wanted, rows))) for rows in self.owned[name])
        self.assertLessEqual(sure, reported)
        self.assertLessEqual(reported, sure + maybe)

    @property
    def parent(self):
        return next(p["pid"] for p in self.phases if p["name"] == "epoch")

    def of_category(self, *categories):
        return phases_between(p for p in self.phases if p["category"] in categories)

    def of_calls(self, ops):
        return union(interval(row) for row in self.rows if row.get("op") in ops)

    # --- tests ---

    def test_nothing_lost(self):
        self.assertEqual(self.report["trace"]["lost"]["total"], 0)
        self.assertEqual(set(self.spans), {p["name"] for p in self.phases})

    def test_count_and_time(self):
        times, ends = collections.Counter(), collections.defaultdict(list)
        for phase in self.phases:
            times[phase["name"]] += phase["end"] - phase["start"]
            ends[phase["name"]].append(phase["end"] - phase["start"])
        for name, row in self.spans.items():
            with self.subTest(name):
                self.assertEqual(row["count"], len(ends[name]))
                self.assertEqual(row["unfinished"], 0)
                self.near(row["time_ns"], times[name], "time")
                alone = phases_between(p for p in self.phases if p["name"] == name)
                self.near(row["union_ns"], measure(alone), "union")
                self.near(row["max_ns"], max(ends[name]), "longest")

    def test_bytes(self):
        """Exactly the bytes in the program's log; libraries are read before the first span."""
        for name, row in self.spans.items():
            with self.subTest(name):
                right = self.log["bytes"].get(name, {"read": 0, "write": 0})
                self.assertEqual(row["read_bytes"], right["read"])
                self.assertEqual(row["write_bytes"], right["write"])

    def test_owners_are_known(self):
        doubtful = {id(row) for _, maybe in self.owned.values() for row in maybe}
        self.assertLess(len(doubtful), 0.1 * len(self.rows))

    def test_fetched(self):
        """4 MiB of the file were touched, in one span."""
        self.assertGreaterEqual(self.spans["touch"]["mmap_fetched_bytes"], 4 << 20)
        for name, row in self.spans.items():
            with self.subTest(name):
                for reported, value in (
                    ("mmap_fetched_bytes", lambda r: r["fetched_bytes"]),
                    ("faults", lambda r: 1),
                    ("major", lambda r: r["flags"] & 1),
                ):
                    self.between(row[reported], name, value, lambda r: r["kind"] == "fault")

    def test_io_time(self):
        for name, row in self.spans.items():
            mine = [interval(r) for r in self.owned[name][0]]
            with self.subTest(name):
                self.between(row["operations"], name, lambda r: 1)
                self.near(row["io_time_ns"], measure(union(mine)), "I/O time")
                self.near(row["io_thread_time_ns"], sum(b - a for a, b in mine), "thread time")

    def test_none_twice(self):
        """Each operation is in one span or in none."""
        reported = sum(row["operations"] for row in self.spans.values())
        sure, maybe = (len(rows) for rows in self.owned[None])
        self.assertLessEqual(len(self.rows) - sure - maybe, reported)
        self.assertLessEqual(reported, len(self.rows) - sure)

    def test_inherited(self):
        """Only a child's operations outside of its own spans."""
        for name, row in self.spans.items():
            with self.subTest(name):
                if name == "item":
                    self.assertEqual(row["inherited"], 0)
                else:
                    self.between(
                        row["inherited"], name, lambda r: 1, lambda r: r["pid"] != self.parent
                    )

    def check_overlap(self, reported):
        compute, app_io = self.of_category("compute"), self.of_category(*APP_IO)
        io = union(interval(row) for row in self.rows)
        for name, right in {
            "compute_ns": compute,
            "io_ns": io,
            "unoverlapped_io_ns": minus(io, compute),
            "unoverlapped_compute_ns": minus(compute, io),
            "app_io_ns": app_io,
            "unoverlapped_app_io_ns": minus(app_io, compute),
            "unoverlapped_app_compute_ns": minus(compute, app_io),
        }.items():
            with self.subTest(name):
                self.near(reported[name], measure(right), name)

    def test_overlap(self):
        self.check_overlap(self.report["overlap"])
        # Not trivial: some I/O was hidden, some was not.
        reported = self.report["overlap"]
        self.assertGreater(reported["unoverlapped_io_ns"], 0)
        self.assertGreater(reported["io_ns"] - reported["unoverlapped_io_ns"], 0)

    def test_by_rank(self):
        (row,) = self.report["overlap"]["by_rank"]
        self.assertEqual(row["rank"], 5)
        self.check_overlap(row)

    def test_classes(self):
        compute = self.of_category("compute")
        for name, ops in (
            ("read", READ_FAMILY),
            ("write", WRITE_FAMILY),
            ("sync", SYNC_FAMILY),
        ):
            reported, right = self.report["overlap"][name], self.of_calls(ops)
            with self.subTest(name):
                self.assertEqual(reported["count"], sum(r.get("op") in ops for r in self.rows))
                self.near(reported["time_ns"], measure(right), name)
                self.near(reported["unoverlapped_ns"], measure(minus(right, compute)), name)
        faults = union(interval(r) for r in self.rows if r["kind"] == "fault")
        reported = [self.report["overlap"][name] for name in ("mmap_read", "mmap_write")]
        self.near(sum(row["time_ns"] for row in reported), measure(faults), "faults")

    def test_steps(self):
        """One row per step, in order: its time, its I/O, and how much of that no compute hid."""
        phases = [p for p in self.phases if p["name"] == "step"]
        io = union(interval(row) for row in self.rows)
        steps = sorted(self.report["steps"], key=lambda row: row["index"])
        self.assertEqual([row["index"] for row in steps], list(range(len(phases))))
        first = phases[0]["start"] - steps[0]["start_ns"]
        for row, phase in zip(steps, phases):
            span = phases_between([phase])
            inside = measure(io) - measure(minus(io, span))
            self.assertEqual(row["rank"], 5)
            self.near(row["start_ns"] + first, phase["start"], "start")
            self.near(row["time_ns"], phase["end"] - phase["start"], "time")
            self.near(row["io_ns"], inside, "I/O")
            self.near(row["stall_ns"], 0, "stall: the step is compute")

    def test_text(self):
        """The same in text."""
        done = harness.faultline("report", self.recording.path)
        self.assertEqual(done.returncode, 0)
        text = done.stdout.decode()
        for name in self.spans:
            self.assertIn(name, text)


class NoCompute(unittest.TestCase):
    def test_overlap_is_unknown(self):
        """Unknown without compute spans; a job without spans has none."""
        directory = machine().new_dir()
        recording = Recording([machine().program("span_marks"), f"{directory}/calls", "nested"])
        overlap = recording.report["overlap"]
        if overlap is not None:
            for name in ("compute_ns", "unoverlapped_io_ns", "unoverlapped_compute_ns"):
                self.assertIsNone(overlap[name], name)
        recording = Recording(["true"])
        self.assertIsNone(recording.report["overlap"])
        self.assertFalse(recording.report["spans"])


if __name__ == "__main__":
    unittest.main()
