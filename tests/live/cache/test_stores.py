# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pages dirtied by stores through shared mappings, compared with the pages stored to and with
the kernel's estimate of the job's writes (write_bytes of /proc/self/io)."""
import unittest

import harness
from harness import Recording, machine

MIB = 1 << 20
JOB = """
import json, mmap, os, sys
path, way, warm = sys.argv[1:]
def write_bytes():
    with open("/proc/self/io") as file:
        return int(file.read().split("\\nwrite_bytes: ")[1].split()[0])
f = os.open(path, os.O_RDWR)
size = os.lseek(f, 0, os.SEEK_END)
if warm == "warm":
    for at in range(0, size, 1 << 20): os.pread(f, 1 << 20, at)
m = mmap.mmap(f, size, flags=mmap.MAP_PRIVATE if way == "private" else mmap.MAP_SHARED)
before = write_bytes()
if way == "populate":
    m.madvise(23)
    pages = size // 4096
else:
    places = range(0, size, 65536 if way == "sparse" else 4096)
    for at in places: m[at] = 1
    pages = len(places)
print(json.dumps({"pages": pages, "write_bytes": write_bytes() - before}))
"""


class Stores(unittest.TestCase):
    """One test per file system, way and whether the file is cached; generated below."""

    def record(self, data, way, warm):
        recording = Recording([harness.PYTHON, "-S", "-c", JOB, data, way, warm])
        return recording, harness.json.loads(recording.done.stdout)

    def check(self, where, way, warm):
        data = harness.random_file(f"{machine().new_dir(where)}/data", 8 * MIB)
        harness.cool(data)
        recording, truth = self.record(data, way, warm)
        row, totals = recording.file(data), recording.report["totals"]
        dirtied = row["mmap"]["dirtied_bytes"]
        self.assertEqual(row["mmap"]["written_pages"] * 4096, dirtied)
        self.assertGreaterEqual(dirtied, truth["pages"] * 4096)
        self.assertLessEqual(dirtied, truth["write_bytes"])
        self.assertEqual(totals["mmap_write"]["dirtied_bytes"], dirtied)
        method = [
            row for row in recording.report["methods"] if (row["method"], row["op"]) == ("mmap", "write")
        ]
        self.assertEqual(method[0]["bytes"], dirtied)

    def test_private(self):
        """Nothing of it reaches the file, and the report has 0."""
        data = harness.random_file(f"{machine().new_dir('ext4')}/data", MIB)
        harness.cool(data)
        recording, _ = self.record(data, "private", "cold")
        self.assertEqual(recording.file(data)["mmap"]["dirtied_bytes"], 0)

    def test_block_device(self):
        device = machine().new_device(8 * MIB)
        recording, truth = self.record(device, "all", "cold")
        self.assertGreaterEqual(recording.file(device)["mmap"]["dirtied_bytes"], 8 * MIB)
        self.assertEqual(truth["pages"] * 4096, 8 * MIB)

    def test_not_known(self):
        """Without the fault layer it is null."""
        data = harness.random_file(f"{machine().new_dir('ext4')}/data", MIB)
        script = [harness.PYTHON, "-S", "-c", JOB, data, "all", "cold"]
        recording = Recording(script, "--layers", "syscall,pagecache")
        self.assertIsNone(recording.report["totals"]["mmap_write"])
        method = [row for row in recording.report["methods"] if row["method"] == "mmap"]
        self.assertEqual(method, [])


def add_test(where, way, warm):
    def test(self):
        self.check(where, way, warm)

    setattr(Stores, f"test_{where}_{way}_{warm}", test)


for where in ("ext4", "xfs"):
    for way in ("all", "sparse", "populate"):
        for warm in ("warm", "cold"):
            add_test(where, way, warm)


if __name__ == "__main__":
    unittest.main()
