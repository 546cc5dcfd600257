# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Requests to a FUSE daemon of other making, with several threads, which serves them from a disk: they
equal its system calls, and its own I/O is not the job's."""
import glob
import os
import re
import shutil
import subprocess
import unittest

import harness
from harness import Recording, machine

CALLS = {"pread64": "fuse_read", "pwrite64": "fuse_write", "fsync": "fuse_fsync"}
CALL = re.compile(r"(pread64|pwrite64|fsync)\(\d+(?:, .*, (\d+), (\d+))?\) += (-?\d+)")
SIZE = 3_000_000

# Two readers at once, then a writer.
WORK = """
import os, sys
at = sys.argv[1]
for name in "data", "other":
    if not os.fork():
        with open(f"{at}/{name}", "rb") as file: file.read()
        os._exit(0)
for _ in range(2): os.wait()
file = os.open(f"{at}/new", os.O_RDWR | os.O_CREAT)
os.pwrite(file, bytes(300000), 4000)
os.fsync(file)
try: os.open(f"{at}/missing", os.O_RDONLY)
except OSError: pass
"""


def device_of(path):
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


@unittest.skipUnless(shutil.which("bindfs"), "bindfs is not installed")
class Bindfs(unittest.TestCase):
    def setUp(self):
        self.source, self.mount = machine().new_dir("ext4"), machine().new_dir()
        for name in ("data", "other"):
            harness.random_file(f"{self.source}/{name}", SIZE)
        self.addCleanup(subprocess.run, ["umount", self.mount], stderr=subprocess.DEVNULL)

    def daemon(self):
        return ["bindfs", "-f", "--multithreaded", self.source, self.mount]

    def serve(self, *before):
        daemon = machine().start([*before, *self.daemon()])
        if not harness.wait_until(lambda: os.path.ismount(self.mount)):
            self.skipTest("no file system in user space can be mounted")
        return daemon

    def requested(self, log, main):
        """What the daemon's threads did: operation, offset, bytes. The main thread, which loads the
        libraries, serves nothing."""
        for name in set(glob.glob(f"{log}.*")) - {f"{log}.{main}"}:
            with open(name) as file:
                for line in file:
                    call = CALL.match(line)
                    if call:
                        yield (CALLS[call[1]], int(call[3] or -1), int(call[4]))

    def test_same_as_its_calls(self):
        log = f"{machine().new_dir()}/calls"
        daemon = self.serve("strace", "-ff", "-o", log, "-s", "0", "-e",
                            "trace=pread64,pwrite64,fsync")
        for name in ("data", "other"):
            harness.cool(f"{self.source}/{name}")
        recording = Recording([harness.PYTHON, "-S", "-c", WORK, self.mount])
        subprocess.run(["umount", self.mount], check=True)
        daemon.wait()
        rows = [row for row in recording.trace.dicts("remote") if row["op"] in CALLS.values()]
        server, = {row["server_pid"] for row in rows}
        self.assertEqual(sorted((row["op"], row["offset"], row["bytes"]) for row in rows),
                         sorted(self.requested(log, server)))
        self.assertGreaterEqual(len(rows), 10)
        self.assertEqual({row["error"] for row in rows}, {0})
        self.check_others(recording)

    def check_others(self, recording):
        """The daemon is not of the run: neither are its files, nor what it reads from the disk."""
        read = {}
        for row in recording.report["files"]:
            self.assertFalse(row["path"].startswith(self.source), row["path"])
            read[row["path"]] = row["read"]["bytes"]
        for name in ("data", "other"):
            self.assertEqual(read[f"{self.mount}/{name}"], SIZE)
        disk = [row for row in recording.report["devices"] if device_of(self.source) in
                (row["dev"], *row["partitions"], *row["st_devs"])]
        for row in disk:
            self.assertFalse(row["read"]["bytes"])
            self.assertGreaterEqual(row["all"]["read"]["bytes"], 2 * SIZE)
        self.assertEqual(len(disk), 1)

    def test_started_by_the_job(self):
        """Then its I/O is the run's, under its own process and its own files."""
        script = (f"{' '.join(self.daemon())} & until mountpoint -q {self.mount}; do sleep 0.02; done\n"
                  f"cat {self.mount}/data >/dev/null; umount {self.mount}; wait")
        recording = Recording(["sh", "-c", script])
        reads = [row for row in recording.trace.dicts("remote") if row["op"] == "fuse_read"]
        self.assertEqual(sum(row["bytes"] for row in reads), SIZE)
        server, = {row["server_pid"] for row in reads}
        processes = {row["pid"]: row for row in recording.report["processes"]}
        self.assertEqual(processes[server]["comm"], "bindfs")
        for row in reads:
            self.assertEqual(processes[row["pid"]]["comm"], "cat")
        for path, pid in ((f"{self.source}/data", server), (f"{self.mount}/data", reads[0]["pid"])):
            calls = [row for row in recording.trace.calls(path) if row["op"] in ("read", "pread64")]
            self.assertEqual({row["pid"] for row in calls}, {pid}, path)
            self.assertEqual(sum(row["result"] for row in calls), SIZE, path)


if __name__ == "__main__":
    unittest.main()
