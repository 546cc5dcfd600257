# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Bytes from storage are attributed to the io_uring or libaio operation that reads them,
compared with mincore, even with other operations in the same submission."""
import os
import unittest

import harness
from harness import Recording, machine

ROUNDS, BLOCK = 16, 65536


def overlay():
    """The top of a new overlay whose files are in a layer on another file system."""
    below = machine().new_dir("ext4")
    layers = [f"{below}/{name}" for name in ("lower", "upper", "work")]
    for layer in layers:
        os.mkdir(layer)
    return machine().mount("-t", "overlay", "-o",
                           "lowerdir={},upperdir={},workdir={}".format(*layers), "overlay")


class Mixed(unittest.TestCase):
    """Two cold files are read and a third is written, by operations of the same submission."""

    def check(self, way, pattern, where="root"):
        directory = overlay() if where == "overlay" else machine().new_dir(where)
        first, second = (harness.random_file(f"{directory}/{name}", 18 << 20)
                         for name in ("first", "second"))
        out = f"{directory}/out"

        def record():
            for path in (first, second):
                harness.cool(path)
            recording = Recording([machine().program("cold_mix"), way, pattern, first, second, out,
                                   str(ROUNDS)], status=None)
            if recording.done.returncode == 77:
                self.skipTest("this kernel has no io_uring, or does not let us")
            self.assertEqual(recording.done.returncode, 0, recording.stderr)
            return recording, [harness.resident_bytes(path) for path in (first, second)]

        def seen_of(recording):
            return [recording.file(path)["read"]["fetched_bytes"] for path in (first, second)]

        recording, resident = harness.undisturbed(
            record, lambda result: seen_of(result[0]) == result[1])
        self.assertEqual(seen_of(recording), resident)
        self.assertGreaterEqual(min(resident), ROUNDS * BLOCK)
        for path in (first, second):
            self.assertEqual(harness.created(recording.file(path)), 0, path)
        written = recording.file(out)
        self.assertEqual(written["write"]["created_bytes"], ROUNDS * BLOCK)
        self.assertEqual(harness.fetched(written), 0)
        reads = [row for row in recording.report["operations"] if row["fetched_bytes"]]
        name = "libaio_pread" if way == "libaio" else "io_uring_read"
        by_name = {row["op"]: row["fetched_bytes"] for row in reads}
        self.assertGreaterEqual(by_name[name], sum(resident))


def add(way, pattern, where):
    def test(self):
        self.check(way, pattern, where)

    setattr(Mixed, f"test_{way}_{pattern}_{where}", test)


for each_way in ("plain", "chain", "synced", "worker", "polled", "libaio"):
    for each_pattern in ("random", "readahead"):
        add(each_way, each_pattern, "root")
for each_place in ("xfs", "overlay"):
    add("plain", "readahead", each_place)
    add("libaio", "readahead", each_place)

if __name__ == "__main__":
    unittest.main()
