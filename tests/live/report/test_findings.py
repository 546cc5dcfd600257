# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Each finding is triggered by a real program with its problem, and not by the sound sibling."""
import concurrent.futures
import contextlib
import json
import os
import shutil
import subprocess
import unittest

import harness
import job_findings
from harness import Recording, faultline, machine, python_path

ALONE = True  # a finding that is absent may be there where other programs want the CPUs

JOB = os.path.join(harness.TOP, "tests/live/jobs/job_findings.py")
# test_loss, test_writeback, test_device_findings
ELSEWHERE = {"loss", "stores-amplified", "writers-throttled", "device-slow", "device-overloaded",
             "requests-small", "flushes", "device-shared", "metadata-cold", "device-errors",
             "held-back", "killed", "still-waiting", "rank-slow"}
# test_path_findings
ELSEWHERE |= {"cpu-bound", "worker-bound", "helper-bound", "cpu-starved", "sleeps", "peer-waits",
              "lock-waits", "stopped", "workers-renewed", "fresh-memory",
              "pickled-data", "rank-behind"}
# test_mount_findings, test_nodes
ELSEWHERE |= {"node-slow", "mount-small-reads", "mount-metadata"}
# Only with made traces: tests/unit/findings.
ELSEWHERE |= {"memory-waits", "device-waits", "mount-retransmits", "replace-waits",
              "mount-readahead"}

# Waits until its sibling is ready too, then writes to a file for half a second.
WRITER = """import os, sys, time
own, other, path = sys.argv[1:]
fd = os.open(path, os.O_WRONLY | os.O_CREAT)
open(own, "w").close()
while not os.path.exists(other):
    time.sleep(0.001)
began = time.monotonic()
while time.monotonic() < began + 0.5:
    os.pwrite(fd, bytes(2 << 20), 0)
"""

# Some findings are about options that were left out.
OPTIONS = {"async-not-traced": ["--layers=task,syscall,fault,pagecache,span"],
           "mmap-faults": ["--mode=profile"]}


# With a loop device's own readahead, 128 KiB, a window takes as long as the pages that are used.
WINDOWS = {"mmap-random": 16384}

# Reported only if the storage is slower than memory. A loop device is, in most runs.
OF_SPEED = ("mmap-in-order", "shallow-queue")


class Findings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = machine().new_dir("ext4")
        cls.addClassCleanup(shutil.rmtree, cls.directory)

    def findings(self, name, kind):
        for path in job_findings.prepare(name, self.directory):
            harness.cool(path)
        with contextlib.ExitStack() as changed:
            if name in WINDOWS:
                changed.enter_context(self.readahead(WINDOWS[name]))
            recording = Recording([harness.PYTHON, JOB, name, kind, self.directory],
                                  *OPTIONS.get(name, []), env=python_path())
        return {row["id"]: row for row in recording.report["findings"]}

    @contextlib.contextmanager
    def readahead(self, sectors):
        device = harness.run("findmnt", "-no", "SOURCE", "-T", self.directory).decode().strip()
        before = harness.run("blockdev", "--getra", device).decode().strip()
        harness.run("blockdev", "--setra", str(sectors), device)
        try:
            yield
        finally:
            harness.run("blockdev", "--setra", before, device)

    def found_bad(self, name):
        return harness.undisturbed(lambda: self.findings(name, "bad"), lambda rows: name in rows)

    def check(self, name):
        if name in OF_SPEED:
            found = harness.counted_right(lambda: self.found_bad(name), lambda rows: name in rows)
        else:
            found = self.found_bad(name)
        self.assertIn(name, found)
        row = found[name]
        for text in ("title", "says", "advice", "more"):
            self.assertNotIn("{", row[text])
        # Other programs that write to the same disk may make a sound one wait.
        found = harness.counted_right(
            lambda: harness.undisturbed(lambda: self.findings(name, "sound"),
                                        lambda rows: name not in rows),
            lambda rows: name not in rows)
        self.assertNotIn(name, found)

    def test_tracer_cost(self):
        """A program that only makes calls, and one that rarely does. The finding depends on a
        share of elapsed time: on a busy machine it may be too low to report."""
        file = harness.random_file(f"{self.directory}/hot", 1 << 20)
        calls = 400_000
        ahead = ["nice", "-n", "-20", machine().program("hotread"), file, f"{self.directory}/out"]
        recording = Recording([*ahead, "1", "reads", str(calls)])
        found = {row["id"]: row for row in recording.report["findings"]}
        of_run = calls * 150 / recording.report["trace"]["duration_ns"]  # see --explain
        if "tracer-cost" in found:
            evidence = found["tracer-cost"]["evidence"]
            self.assertGreaterEqual(evidence["events"], calls)
            self.assertGreaterEqual(evidence["of_run"], max(of_run, 0.05))
        else:
            self.assertLess(of_run, 0.05)
        sleeper = f"for i in range(2000): open({file!r}, 'rb').read(4096)\ntime.sleep(1)"
        recording = Recording([harness.PYTHON, "-c", f"import time\n{sleeper}"])
        self.assertNotIn("tracer-cost", [row["id"] for row in recording.report["findings"]])

    def test_dropped_by_itself(self):
        """Data that the job itself dropped and fetched again is reported as such."""
        found = harness.undisturbed(lambda: self.findings("fetched-again", "bad"),
                                    lambda rows: "fetched-again" in rows)
        self.assertEqual(found["fetched-again"]["evidence"]["dropped"], 1)  # not the last one
        self.assertIn("dropped it with 1 POSIX_FADV_DONTNEED call",
                      found["fetched-again"]["says"])

    def test_holes_are_not_loaded(self):
        """Reading a file that is one hole costs only its pages: no device reads."""
        file = f"{machine().new_dir('ext4')}/hole"
        with open(file, "wb") as made:
            made.truncate(512 << 20)
        text = (f"import os\nfd = os.open({file!r}, os.O_RDONLY)\n"
                f"while os.read(fd, 4 << 20):\n    pass")
        recording = Recording([harness.PYTHON, "-c", text])
        self.assertGreaterEqual(recording.file(file)["read"]["fetched_bytes"], 512 << 20)
        self.assertNotIn("load-waits", [row["id"] for row in recording.report["findings"]])

    def test_small_files_written(self):
        """With many files of one write each, the files are small, not the writes."""
        directory = f"{self.directory}/written"
        os.mkdir(directory)
        self.addCleanup(shutil.rmtree, directory)
        text = (f"import os\nfor i in range(2000):\n"
                f"    fd = os.open(f'{directory}/{{i}}', os.O_WRONLY | os.O_CREAT)\n"
                f"    os.write(fd, b'x' * 100)\n    os.close(fd)")
        recording = Recording([harness.PYTHON, "-c", text])
        found = {row["id"]: row for row in recording.report["findings"]}["small-writes"]
        self.assertEqual(found["evidence"]["each_file"], 1)
        self.assertTrue(found["advice"].startswith("Pack the data of files with ≤ 1 write into"))

    def test_imports_by_path(self):
        """importlib's stat calls on each sys.path directory before it looks for a module, all
        successful; and the same on a data set's directories."""
        directory = f"{self.directory}/asked"
        self.addCleanup(shutil.rmtree, directory)
        for name in ("lib/python3/site-packages", "shards"):
            os.makedirs(f"{directory}/{name}")
        text = "import os, sys\nfor _ in range(200000):\n    os.stat(sys.argv[1])"
        modules, data = (Recording([harness.PYTHON, "-c", text, f"{directory}/{name}"])
                         for name in ("lib/python3/site-packages", "shards"))
        found = {row["id"]: row for row in modules.report["findings"]}
        self.assertGreater(found["imports"]["evidence"]["of_modules"], 0.9)
        self.assertNotIn("metadata-heavy", found)
        found = {row["id"] for row in data.report["findings"]}
        self.assertIn("metadata-heavy", found)
        self.assertNotIn("imports", found)

    @unittest.skipUnless(shutil.which("fio"), "fio is not installed (scripts/setup.sh test)")
    def test_random_reads_by_a_ring(self):
        """Random reads with O_DIRECT, more than the file has; the same in order; and random
        reads partly from the page cache. Random ones are not reported as rereads."""
        if not harness.has_uring():
            self.skipTest("io_uring may not be used here")
        file = harness.random_file(f"{self.directory}/drawn", 32 << 20)
        fio = ["fio", "--name=x", f"--filename={file}", "--size=32M", "--io_size=64M", "--thread",
               "--ioengine=io_uring", "--iodepth=8", "--output=/dev/null", "--invalidate=0"]

        def found(*options):
            harness.cool(file)
            report = Recording([*fio, *options], "--buffer", "64M").report
            return {row["id"]: row for row in report["findings"]}

        drawn = found("--rw=randread", "--norandommap", "--bs=4k", "--direct=1")
        self.assertIn("random-reads", drawn)
        self.assertEqual(drawn["random-reads"]["evidence"]["storage_bytes"], 64 << 20)
        self.assertEqual(drawn["random-reads"]["evidence"]["direct_bytes"], 64 << 20)
        self.assertNotIn("read-again", drawn)
        in_order = found("--rw=read", "--bs=4k", "--direct=1")
        self.assertIn("read-again", in_order)
        self.assertNotIn("random-reads", in_order)
        buffered = ["--rw=randread", "--bs=4k", "--direct=0", "--io_size=32M"]
        self.assertIn("random-reads", harness.undisturbed(lambda: found(*buffered),
                                                          lambda rows: "random-reads" in rows))

    def test_holes(self):
        """A sparse file read at random: no device reads. If it has data, a device reads all of
        it."""
        sparse = f"{self.directory}/sparse"
        with open(sparse, "wb") as file:
            file.truncate(256 << 20)
        full = harness.random_file(f"{self.directory}/full", 64 << 20)
        script = ("import os, random\n"
                  "fd, numbers = os.open({!r}, os.O_RDONLY), random.Random(1)\n"
                  "os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)\n"
                  "for _ in range({}): os.pread(fd, 4096, numbers.randrange({}) * 4096)\n")

        def found(path, count):
            harness.cool(path)
            pages = os.path.getsize(path) // 4096
            recording = Recording([harness.PYTHON, "-S", "-c", script.format(path, count, pages)])
            return {row["id"]: row for row in recording.report["findings"]}

        of_storage = {"random-reads", "small-reads-storage", "fetched-again"}
        rows = harness.undisturbed(lambda: found(sparse, 40000),
                                   lambda rows: not of_storage & set(rows))
        self.assertEqual(of_storage & set(rows), set())
        rows = harness.undisturbed(lambda: found(full, 2000), lambda rows: "random-reads" in rows)
        self.assertIn("random-reads", rows)

    def test_ranks_uneven_by_mappings(self):
        """One rank touches far more of its own mapped file than the others, or all touch as
        much. No rank marks spans."""
        for rank in range(4):
            harness.random_file(f"{self.directory}/shard{rank}", 32 << 20)
        rank = ("import mmap, os, sys\n"
                "fd, pages = os.open(sys.argv[1], os.O_RDONLY), int(sys.argv[2])\n"
                "memory = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ)\n"
                "memory.madvise(mmap.MADV_RANDOM)\n"
                "for at in range(pages): memory[at * 4096]\n")
        script = ("import os, subprocess, sys\n"
                  "ranks = [subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1],\n"
                  "                           f'{sys.argv[2]}/shard{i}', pages],\n"
                  "                          env={**os.environ, 'RANK': str(i)})\n"
                  "         for i, pages in enumerate(sys.argv[3:])]\n"
                  "sys.exit(max(rank.wait() for rank in ranks))\n")

        def found(*pages):
            for rank_ in range(4):
                harness.cool(f"{self.directory}/shard{rank_}")
            recording = Recording([harness.PYTHON, "-S", "-c", script, rank, self.directory,
                                   *map(str, pages)])
            return {row["id"]: row for row in recording.report["findings"]}

        name = "ranks-uneven"
        rows = harness.undisturbed(lambda: found(200, 200, 8000, 200), lambda rows: name in rows)
        self.assertIn(name, rows)
        self.assertEqual(rows[name]["evidence"]["rank"], 2)
        self.assertNotIn(name, found(4000, 4000, 4000, 4000))

    def test_swapped(self):
        """A program with half of the memory that it needs, and with all of it."""
        group = harness.little_memory(self, 48 << 20)
        script = ("import os, resource as r\nm = bytearray(96 << 20)\n"
                  "for at in 2 * list(range(0, len(m), 4096)): m[at] += 1\n"
                  "print(r.getrusage(r.RUSAGE_SELF).ru_majflt, flush=True)\nos._exit(0)")
        job = [harness.PYTHON, "-S", "-c", script]
        recording = Recording(harness.in_cgroup(group, *job), stdout=subprocess.PIPE)
        self.assertIn("swapped", [row["id"] for row in recording.report["findings"]])
        # The rest are on files; a few pages may be swapped in before its exec and after its
        # message.
        totals = recording.report["totals"]
        major = totals["anonymous_faults"]["major"] + totals["shmem_faults"]["major"]
        on_files = totals["mmap_read"]["major"] + totals["mmap_write"]["major"]
        recorded = int(recording.done.stdout)
        self.assertLessEqual(abs(major + on_files - recorded), 0.02 * recorded + 20)
        self.assertNotIn("swapped", [row["id"] for row in Recording(job).report["findings"]])

    def ranks_that_write(self, paths):
        """Findings on two programs, traced separately, that write to these files."""
        directory = harness.machine().new_dir()
        present = [f"{directory}/{rank}" for rank in range(2)]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            traces = list(pool.map(lambda rank: Recording(
                [harness.PYTHON, "-S", "-c", WRITER, present[rank], present[1 - rank], paths[rank]],
                env={**os.environ, "RANK": str(rank)}).path, range(2)))
        done = faultline("report", "--format", "json", *traces)
        return {row["id"]: row for row in json.loads(done.stdout)["findings"]}

    def test_shared_writes_ranks(self):
        """Both to one file, or each to its own."""
        name, paths = "shared-writes-ranks", [f"{self.directory}/rank{rank}" for rank in range(2)]
        found = harness.undisturbed(lambda: self.ranks_that_write(paths[:1] * 2),
                                    lambda rows: name in rows)
        self.assertIn(name, found)
        self.assertEqual(found[name]["evidence"]["path"], paths[0])
        self.assertNotIn(name, self.ranks_that_write(paths))

    def ranks_that_save(self, paths):
        """The report on four ranks that write the whole of these files."""
        script = "".join(f"RANK={rank} dd if=/dev/zero of={path} bs=4M count=16 status=none & "
                         for rank, path in enumerate(paths))
        return Recording(["sh", "-c", script + "wait"]).report

    def test_written_by_several(self):
        """All of them the same one, or each its own."""
        name, paths = "written-by-several", [f"{self.directory}/saved{rank}" for rank in range(4)]
        report = self.ranks_that_save(paths[:1] * 4)
        found, = (row for row in report["findings"] if row["id"] == name)
        self.assertEqual(found["evidence"]["path"], paths[0])
        self.assertEqual(found["evidence"]["bytes"], 4 * (64 << 20))
        self.assertEqual(found["evidence"]["size_bytes"], 64 << 20)
        file, = (row for row in report["files"] if row["path"] == paths[0])
        self.assertEqual(file["overwrite"]["ranks"], 4)
        others = self.ranks_that_save(paths)
        self.assertNotIn(name, [row["id"] for row in others["findings"]])

    def test_all_have_cases(self):
        """As listed by --explain."""
        done = faultline("report", "--explain", "list")
        names = {line.split()[0] for line in done.stdout.decode().splitlines()}
        self.assertIn("mmap-random", names)
        for name in names - ELSEWHERE:
            self.assertTrue(hasattr(self, f"test_{name.replace('-', '_')}"),
                            f"{name}: add a job to tests/live/jobs/job_findings.py, or the name to "
                            "ELSEWHERE if another test finds it")


def add_case(name):
    setattr(Findings, f"test_{name.replace('-', '_')}", lambda self: self.check(name))


for method in dir(job_findings.Job):
    if not method.startswith("_") and method not in (
        "open", "preads", "map", "processes", "epochs", "loop", "read_part", "for_a_while"):
        add_case(method.replace("_", "-"))


if __name__ == "__main__":
    unittest.main()
