# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A trace's data on the machine, file systems and advice: compared with /proc and /sys."""
import mmap
import os
import subprocess
import time
import unittest

import harness
from harness import Recording, machine

ALONE = True  # compares counters of the machine

TOUCH = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for advice in (mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_SEQUENTIAL):
    with mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ) as memory:
        memory.madvise(advice)
        memory[advice * 1000000]
"""
RANDOM, SEQUENTIAL = 1 << 9, 1 << 10  # flags of fault rows


def number(path):
    with open(path) as file:
        return int(file.read())


def vmstat(name):
    with open("/proc/vmstat") as file:
        return int(dict(line.split() for line in file)[name]) * mmap.PAGESIZE


class Machine(unittest.TestCase):
    def test_files(self):
        """The type of their file system, and the readahead window of an open file."""
        for kind in ("ext4", "xfs"):
            with self.subTest(kind):
                path = f"{machine().new_dir(kind)}/file"
                harness.random_file(path, 4_000_000)
                row = Recording([harness.PYTHON, "-c", TOUCH, path]).file(path)
                device = os.stat(path).st_dev
                window = number(
                    f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb"
                )
                self.assertEqual((row["filesystem"], row["readahead_bytes"]), (kind, window * 1024))

    def test_advice(self):
        path = f"{machine().new_dir('ext4')}/file"
        harness.random_file(path, 4_000_000)
        recording = Recording([harness.PYTHON, "-c", TOUCH, path])
        file = next(row for row in recording.trace.dicts("file") if row["path"] == path.encode())
        flags = {
            row["offset"]: row["flags"] & (RANDOM | SEQUENTIAL)
            for row in recording.trace.dicts("fault")
            if row["file"] == file["id"]
        }
        page = ~(mmap.PAGESIZE - 1)
        self.assertEqual(
            {0: 0, 1_000_000 & page: RANDOM, 2_000_000 & page: SEQUENTIAL},
            {offset: flags.get(offset) for offset in (0, 1_000_000 & page, 2_000_000 & page)},
        )

    def test_limits(self):
        before = vmstat("nr_dirty_threshold")
        recording = Recording(["true"])
        after = vmstat("nr_dirty_threshold")
        limits, about = recording.trace.header["limits"], recording.report["trace"]
        total = os.sysconf("SC_PHYS_PAGES") * mmap.PAGESIZE
        self.assertEqual((limits["memory_bytes"], about["memory_bytes"]), (total, total))
        self.assertEqual(about["cpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(about["dirty_bytes"], limits["dirty_bytes"])
        # It varies with free memory.
        self.assertLess(abs(limits["dirty_bytes"] - before), total / 4)
        self.assertLess(limits["dirty_background_bytes"], max(before, after))

    @staticmethod
    def remove(cgroup):
        """A span listener may still be exiting."""
        for _ in range(600):
            try:
                return os.rmdir(cgroup)
            except OSError:
                time.sleep(0.1)
        os.rmdir(cgroup)

    def test_cgroup(self):
        """The lowest limit of the cgroup and its ancestors."""
        try:
            outer = f"/sys/fs/cgroup/memory/faultline-test-{os.getpid()}"
            limit = "memory.limit_in_bytes"
            if not os.path.isdir("/sys/fs/cgroup/memory"):
                outer = f"/sys/fs/cgroup/faultline-test-{os.getpid()}"
                limit = "memory.max"
            os.mkdir(outer)
            self.addCleanup(self.remove, outer)
            with open(f"{outer}/{limit}", "w") as file:
                file.write(str(3 << 30))
            inner = f"{outer}/inner"
            os.mkdir(inner)
            self.addCleanup(self.remove, inner)
        except OSError as error:
            self.skipTest(f"no cgroup with a limit of memory can be made here: {error}")
        path = f"{machine().new_dir()}/trace.flt"
        enter = f'echo $$ >{inner}/cgroup.procs && exec "$@"'
        command = [machine().faultline, "run", "-o", path, "--", "true"]
        subprocess.run(["sh", "-c", enter, "sh", *command], check=True, stderr=subprocess.DEVNULL)
        about = harness.report_of(path)["trace"]
        self.assertEqual(about["cgroup_memory_bytes"], 3 << 30)

    def test_affinity(self):
        """Fewer CPUs than the machine has are a limit."""
        one = min(os.sched_getaffinity(0))
        if os.sysconf("SC_NPROCESSORS_ONLN") == 1:
            self.skipTest("the machine has one CPU")
        limited = Recording(["true"], preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertEqual(limited.report["trace"]["cpu_limit"], 1)

    def test_mounts(self):
        directory = machine().new_dir("ext4")
        mounts = Recording(["true"]).trace.header["mounts"]
        (row,) = [row for row in mounts if directory.startswith(f"{row['path']}/")
                  and row["type"] == "ext4" and row["path"] != "/"][-1:]
        options = subprocess.run(["findmnt", "-n", "-o", "OPTIONS", row["path"]], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        device = os.stat(directory).st_dev
        self.assertEqual(row["dev"], os.major(device) << 20 | os.minor(device))
        self.assertLessEqual(set(options.strip().split(",")), set(row["options"].split(",")))
        self.assertNotIn("proc", {row["type"] for row in mounts})


if __name__ == "__main__":
    unittest.main()
