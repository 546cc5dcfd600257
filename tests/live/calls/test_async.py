# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""io_uring and libaio operations are reported individually; where they are not recorded, the
report gives their number."""
import collections
import json
import os
import subprocess
import unittest

import bpf_maps
import harness
from harness import Recording, account, faultline, machine


UNFINISHED, SILENT = 1 << 12, 1 << 21  # as in the man page of the trace format
ONLY_COUNTED = ("io_uring_nop", "io_uring_provide_buffers")  # they have no file
WITHOUT = "--layers=task,syscall,fault,pagecache,span"


class NotRecorded(unittest.TestCase):
    def test_submissions(self):
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 64 << 10), f"{directory}/out.json"
        recording = Recording([machine().program("uring"), data, out], WITHOUT, status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        truth = account(out)
        told = recording.report["totals"]["async"]
        for name in ("io_uring", "libaio", "polled_rings"):
            self.assertEqual(told[name], truth[name], name)
        total = truth["io_uring"] + truth["libaio"]
        self.assertEqual(told["submissions_not_traced"], total)
        process = [row for row in recording.report["processes"] if row["pid"] == truth["pid"]]
        self.assertEqual([row["async_submissions"] for row in process], [total])
        self.assertEqual(recording.operations()["io_uring_enter"][1], 1, "errors")
        screen = faultline("report", recording.path).stdout.decode().split("\n\n")[0]
        screen = " ".join(screen.split())
        self.assertIn(f"io_uring: {truth['io_uring']} submissions, not traced", screen)
        self.assertIn(f"libaio: {truth['libaio']} submissions, not traced", screen)
        self.assertIn("1 ring was polled by the kernel", screen)

    def test_none(self):
        recording = Recording(["true"], WITHOUT)
        self.assertEqual(recording.report["totals"]["async"]["submissions_not_traced"], 0)
        self.assertNotIn(b"io_uring", faultline("report", recording.path).stdout)


class Forms(unittest.TestCase):
    def recording(self, types="all"):
        """Runs the workload that uses all forms; its account has a row each."""
        directory = machine().new_dir()
        out = f"{directory}/out"
        recording = Recording([machine().program("uring_forms"), directory, out],
                              f"--file-types={types}", status=None)
        if recording.done.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(recording.done.returncode, 0, recording.stderr)
        with open(out) as file:
            return recording, [json.loads(line) for line in file]

    def path(self, trace, row, file, directory, path):
        """The path that a row names, or its file's."""
        if row[path]:
            above = trace.files[row[directory]]["path"] if row[directory] else b""
            return os.fsdecode(os.path.join(above, row[path]))
        known = trace.files.get(row[file], {"mode": 0})
        return os.fsdecode(known["path"]) if known["mode"] >> 12 == 0o10 else ""

    def test_each_operation(self):
        """Linked and cancelled requests, registered files, suppressed completions, paths, a
        child on its parent's ring, many at once, cut off by process exit; request addresses
        repeat."""
        recording, truth = self.recording()
        names = ("pid", "op", "path", "path2", "flags", "offset", "asked", "result")
        counted = collections.Counter(row["op"] for row in truth)
        wanted = collections.Counter(tuple(row[name] for name in names) for row in truth
                                     if row["op"] not in ONLY_COUNTED)
        seen = collections.Counter()
        trace = recording.trace
        for row in trace.dicts("async"):
            paths = {"path": self.path(trace, row, "file", "dir", "path"),
                     "path2": self.path(trace, row, "file2", "dir2", "path2")}
            seen[tuple({**row, **paths}[name] for name in names)] += 1
        self.assertEqual(wanted - seen, collections.Counter(), "not reported")
        self.assertEqual(seen - wanted, collections.Counter(), "reported, but not done")
        told = {row["op"]: row["count"] for row in recording.report["operations"]
                if row["layer"] == "async"}
        self.assertEqual(told, dict(counted))
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)

    def test_unfinished_files(self):
        """Requests pending on pipes at process exit are only reported with that file type."""
        for types, count in (("reg", 0), ("reg,fifo", 1)):
            recording, _ = self.recording(types)
            files = recording.trace.files
            rows = [row for row in recording.trace.dicts("async") if row["flags"] & UNFINISHED
                    and files.get(row["file"], {"mode": 0})["mode"] >> 12 != 0o10]
            self.assertEqual([row["asked"] for row in rows], [4096] * count)

    def test_names_of_unrecorded_opens(self):
        """A name that is too long to be kept is not that of an earlier open of another type."""
        recording, truth = self.recording("reg")
        opened = [self.path(recording.trace, row, "file", "dir", "path")
                  for row in recording.trace.dicts("async")
                  if row["op"] == "io_uring_openat" and row["result"] >= 0]
        self.assertEqual(opened, [row["path"] for row in truth
                                  if row["op"] == "io_uring_openat" and row["result"] >= 0
                                  and not row["path"].endswith("/fifo")])

    def test_times(self):
        """Each lies within the run; one without a completion has no duration."""
        recording, _ = self.recording()
        totals = recording.trace.totals
        for row in recording.trace.dicts("async"):
            self.assertGreaterEqual(row["time"], totals["start_ns"])
            self.assertLessEqual(row["time"] + row["dur"], totals["end_ns"])
            self.assertEqual(row["dur"] == 0, bool(row["flags"] & SILENT))


class Crowded(unittest.TestCase):
    """The maps of operations in flight are limited: the test fills them with others."""

    def record(self, directory, command, *full):
        """A run of a workload with these maps full: its trace, and the report."""
        trace = f"{directory}/trace.flt"
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", "/bin/sh", "-c",
             'echo; read line; exec "$@"', "sh", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        run.stdout.readline()
        for count in bpf_maps.fill_maps(run.pid, *full):
            self.assertGreater(count, 1000)
        run.communicate(b"\n")
        if run.returncode == 77:
            self.skipTest("this kernel has no io_uring, or does not let us")
        self.assertEqual(run.returncode, 0)
        return harness.Trace(trace), harness.report_of(trace)

    def record_both(self, *full):
        """The workload's number of operations by io_uring and libaio, the trace's, the report."""
        directory = machine().new_dir()
        data, out = harness.random_file(f"{directory}/data", 64 << 10), f"{directory}/out.json"
        trace, report = self.record(directory, [machine().program("uring"), data, out], *full)
        truth = account(out)
        wanted = {"io_uring": truth["io_uring"] + truth["polled"], "libaio": truth["libaio"]}
        for row in report["methods"]:
            if row["method"] in wanted and row["op"] == "read":
                self.assertEqual((row["count"], row["bytes"]),
                                 (wanted[row["method"]], wanted[row["method"]] * truth["block_bytes"]))
        return sum(wanted.values()), trace.row_count("async"), report

    def test_slots(self):
        """A fallback has room: nothing is lost."""
        count, told, report = self.record_both("async_slots")
        self.assertEqual(told, count)
        self.assertEqual(report["trace"]["lost"]["total"], 0)

    def test_full(self):
        """No room at all: lost operations are counted, and so are their bytes."""
        count, told, report = self.record_both("async_slots", "async_flight")
        self.assertEqual(told, 0)
        self.assertEqual(report["trace"]["lost"]["by_layer"]["async"], count)

    def test_full_of_libaio(self):
        """The same for a program that has no operations but libaio's."""
        rounds, directory = 10, machine().new_dir()
        files = [harness.random_file(f"{directory}/{name}", rounds << 20) for name in ("a", "b")]
        trace, report = self.record(
            directory, [machine().program("cold_mix"), "libaio", "random", *files,
                        f"{directory}/out", str(rounds)], "async_slots", "async_flight")
        self.assertEqual(trace.row_count("async"), 0)
        self.assertEqual(report["trace"]["lost"]["by_layer"]["async"], 3 * rounds)
        self.assertEqual([row["count"] for row in report["methods"] if row["method"] == "libaio"],
                         [2 * rounds, rounds])


if __name__ == "__main__":
    unittest.main()
