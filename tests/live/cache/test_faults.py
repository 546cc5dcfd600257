# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Page faults and the data they fetch, compared with getrusage and mincore for the same cold
run."""
import os
import shutil
import subprocess
import unittest

import harness
from harness import Recording, fetched, machine

DATA_BYTES = 24 << 20
SPARSE_BYTES = 5 << 30
# Modes without any faults, or with faults that cannot be attributed to the data's mapping.
WITHOUT_FAULTS = ("pread", "read", "readahead", "fadvise", "sendfile", "willneed",
                  "direct_write_from")
IN_ORDER = ("sequential", "random", "advised_random", "private_write", "shared_write", "sparse")


def resident(truth):
    return truth["resident"] * truth["page_bytes"]


class Faults(unittest.TestCase):
    """One test per file system and mode; generated below."""

    def make_data(self, directory, mode):
        path = f"{directory}/data"
        if mode != "sparse":
            return harness.random_file(path, DATA_BYTES)
        with open(path, "wb") as file:
            file.truncate(SPARSE_BYTES)
            for at in range(4 << 30, SPARSE_BYTES, 64 << 20):
                file.seek(at)
                file.write(os.urandom(100_000))
        return path

    def record(self, directory, mode, data):
        out, other = f"{directory}/out.json", f"{directory}/other"
        if mode == "read_into":
            harness.random_file(other, DATA_BYTES)
        harness.cool(data)
        recording = Recording([machine().program("mapper"), mode, data, out, other])
        return recording, harness.account(out)

    def check(self, where, mode):
        directory = machine().new_dir(where)
        self.addCleanup(shutil.rmtree, directory)
        data = self.make_data(directory, mode)

        def is_right(seen):
            recording, truth = seen
            return truth["resident_before"] == 0 and self.all_fetched(recording, data) == resident(
                truth
            )

        recording, truth = harness.undisturbed(lambda: self.record(directory, mode, data), is_right)
        self.assertEqual(truth["resident_before"], 0, "the data was not cold")
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        row = recording.file(data)
        self.assertEqual(
            fetched(row), resident(truth), f"fetched bytes against resident pages; {row}"
        )
        if mode not in WITHOUT_FAULTS:
            self.assertEqual(row["mmap"]["major"], truth["major"], "major faults against ru_majflt")
            self.assertLessEqual(
                row["mmap"]["time_ns"], truth["wall_ns"], "a union is no longer than what it is in"
            )
            self.assertGreater(row["mmap"]["time_ns"], 0)
        if mode == "shared_write":
            self.assertGreaterEqual(
                row["mmap"]["written_pages"], len(set(truth["touched"])), "or more: whole folios"
            )
            self.assertLessEqual(row["mmap"]["written_pages"] * truth["page_bytes"], DATA_BYTES)
        elif mode in ("sequential", "random", "private_write"):
            self.assertEqual(row["mmap"]["written_pages"], 0, "nothing reaches the file")
        if mode in IN_ORDER:
            self.check_offsets(recording, data, truth)

    def all_fetched(self, recording, path):
        """Bytes of a file by inode rather than name, so that only the amount is judged here."""
        ino = os.stat(path).st_ino
        return sum(fetched(row) for row in recording.report["files"] if row["ino"] == ino)

    def check_offsets(self, recording, data, truth):
        """One thread's faults are at the pages it touched, in touch order; a page repeats if it
        was written back before the store."""
        rows = recording.trace.rows("fault")
        ids = recording.trace.file_ids(data)
        pages = [
            offset // truth["page_bytes"]
            for offset, file in zip(rows.offset.tolist(), rows.file.tolist())
            if file in ids
        ]
        touches = iter(truth["touched"])
        self.assertGreater(len(pages), 0)
        self.assertLessEqual(truth["major"], len(pages))
        for number, page in enumerate(pages):
            if number and page == pages[number - 1]:
                continue
            self.assertIn(
                page, touches, f"fault {number} of {len(pages)} is at a page out of order"
            )

    def test_every_mode_is_tested(self):
        listed = subprocess.run(
            [machine().program("mapper"), "list"], stdout=subprocess.PIPE, text=True
        )
        self.assertEqual(listed.stdout.split(), MODES)

    def test_cold_program(self):
        """The pages of a program that a child execs, from disk."""
        directory = machine().new_dir()
        program = shutil.copy(harness.PYTHON, f"{directory}/program")

        def record():
            harness.cool(program)
            return Recording(["sh", "-c", f"{program} -S -c 0; true"]), harness.resident_bytes(
                program
            )

        recording, in_cache = harness.undisturbed(
            record, lambda seen: self.all_fetched(seen[0], program) == seen[1]
        )
        self.assertGreater(in_cache, 0)
        self.assertEqual(fetched(recording.file(program)), in_cache)

    def test_anonymous_memory(self):
        """Anonymous faults are totals. Together with file faults they match the kernel's counts
        for ended threads: at least a child's, at most everything."""
        script = (
            "import mmap\n"
            "m = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
            "m.madvise(mmap.MADV_NOHUGEPAGE)\n"
            "for at in range(0, 64 << 20, 4096): m[at] = 1\n"
        )
        recording = Recording(["sh", "-c", '"$0" -S -c "$1"; true', harness.PYTHON, script])
        pages = (64 << 20) // 4096
        self.assertGreaterEqual(recording.report["totals"]["anonymous_faults"]["count"], pages)
        self.assertLess(recording.trace.row_count("fault"), pages, "they are no rows")
        faults = sum(
            row["count"] for row in recording.report["operations"] if row["layer"] == "fault"
        )
        ends = recording.trace.rows("exit")
        counted = dict(zip(ends.pid.tolist(), (ends.major + ends.minor).tolist()))
        self.assertEqual(len(counted), 2)
        # The kernel counts some faults of its own, for a new stack, without any event.
        self.assertGreaterEqual(faults, max(counted.values()) * 0.99)
        self.assertLessEqual(faults, sum(counted.values()))

    def test_one_place_of_many_kinds(self):
        """Successive mappings at one address: each fault belongs to the mapping at that time."""
        rounds = 200
        script = (
            "import ctypes, mmap, os, sys\n"
            "libc = ctypes.CDLL(None)\n"
            "libc.mmap.restype = ctypes.c_void_p\n"
            "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,"
            " ctypes.c_int, ctypes.c_long]\n"
            "fd, fixed, both = os.open(sys.argv[1], os.O_RDONLY), 0x10, 3\n"
            "place = libc.mmap(None, 3 << 20, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)\n"
            "place = (place + (1 << 20)) & -(1 << 20)\n"
            "def put(flags, fd):\n"
            "    assert libc.mmap(place, 65536, both, flags | fixed, fd, 0) == place\n"
            "    ctypes.c_char.from_address(place + 4096).value = b'x'\n"
            "for i in range(int(sys.argv[2])):\n"
            "    put(mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)\n"
            "    put(mmap.MAP_PRIVATE, fd)\n"
            "    put(mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1)\n"
        )
        data = harness.random_file(f"{machine().new_dir()}/data", 65536)
        recording = Recording([harness.PYTHON, "-S", "-c", script, data, str(rounds)])
        self.assertEqual(recording.file(data)["mmap"]["faults"], rounds)
        totals = recording.report["totals"]
        self.assertGreaterEqual(totals["anonymous_faults"]["count"], rounds)
        self.assertEqual(totals["shmem_faults"]["count"], rounds)


MODES = ["sequential", "random", "advised_random", "private_write", "shared_write", "populate",
         "mlock", "mlock2", "populate_read", "populate_write", "willneed", "fork", "threads",
         "write_from", "direct_write_from", "read_into", "sparse", "pread", "read", "readahead",
         "fadvise", "sendfile"]
ON_ROOT = ["sequential", "random", "advised_random", "threads", "fork"]


def add_test(where, mode):
    def test(self):
        self.check(where, mode)

    setattr(Faults, f"test_{where}_{mode}", test)


for mode in MODES:
    add_test("ext4", mode)
    add_test("xfs", mode)
for mode in ON_ROOT:
    add_test("root", mode)


if __name__ == "__main__":
    unittest.main()
