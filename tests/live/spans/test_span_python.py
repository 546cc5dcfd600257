# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Spans that Python programs mark themselves, compared with the programs' own logs."""
import os
import subprocess
import unittest

import harness
from harness import Recording, account, machine, python_path

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_spans.py")
DFTRACER_JOB = os.path.join(harness.TOP, "tests/live/jobs/job_dftracer.py")
RECORDED_JOB = os.path.join(harness.TOP, "tests/live/jobs/job_recorded.py")
FILES = 6


class Python(unittest.TestCase):
    def record(self, way):
        directory = machine().new_dir()
        for i in range(FILES):
            harness.random_file(f"{directory}/{i}", 20_000 + 1000 * i)
        out = f"{directory}/out.json"
        recording = Recording([harness.PYTHON, JOB, way, directory, out], env=python_path())
        log = account(out)
        self.check_rows(recording, log)
        return recording, log, directory

    def check_rows(self, recording, log):
        """Each span of the log is a begin and an end in the trace at the logged times, and
        nothing more."""
        lost = recording.report["trace"]["lost"]
        self.assertEqual(lost["total"], 0, lost)
        begins = list(recording.trace.dicts("span_begin"))
        ends = {(row["pid"], row["id"]): row for row in recording.trace.dicts("span_end")}
        self.assertEqual(len(begins), len(log["spans"]))
        self.assertEqual(len(ends), len(log["spans"]))
        self.assertEqual(recording.trace.row_count("span_end"), len(ends))
        for span in log["spans"]:
            with self.subTest(span["name"]):
                (begin,) = [
                    row
                    for row in begins
                    if (row["pid"], row["tid"]) == (span["pid"], span["tid"])
                    and span["before"] <= row["time"] <= span["begun"]
                ]
                self.assertEqual(begin["name"], span["name"].encode())
                self.assertEqual(begin["category"], span["category"].encode())
                end = ends[begin["pid"], begin["id"]]
                self.assertLessEqual(span["ending"], end["time"])
                self.assertLessEqual(end["time"], span["after"])

    def check_bytes(self, recording, directory, owners):
        """{span: files read in it}: it read at least those, and no other span did."""
        rows = {row["name"]: row for row in recording.report["spans"]}
        for name, numbers in owners.items():
            bytes_of_files = sum(os.path.getsize(f"{directory}/{n}") for n in numbers)
            with self.subTest(name):
                # Python reads modules in whichever span first needs them.
                self.assertGreaterEqual(rows[name]["read_bytes"], bytes_of_files)
                self.assertLess(rows[name]["read_bytes"] - bytes_of_files, self.modules(recording))
        return rows

    @staticmethod
    def modules(recording):
        """Bytes read from files that are not ours, plus one."""
        return 1 + sum(
            row["read"]["bytes"]
            for row in recording.report["files"]
            if row["read"] and not row["path"].startswith(machine().top)
        )

    def test_nested(self):
        recording, _, directory = self.record("nested")
        self.check_bytes(recording, directory, {"outer": [0], "inner": [1, 2]})
        arguments = [row["args"] for row in recording.trace.dicts("span_begin")]
        self.assertIn(b"\xa1n\x01", arguments[0])

    def test_threads(self):
        recording, log, directory = self.record("threads")
        self.assertEqual(len({span["tid"] for span in log["spans"]}), 3)
        rows = self.check_bytes(recording, directory, {f"thread {n}": [n] for n in range(3)})
        self.assertEqual({row["inherited"] for row in rows.values()}, {0})

    def test_tasks(self):
        """Of three open spans on a thread, the most recently begun one has the reads: Faultline
        does not track tasks. None is lost, and none counts twice."""
        recording, _, directory = self.record("tasks")
        sizes = [os.path.getsize(f"{directory}/{n}") for n in range(3)]
        rows = [row for row in recording.report["spans"] if row["name"].startswith("task")]
        read = sum(row["read_bytes"] for row in rows)
        self.assertGreaterEqual(read, sum(sizes))
        self.assertLess(read - sum(sizes), self.modules(recording))

    def check_processes(self, method):
        recording, log, directory = self.record(method)
        self.assertEqual(len({span["pid"] for span in log["spans"]}), 4)
        self.assertEqual(len({pid for _, pid, _ in log["reads"]}), 3)
        owners = {"waiting": [0, 1, 2], **{f"worker {n}": [3 + n] for n in range(3)}}
        rows = self.check_bytes(recording, directory, owners)
        self.assertGreaterEqual(rows["waiting"]["inherited"], 3 * 5)  # reads of 5000 bytes
        for n in range(3):
            self.assertEqual(rows[f"worker {n}"]["inherited"], 0)

    def test_fork(self):
        self.check_processes("fork")

    def test_spawn(self):
        self.check_processes("spawn")

    def test_forkserver(self):
        self.check_processes("forkserver")

    def test_recorded_afterwards(self):
        """A span recorded afterwards has the operations of its time; times in the future or
        before the process started are rejected."""
        self.check_told_when_over()

    def check_told_when_over(self, ahead_s=0):
        """In a program whose clock is ahead of the host's by `ahead_s`."""
        directory = machine().new_dir()
        for i in range(2):
            harness.random_file(f"{directory}/{i}", 20_000 + 1000 * i)
        out = f"{directory}/out.json"
        clock = ["unshare", "--fork", "--time", f"--monotonic={ahead_s}"] if ahead_s else []
        recording = Recording([*clock, harness.PYTHON, RECORDED_JOB, directory, out],
                              env=python_path())
        log = {name: time_ns - ahead_s * 10**9 for name, time_ns in account(out).items()}
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        begins = {row["name"]: row for row in recording.trace.dicts("span_begin")}
        ends = {row["id"]: row for row in recording.trace.dicts("span_end")}
        times = {name: (row["time"], ends[row["id"]]["time"]) for name, row in begins.items()}
        self.assertEqual(times[b"true"], (log["begun"], log["ended"]))
        self.assertEqual(times[b"reversed"], (log["begun"], log["begun"]))
        first, last = times[b"forged"]
        self.assertLess(first, log["begun"])
        self.assertTrue(log["before"] <= last <= log["after"])
        rows = {row["name"]: row for row in recording.report["spans"]}
        self.assertEqual(rows["true"]["read_bytes"], 20_000)
        self.assertEqual(rows["true"]["time_ns"], log["ended"] - log["begun"])

    def test_recorded_afterwards_in_a_time_namespace(self):
        for ahead_s in 5000, -2:
            with self.subTest(ahead_s=ahead_s):
                self.check_told_when_over(ahead_s)

    def test_dftracer(self):
        """A job annotated for DFTracer, which cannot be imported without it."""
        directory = machine().new_dir()
        harness.random_file(f"{directory}/data", 10_000)
        out = f"{directory}/out.json"
        command = [harness.PYTHON, DFTRACER_JOB, directory, out]
        if not subprocess.run(command, capture_output=True).returncode:
            self.skipTest("DFTracer itself is installed")
        recording = Recording(command, "--python-spans", "dftracer")
        rows = {row["name"].split(".")[-1]: row for row in recording.report["spans"]}
        for name, count in account(out).items():
            self.assertEqual(rows[name]["count"], count)
        self.assertEqual(rows["read_index"]["read_bytes"], 1000 * rows["read_index"]["count"])
        categories = [rows[name]["category"] for name in ("train_step", "block", "read_index")]
        self.assertEqual(categories, ["compute", "io", "data"])
        overlap = recording.report["overlap"]
        self.assertEqual(overlap["compute_ns"], rows["train_step"]["time_ns"])
        arguments = [row["args"] for row in recording.trace.dicts("span_begin")]
        self.assertTrue(any(b"step" in (text or b"") for text in arguments), arguments)


if __name__ == "__main__":
    unittest.main()
