# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Readahead and how much of it was used, compared with mincore and the job's own account."""
import json
import random
import unittest

import harness
from harness import Recording, machine

PAGE = 4096
SIZE = 16 << 20

READER = """
import json, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for at, size in json.loads(sys.argv[2]):
    os.pread(fd, size, at)
"""

MAPPER = """
import json, mmap, os, sys
memory = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 0, mmap.MAP_SHARED, mmap.PROT_READ)
for at, size in json.loads(sys.argv[2]):
    memory[at]
"""


def pages_of(accesses):
    return {page for at, size in accesses for page in range(at // PAGE, (at + size - 1) // PAGE + 1)}


class Readahead(unittest.TestCase):
    def record(self, where, program, accesses):
        """The row of an initially uncached file, and how much of it is cached afterwards."""
        path = harness.random_file(f"{machine().new_dir(where)}/data", SIZE)

        def action():
            harness.cool(path)
            recording = Recording(
                [harness.PYTHON, "-S", "-c", program, path, json.dumps(accesses)])
            (row,) = [r for r in recording.report["readahead"] if r["path"] == path]
            return row, harness.resident_bytes(path)

        def is_right(seen):
            return seen[0]["fetched_bytes"] == seen[1]

        return harness.counted_right(lambda: harness.undisturbed(action, is_right), is_right)

    def check(self, where, accesses):
        row, cached = self.record(where, READER, accesses)
        read = len(pages_of(accesses)) * PAGE
        self.assertEqual(row["fetched_bytes"], cached)
        self.assertEqual(row["asked_bytes"] + row["ahead_bytes"], cached)
        self.assertEqual(row["asked_bytes"] + row["used_bytes"], read)
        self.assertEqual(row["unused_bytes"], cached - read)
        self.assertEqual(row["unseen_bytes"], 0)

    def accesses(self):
        """Runs of sequential reads, which trigger readahead, at distinct offsets."""
        numbers = random.Random(7)
        return [
            [at + i * 5000, 5000]
            for at in numbers.sample(range(0, SIZE - (1 << 20), 1 << 20), 6)
            for i in range(numbers.randrange(3, 60))
        ]

    def test_mapping(self):
        """In a mapping only faulted pages are known to be used; at most 64 KiB around each may
        have been, since a page fetched on its own is not part of a large folio."""
        accesses = [[at, 1] for at in range(PAGE, SIZE, SIZE // 4)]
        row, cached = self.record("ext4", MAPPER, accesses)
        self.assertEqual(row["asked_bytes"] + row["ahead_bytes"], cached)
        self.assertEqual(row["asked_bytes"], len(accesses) * PAGE)
        self.assertEqual(row["used_bytes"], 0)
        self.assertLessEqual(row["unseen_bytes"], len(accesses) * 15 * PAGE)
        self.assertEqual(row["unused_bytes"], row["ahead_bytes"] - row["unseen_bytes"])


for kind in ("ext4", "xfs", "btrfs"):
    setattr(Readahead, f"test_{kind}", lambda self, kind=kind: self.check(kind, self.accesses()))


if __name__ == "__main__":
    unittest.main()
