# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Counts and errors of every recorded system call, compared with strace's for the same program."""
import errno
import re
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
        """Compares the calls that must be recorded, and any others that were."""
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
        """Concurrent processes and threads; files, directories, and calls without a file."""
        recording = self.recorded()
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        self.compare(recording.operations(), self.counted())

    def test_rows_are_the_counts(self):
        """The trace's rows, counted one by one, equal the kernel's totals."""
        recording = self.recorded()
        rows = {}
        for row in recording.trace.calls():
            count, errors = rows.get(row["op"], (0, 0))
            rows[row["op"]] = (count + 1, errors + (row["result"] < 0))
        self.assertEqual(rows, recording.operations())

    def test_other_files_are_left_out(self):
        """Calls on pipes, sockets and devices do not change the counts by default."""
        self.compare(self.recorded(others=["others"]).operations(), self.counted())

    def test_all_file_types(self):
        self.compare(self.recorded("--file-types", "all", others=["others"]).operations(),
                     self.counted("others"))

    def test_one_file_type(self):
        """--file-types dir: only reads of directories, and calls without a file."""
        ours = self.recorded("--file-types", "dir").operations()
        whole = self.counted()
        self.assertEqual(ours["getdents64"][0], whole["getdents64"][0] - 9)  # those on a file
        self.assertEqual(ours["pread64"][0], ours["pread64"][1], "a directory is never read well")
        self.assertEqual(ours["rename"], whole["rename"], "paths have no type")

    def test_32_bit_calls(self):
        """32-bit calls are counted under a name that marks them as not decoded."""
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


LOCKS = """\
import fcntl, os, sys
first, second = (os.open(sys.argv[1], os.O_RDWR) for _ in range(2))
for _ in range(3):
    fcntl.flock(first, fcntl.LOCK_EX)
    try:
        fcntl.flock(second, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    fcntl.flock(first, fcntl.LOCK_UN)
    fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(second, fcntl.LOCK_UN)
    fcntl.flock(first, fcntl.LOCK_UN)
"""
RECORD_LOCKS = """\
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for _ in range(3):
    fcntl.lockf(fd, fcntl.LOCK_EX)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK):
        fcntl.fcntl(fd, 38, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
    try:
        fcntl.fcntl(fd, fcntl.F_SETLKW, 0)
    except OSError:
        pass
"""  # 38: F_OFD_SETLKW, which not every Python defines
NOWAIT = 1 << 14  # a call flag
PROFILE_NOWAIT = 1 << 6


class AskedFor(unittest.TestCase):
    """Call flags besides bytes."""

    def test_locks(self):
        """Which flock calls were nonblocking."""
        file = harness.random_file(f"{machine().new_dir()}/lock", 4096)
        recording = Recording([harness.PYTHON, "-c", LOCKS, file])
        rows = recording.trace.calls(file, op="flock")
        self.assertEqual([bool(row["flags"] & NOWAIT) for row in rows],
                         3 * [False, True, True, True, True, True])
        self.assertEqual([row["result"] for row in rows], 3 * [0, -11, 0, 0, 0, 0])
        printed = harness.faultline("print", "--op", "flock", recording.path).stdout.decode()
        self.assertEqual(printed.count("nowait"), 15, printed)

    def test_record_locks(self):
        """Unlocking never blocks; an unreadable argument leaves the flag unset."""
        file = harness.random_file(f"{machine().new_dir()}/lock", 4096)
        recording = Recording([harness.PYTHON, "-c", RECORD_LOCKS, file])
        reported = {op: [(bool(row["flags"] & NOWAIT), row["result"])
                     for row in recording.trace.calls(file, op=op)]
                for op in ("fcntl_setlkw", "fcntl_ofd_setlkw")}
        self.assertEqual(reported, {"fcntl_setlkw": 3 * [(False, 0), (True, 0), (False, -errno.EFAULT)],
                                "fcntl_ofd_setlkw": 3 * [(False, 0), (False, 0), (True, 0)]})

    def summed_up(self, program, *ops):
        """Counts of these calls, by whether they were nonblocking."""
        file = harness.random_file(f"{machine().new_dir()}/lock", 4096)
        trace = Recording([harness.PYTHON, "-c", program, file], "--mode", "profile").trace
        counts = {}
        for row in trace.dicts("profile"):
            if row["op"] in ops and row["file"] in trace.file_ids(file):
                nowait = bool(row["flags"] & PROFILE_NOWAIT)
                counts[nowait] = counts.get(nowait, 0) + row["count"]
        return counts

    def test_locks_summed_up(self):
        self.assertEqual(self.summed_up(LOCKS, "flock"), {False: 3, True: 15})

    def test_record_locks_summed_up(self):
        self.assertEqual(self.summed_up(RECORD_LOCKS, "fcntl_setlkw", "fcntl_ofd_setlkw"),
                         {False: 12, True: 6})


ADVICE = """\
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for advice in range(6):
    os.posix_fadvise(fd, 4096 * advice, 8192, advice)
memory = mmap.mmap(fd, 1 << 16, prot=mmap.PROT_READ)
for advice in (0, 1, 2, 3, 4, 14, 20, 21, 22):
    memory.madvise(advice, 0, 4096)
"""
ADVICE_WORDS = ["normal", "random", "sequential", "willneed", "dontneed", "noreuse"]
MADVICE_WORDS = [*ADVICE_WORDS[:5], "other advice", "cold", "pageout", "populate"]
DROPS, KEEPS = 1 << 7, 1 << 8  # flags of sums


class Advice(unittest.TestCase):
    """The advice given by fadvise and madvise."""

    def test_each(self):
        file = harness.random_file(f"{machine().new_dir()}/data", 1 << 16)
        recording = Recording([harness.PYTHON, "-c", ADVICE, file])
        for op, words in (("fadvise64", ADVICE_WORDS), ("madvise", MADVICE_WORDS)):
            rows = recording.trace.calls(file, op=op)
            self.assertEqual(len(rows), len(words))
            printed = harness.faultline("print", "--op", op, "--file", file, recording.path)
            reported = [re.search(r"\[([^]]*)\] <", line) for line in
                    printed.stdout.decode().splitlines()]
            self.assertEqual([found[1] for found in reported if found], words)
        rows = recording.trace.calls(file, op="fadvise64")
        self.assertEqual([row["offset"] for row in rows], [4096 * i for i in range(6)])
        self.assertEqual([row["flags"] for row in rows], [1 << 22 + i for i in range(6)])

    def test_summed_up(self):
        file = harness.random_file(f"{machine().new_dir()}/data", 1 << 16)
        trace = Recording([harness.PYTHON, "-c", ADVICE, file], "--mode", "profile").trace
        counts = {}
        for row in trace.dicts("profile"):
            if row["op"] == "fadvise64":
                advice = row["flags"] & (DROPS | KEEPS)
                counts[advice] = counts.get(advice, 0) + row["count"]
        self.assertEqual(counts, {DROPS: 1, KEEPS: 5})


PATH_CUT = 1 << 10
PATHS = """
import os
for length in (4095, 4096):
    os.access("/" * (length - 3) + "tmp", os.R_OK)
"""


class Paths(unittest.TestCase):
    def test_longest(self):
        """The longest path that the kernel accepts is whole."""
        rows = [row for row in Recording([harness.PYTHON, "-c", PATHS]).trace.dicts("syscall_path")
                if row["path"].startswith(b"//")]
        self.assertEqual([(row["path"], bool(row["flags"] & PATH_CUT)) for row in rows],
                         [(b"/" * 4092 + b"tmp", False), (b"/" * 4093 + b"tm", True)])


if __name__ == "__main__":
    unittest.main()
