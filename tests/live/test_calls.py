# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts and errors of every recorded system call, held against strace's of the same program."""
import subprocess
import unittest

import harness
from harness import RECORDED, Recording, machine


class Calls(unittest.TestCase):
    maxDiff = None

    def recorded(self, *arguments, others=()):
        return Recording([machine().program("calls"), machine().new_dir(), *others], *arguments)

    def counted(self, *others):
        return harness.expected_counts(machine().program("calls"), *others)

    def compare(self, ours, theirs):
        """Of the calls that must be recorded, and of whatever else is."""
        for call in sorted({*RECORDED, *ours}):
            with self.subTest(call):
                self.assertEqual(ours.get(call), theirs.get(call), "(count, errors)")

    def test_workload_makes_every_call(self):
        made = self.counted()
        for call in RECORDED:
            with self.subTest(call):
                count, errors = made.get(call, (0, 0))
                self.assertGreater(count, errors, "made well")
                self.assertGreater(errors, 0, "made badly")

    def test_every_call(self):
        """Processes and threads at the same time; files, directories, and calls with no file."""
        recording = self.recorded()
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        self.compare(recording.operations(), self.counted())

    def test_rows_are_the_counts(self):
        """The rows of the trace, counted one by one, are the kernel's totals."""
        recording = self.recorded()
        rows = {}
        for row in recording.trace.calls():
            count, errors = rows.get(row["op"], (0, 0))
            rows[row["op"]] = (count + 1, errors + (row["result"] < 0))
        self.assertEqual(rows, recording.operations())

    def test_other_files_are_left_out(self):
        """Calls on pipes, sockets and devices change nothing by default."""
        self.compare(self.recorded(others=["others"]).operations(), self.counted())

    def test_all_file_types(self):
        self.compare(
            self.recorded("--file-types", "all", others=["others"]).operations(),
            self.counted("others"),
        )

    def test_one_file_type(self):
        """--file-types dir: of all reads only those of directories, and those of no file."""
        ours = self.recorded("--file-types", "dir").operations()
        whole = self.counted()
        self.assertEqual(ours["getdents64"][0], whole["getdents64"][0] - 9)  # those on a file
        self.assertEqual(ours["pread64"][0], ours["pread64"][1], "a directory is never read well")
        self.assertEqual(ours["rename"], whole["rename"], "paths are of no type")

    def test_32_bit_calls(self):
        """Calls of the 32-bit kind are counted under a name that says that they are not decoded."""
        directory = machine().new_dir()
        file = harness.random_file(f"{directory}/data", 4096)
        command = [machine().program("compat"), file, "37"]
        if subprocess.run(command).returncode == 77:
            self.skipTest("this kernel has no 32-bit calls")
        recording = Recording(command)
        families = {o["name"]: o["family"] for o in recording.trace.header["operations"]}
        counts = {
            row["op"]: row["count"]
            for row in recording.report["operations"]
            if families[row["op"]] == "undecoded"
        }
        self.assertEqual(list(counts.values()), [37])
        self.assertEqual(recording.operations()["lseek"], (37, 0), "the calls between them")


if __name__ == "__main__":
    unittest.main()
