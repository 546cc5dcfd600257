# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Processes killed by a signal: the report gives their number, the cause, and the file."""
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


# Allocates memory in a thread of its own, once it is in the cgroup.
HUNGRY = """
import os, sys, threading
open(f"{sys.argv[1]}/cgroup.procs", "w").write(str(os.getpid()))
thread = threading.Thread(target=lambda: b"x" * (256 << 20))
thread.start()
thread.join()
"""


def kills_in(group):
    """How often the OOM killer has killed a process of this cgroup, or of one below it."""
    first = f"{group}/memory.oom_control"
    with open(first if os.path.exists(first) else f"{group}/memory.events") as control:
        return int(dict(line.split() for line in control)["oom_kill"])


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
        self.assertEqual(evidence["capacity_bytes"], 4 * MIB)
        self.assertEqual(evidence["oom"], 0)
        self.assertEqual(os.path.dirname(evidence["path"]), directory)
        self.assertLessEqual(evidence["offset"], 4 * MIB)
        first, = [row for row in recording.report["caveats"] if row["id"] == "killed"]
        self.assertIn(f"{died} of 4 processes died: SIGBUS", first["text"])
        self.assertIn(evidence["path"], first["text"])
        self.assertIn("tmpfs of 4.0 MiB", first["text"])

    def test_out_of_memory(self):
        """The cgroup's own OOM count is the oracle; a thread of the victim triggered it."""
        group = harness.new_cgroup(self, "memory")
        harness.limit_memory(group, 64 * MIB)
        self.check_killed(group, group)

    def test_limit_above(self):
        """The limit is that of the cgroup that is full, not the larger one of those below."""
        group = harness.new_cgroup(self, "memory", "/below")
        above = os.path.dirname(group)
        if os.path.exists(f"{above}/cgroup.subtree_control"):
            with open(f"{above}/cgroup.subtree_control", "w") as control:
                control.write("+memory")
        harness.limit_memory(above, 64 * MIB)
        harness.limit_memory(group, 128 * MIB)
        self.check_killed(group, above)

    def check_killed(self, group, full):
        """A program in one cgroup is killed because that or another one is full."""
        recording = Recording(["sh", "-c", '("$0" -c "$1" "$2"; true)', harness.PYTHON, HUNGRY, group])
        kills = sum(kills_in(cgroup) for cgroup in {group, full})
        self.assertGreater(kills, 0, "none died: the test does not test")
        found, = [row for row in recording.report["findings"] if row["id"] == "killed"]
        evidence = found["evidence"]
        self.assertEqual((evidence["signal"], evidence["died"], evidence["oom"]), ("SIGKILL", 1, 1))
        self.assertEqual(evidence["limit_bytes"], 64 * MIB)
        self.assertIn("OOM killer: the cgroup reached its memory limit of 64.0 MiB", found["says"])
        first, = [row for row in recording.report["caveats"] if row["id"] == "killed"]
        self.assertIn("memory limit of 64.0 MiB", first["text"])

    def test_killed_by_somebody(self):
        recording = Recording(["sh", "-c", "sleep 9 & kill -9 $!; wait $!; true"])
        found, = [row for row in recording.report["findings"] if row["id"] == "killed"]
        self.assertEqual((found["evidence"]["died"], found["evidence"]["oom"]), (1, 0))

    def test_asked_to_stop(self):
        """A worker that gets SIGTERM is no failure."""
        recording = Recording(["sh", "-c", "sleep 9 & kill $!; wait $!; true"])
        self.assertNotIn("killed", [row["id"] for row in recording.report["findings"]])


if __name__ == "__main__":
    unittest.main()
