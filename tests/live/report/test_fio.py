# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""fio's own counts: operations and bytes of each of its engines are compared with Faultline's,
by file and by methods that no other program uses."""
import collections
import json
import os
import shutil
import unittest

import harness
from harness import Recording, machine, random_file

SIZE = 8 << 20

# Each on its own file, all concurrent: name, engine, options.
JOBS = [
    ("psync", "psync", ["rw=randrw", "bs=8k"]),
    ("psync-direct", "psync", ["rw=randread", "bs=4k", "direct=1"]),
    ("aio-read", "libaio", ["rw=randread", "bs=4k", "direct=1", "iodepth=16"]),
    ("aio-write", "libaio", ["rw=randwrite", "bs=16k", "direct=1", "iodepth=8"]),
    ("aio-mixed", "libaio", ["rw=randrw", "bs=4k", "direct=1", "iodepth=32", "iodepth_batch=8"]),
    ("uring-read", "io_uring", ["rw=randread", "bs=4k", "iodepth=16"]),
    ("uring-write", "io_uring", ["rw=randwrite", "bs=4k", "iodepth=16", "fsync=64"]),
    ("uring-mixed", "io_uring", ["rw=randrw", "bsrange=4k-64k", "iodepth=16"]),
    ("uring-direct", "io_uring", ["rw=randread", "bs=4k", "direct=1", "iodepth=32"]),
    ("uring-fixed", "io_uring",
     ["rw=randrw", "bs=4k", "direct=1", "iodepth=16", "fixedbufs=1", "registerfiles=1"]),
    ("uring-files", "io_uring", ["rw=randread", "bs=8k", "iodepth=8", "registerfiles=1"]),
    ("uring-polled", "io_uring", ["rw=randrw", "bs=4k", "iodepth=16", "sqthread_poll=1"]),
    ("uring-vectors", "io_uring", ["rw=randrw", "bs=4k", "iodepth=8", "nonvectored=0"]),
    ("uring-worker", "io_uring", ["rw=randrw", "bs=4k", "iodepth=8", "force_async=2"]),
]
METHODS = {"io_uring": "io_uring", "libaio": "libaio"}


# As in the man page of the trace format.
DIRECT, FIXED_BUFFER, FIXED_FILE, POLLED = (1 << bit for bit in (0, 16, 17, 20))


@unittest.skipUnless(shutil.which("fio"), "fio is not installed (scripts/setup.sh test)")
class Fio(unittest.TestCase):
    def fio(self, jobs, *options):
        """Runs concurrent jobs under Faultline. Returns the recording, fio's results by job
        name, and the path of each job's file."""
        directory = machine().new_dir()
        command = ["fio", "--output-format=json", f"--output={directory}/out.json", "--loops=2",
                   f"--size={SIZE}", "--thread=0", "--randrepeat=1", *options]
        paths = {}
        for name, engine, more in jobs:
            paths[name] = random_file(f"{directory}/{name}", SIZE)
            harness.cool(paths[name])
            command += [f"--name={name}", f"--filename={paths[name]}", f"--ioengine={engine}",
                        *(f"--{option}" for option in more)]
        # Room for everything, however long the reader is kept off its CPU.
        recording = Recording(command, "--buffer", "64M")
        with open(f"{directory}/out.json") as file:
            text = file.read()
        # Its messages precede the JSON.
        reported = {job["jobname"]: job for job in json.loads(text[text.index("{\n"):])["jobs"]}
        for job in reported.values():
            self.assertEqual(job["error"], 0, job["jobname"])
        return recording, reported, paths

    def jobs(self):
        """The jobs that this kernel can run."""
        return JOBS if harness.has_uring() else [job for job in JOBS if job[1] != "io_uring"]

    def test_counts_and_bytes_are_those_of_fio(self):
        jobs = self.jobs()
        recording, reported, paths = self.fio(jobs)
        self.assertEqual(recording.report["trace"]["lost"]["total"], 0)
        sums = collections.Counter()
        for name, engine, _ in jobs:
            with self.subTest(name):
                row = recording.file(paths[name])
                for side in ("read", "write"):
                    expected = reported[name][side]["total_ios"], reported[name][side]["io_bytes"]
                    sums[engine, side, "count"] += expected[0]
                    sums[engine, side, "bytes"] += expected[1]
                    self.assertEqual((row[side]["count"], row[side]["bytes"]), expected, side)
        for row in recording.report["methods"]:
            if row["method"] in METHODS:
                with self.subTest(row["method"], side=row["op"]):
                    for what in ("count", "bytes"):
                        self.assertEqual(row[what], sums[METHODS[row["method"]], row["op"], what], what)
        self.assertEqual(recording.report["totals"]["async"]["submissions_not_traced"], 0)

    def test_operation_names_and_flags(self):
        """Registered buffers and files, direct, polled: as the job was configured."""
        wanted = {
            "uring-fixed": ("io_uring_read_fixed", DIRECT | FIXED_BUFFER | FIXED_FILE),
            "uring-files": ("io_uring_read", FIXED_FILE),
            "uring-polled": ("io_uring_read", FIXED_FILE | POLLED),
            "uring-read": ("io_uring_read", 0),
            "uring-vectors": ("io_uring_readv", 0),
            "aio-read": ("libaio_pread", DIRECT),
        }
        jobs = [job for job in self.jobs() if job[0] in wanted]
        recording, reported, paths = self.fio(jobs)
        seen = collections.defaultdict(collections.Counter)
        for row in recording.trace.dicts("async"):
            if row["op"].endswith(("read", "readv", "read_fixed")):
                path = recording.trace.files[row["file"]]["path"]
                seen[os.fsdecode(path)][row["op"], row["flags"]] += 1
        for name, _, _ in jobs:
            with self.subTest(name):
                self.assertEqual(seen[paths[name]],
                                 {wanted[name]: reported[name]["read"]["total_ios"]})

    def test_cold_files_are_fetched_by_their_operations(self):
        """Each file read whole, once, in order: all data fetched is attributed to its reads."""
        jobs = [(name, engine, [*more, "loops=1", "rw=read", "bs=64k"])
                for name, engine, more in self.jobs() if name in ("uring-read", "uring-worker")]
        jobs.append(("mapped", "mmap", ["loops=1", "rw=read", "bs=4k"]))
        recording, reported, paths = self.fio(jobs)
        for name, _, _ in jobs:
            with self.subTest(name):
                row = recording.file(paths[name])
                side = "mmap" if name == "mapped" else "read"
                self.assertEqual(reported[name]["read"]["io_bytes"], SIZE)
                self.assertEqual(row[side]["fetched_bytes"], SIZE)
                self.assertEqual(harness.fetched(row), SIZE)


if __name__ == "__main__":
    unittest.main()
