# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What came into the page cache, why and on whose account, held against mincore."""
import os
import unittest

import harness
from harness import Recording, created, fetched, machine

MIB = 1 << 20


def python(script, *arguments):
    return [harness.PYTHON, "-S", "-c", script, *arguments]


class CreatedOrFetched(unittest.TestCase):
    """From storage or made by a write: two numbers. One test per file system; made below."""

    JOB = """
import os, sys
cold, small, large, sent, copied, part = sys.argv[1:]
def new(path): return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
os.write(new(small), b"hello")
f = new(large)
for _ in range(4): os.write(f, bytes(1 << 20))
os.pread(f, 1 << 20, 0)
c = os.open(cold, os.O_RDONLY)
os.pread(c, 1 << 20, 0)
os.sendfile(new(sent), c, 1 << 20, 1 << 20)
os.copy_file_range(f, new(copied), 1 << 20, 0)
os.pwrite(os.open(part, os.O_WRONLY), b"x" * 100, 5000)
"""

    def check(self, where):
        directory = machine().new_dir(where)
        paths = [f"{directory}/{name}" for name in ("cold", "small", "large", "sent", "copied")]
        paths.append(f"{directory}/part")
        cold, small, large, sent, copied, part = paths
        harness.random_file(cold, 8 * MIB)
        harness.random_file(part, 1 * MIB)

        def record():
            for path in (small, large, sent, copied):
                if os.path.exists(path):
                    os.unlink(path)
            harness.cool(cold)
            harness.cool(part)
            recording = Recording(python(self.JOB, *paths))
            return recording, {path: harness.resident_bytes(path) for path in paths}

        def seen_of(recording):
            return {
                path: [row for row in recording.report["files"] if row["path"] == path][-1]
                for path in paths
            }

        def is_right(seen):
            rows = seen_of(seen[0])
            return all(fetched(rows[p]) + created(rows[p]) == seen[1][p] for p in paths)

        recording, resident = harness.undisturbed(record, is_right)
        rows = seen_of(recording)
        for path in (cold,):
            self.assertEqual((fetched(rows[path]), created(rows[path])), (resident[path], 0), path)
            self.assertGreater(resident[path], 0)
        for path in (small, large, sent, copied, part):
            if path == copied and where == "xfs":
                continue  # shares the blocks: nothing comes into the cache
            with self.subTest(os.path.basename(path)):
                self.assertEqual(fetched(rows[path]), 0)
                self.assertEqual(created(rows[path]), resident[path])
                self.assertEqual(rows[path]["write"]["created_bytes"], resident[path])
                self.assertGreater(resident[path], 0)
        totals, doors = recording.report["totals"], recording.report["doors"]
        self.assertEqual(totals["read"]["created_bytes"], 0)
        self.assertEqual(totals["mmap_read"]["created_bytes"], 0)
        self.assertGreaterEqual(totals["write"]["created_bytes"], 4 * MIB)
        self.assertEqual(
            sum(row["created_bytes"] for row in doors), totals["write"]["created_bytes"]
        )
        splice = [row for row in doors if row["door"] == "splice" and row["op"] == "write"]
        self.assertEqual(
            splice[0]["created_bytes"], created(rows[sent]) + created(rows[copied])
        )

    def test_ext4(self):
        self.check("ext4")

    def test_xfs(self):
        self.check("xfs")

    def test_only_writes(self):
        """A job that reads nothing of its own brings nothing in from storage for it."""
        out = f"{machine().new_dir('ext4')}/out"
        recording = Recording(["dd", "if=/dev/zero", f"of={out}", "bs=1M", "count=16"])
        write = recording.report["totals"]["write"]
        self.assertEqual(write["fetched_bytes"], 0)
        self.assertEqual(recording.file(out)["write"]["created_bytes"], 16 * MIB)
        self.assertNotIn("into cache", harness.faultline("report", recording.path).stdout.decode())


class NoStorage(unittest.TestCase):
    """File systems that live in memory: nothing is fetched and nothing is to be written back."""

    STORES = """
import mmap, os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 4 << 20)
m = mmap.mmap(f, 0)
for at in range(0, len(m), 4096): m[at] = 1
"""

    def check(self, path):
        recording = Recording(python(self.STORES, path))
        row = recording.file(path)
        self.assertEqual((fetched(row), created(row)), (0, 0))
        self.assertEqual(row["mmap"]["faults"], 0, "its faults are those of shared memory")
        self.assertGreater(recording.report["totals"]["shmem_faults"]["count"], 0)

    def test_hugetlbfs(self):
        setting = "/proc/sys/vm/nr_hugepages"
        with open(setting) as file:
            before = int(file.read())
        with open(setting, "w") as file:
            file.write(str(before + 2))
        try:
            with open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") as file:
                if int(file.read()) < 2:
                    self.skipTest("no huge pages to be had")
            self.check(f"{machine().mount('-t', 'hugetlbfs', 'none')}/data")
        finally:
            with open(setting, "w") as file:
                file.write(str(before))

    def test_tmpfs(self):
        self.check(f"{machine().mount('-t', 'tmpfs', 'none')}/data")

    def test_ramfs(self):
        self.check(f"{machine().mount('-t', 'ramfs', 'none')}/data")


class BlockDevice(unittest.TestCase):
    """A device's node may lie in memory; what is mapped through it does not."""

    TOUCHES = """
import mmap, os, resource, sys
f = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(f, 8 << 20, prot=mmap.PROT_READ)
before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
sum(m[at] for at in range(0, len(m), 4096))
print(resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before)
"""

    def test_mapped(self):
        device = machine().new_device(16 * MIB)
        held = os.open(device, os.O_RDONLY)  # its cache goes with who has it open last
        self.addCleanup(os.close, held)

        def record():
            harness.cool(device)
            recording = Recording(python(self.TOUCHES, device))
            return recording, harness.resident_bytes(device)

        recording, resident = harness.undisturbed(
            record, lambda seen: fetched(seen[0].file(device)) == seen[1]
        )
        row = recording.file(device)
        self.assertEqual(row["mmap"]["fetched_bytes"], resident)
        self.assertGreaterEqual(resident, 8 * MIB)
        self.assertEqual(row["mmap"]["major"], int(recording.done.stdout))
        self.assertGreater(row["mmap"]["major"], 0)

    def test_written(self):
        """Through its node as through any file."""
        device = machine().new_device(16 * MIB)
        harness.cool(device)
        recording = Recording(["dd", "if=/dev/zero", f"of={device}", "bs=1M", "count=4",
                               "conv=notrunc"])
        row = recording.file(device)
        self.assertEqual((fetched(row), row["write"]["created_bytes"]), (0, 4 * MIB))


if __name__ == "__main__":
    unittest.main()
