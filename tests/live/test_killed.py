# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Processes that a signal kills: the report says how many, of what, and names the file."""
import os
import subprocess
import unittest

import harness
from harness import Recording, machine

MIB = 1 << 20

WORKERS = """
import mmap, os, sys
for number in range(3):
    if not os.fork():
        file = os.open(f"{sys.argv[1]}/torch_{number}", os.O_CREAT | os.O_RDWR)
        size = (16 << 20) if number < 2 else 4096
        os.ftruncate(file, size)
        map = mmap.mmap(file, size)
        for at in range(0, size, 4096):
            map[at] = 1
        os._exit(0)
print(*sorted(os.wait()[1] for _ in range(3)))
"""


class Killed(unittest.TestCase):
    def test_full_tmpfs(self):
        directory = f"{machine().new_dir()}/shm"
        os.mkdir(directory)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "none", directory], check=True)
        self.addCleanup(subprocess.run, ["umount", directory], check=True)
        recording = Recording([harness.PYTHON, "-c", WORKERS, directory])
        statuses = [int(word) for word in recording.done.stdout.split()]
        died = statuses.count(7)
        self.assertGreater(died, 0, "none died: the test does not test")
        found = [row for row in recording.report["findings"] if row["id"] == "killed"]
        self.assertEqual(len(found), 1)
        evidence = found[0]["evidence"]
        self.assertEqual((evidence["signal"], evidence["died"]), ("SIGBUS", died))
        self.assertEqual(evidence["processes"], 4)
        self.assertEqual(evidence["filesystem"], "tmpfs")
        self.assertEqual(os.path.dirname(evidence["path"]), directory)
        self.assertLessEqual(evidence["offset"], 4 * MIB)
        first, = [row for row in recording.report["caveats"] if row["id"] == "killed"]
        self.assertIn(f"{died} of 4 processes died: SIGBUS", first["text"])
        self.assertIn(evidence["path"], first["text"])

    def test_told_to_stop(self):
        """A worker that gets SIGTERM is no failure."""
        recording = Recording(["sh", "-c", "sleep 9 & kill $!; wait $!; true"])
        self.assertNotIn("killed", [row["id"] for row in recording.report["findings"]])


if __name__ == "__main__":
    unittest.main()
