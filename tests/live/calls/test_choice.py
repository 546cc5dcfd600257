# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""--include and --exclude: excluded operations appear in no row or total, but are counted."""
import os
import unittest

import harness
from harness import Recording, faultline, machine

WORK = """
import mmap, os, sys
for name, count in (("kept", 100), ("other", 50)):
    directory = f"{sys.argv[1]}/{name}"
    file = os.open(f"{directory}/data", os.O_RDONLY)
    for i in range(count): os.preadv(file, [bytearray(1000)], i * 1000)
    with mmap.mmap(file, 0, prot=mmap.PROT_READ) as mapped:
        for at in range(0, len(mapped), 65536): mapped[at]
    for i in range(count):
        try: os.open(f"{directory}/missing", os.O_RDONLY)
        except FileNotFoundError: pass
"""
COUNTS = {"kept": 100, "other": 50}


class Choice(unittest.TestCase):
    def setUp(self):
        self.directory = machine().new_dir()
        for name in COUNTS:
            os.mkdir(f"{self.directory}/{name}")
            harness.random_file(f"{self.directory}/{name}/data", 1 << 20)

    def record(self, *arguments):
        return Recording([harness.PYTHON, "-S", "-c", WORK, self.directory], *arguments)

    def check(self, recording, name, preads):
        """Only the files of one directory are in the report, and the totals add up."""
        paths = [row["path"] for row in recording.report["files"]]
        self.assertEqual(recording.operations()["preadv2"], (preads, 0))
        self.assertEqual(recording.file(f"{self.directory}/{name}/data")["read"]["count"],
                         COUNTS[name])
        for other in COUNTS.keys() - {name}:
            self.assertNotIn(f"{self.directory}/{other}/data", paths)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        self.assertGreater(recording.report["trace"]["notes"]["operations_left_out"], 50)
        self.assertIn("left-out", [row["id"] for row in recording.report["caveats"]])

    def check_rows(self, recording):
        for kind in recording.trace.totals["kinds"]:
            self.assertEqual(kind["events"], kind["written"] + kind["lost"], kind)

    def test_exclude(self):
        recording = self.record("--exclude", f"{self.directory}/other/*")
        self.check(recording, "kept", 100)
        self.check_rows(recording)
        missing = [row["path"] for row in recording.trace.dicts("syscall_path")
                   if row["path"].endswith(b"missing")]
        self.assertEqual(missing, [f"{self.directory}/kept/missing".encode()] * 100)

    def test_include(self):
        recording = self.record("--include", f"{self.directory}/*", "--exclude", "*/kept/*")
        self.check(recording, "other", 50)
        self.check_rows(recording)
        self.assertEqual([row["path"] for row in recording.report["files"]],
                         [f"{self.directory}/other/data"])
        # Of the same recording: how many faults map a file depends on the page cache.
        mine = recording.file(f"{self.directory}/other/data")["mmap"]["faults"]
        self.assertGreater(mine, 0)
        self.assertEqual(recording.report["totals"]["mmap_read"]["faults"], mine)

    def test_summed_up(self):
        recording = self.record("--mode", "profile", "--exclude", "*/other/data")
        self.check(recording, "kept", 100)

    def test_flight(self):
        done = faultline("run", "--flight", "8M", "--include", "/x", "--", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"--include, --exclude and --flight are mutually exclusive", done.stderr)


if __name__ == "__main__":
    unittest.main()
