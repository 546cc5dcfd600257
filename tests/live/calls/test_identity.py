# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Files whose inodes look identical are kept apart, each under the identity that stat reports."""
import os
import re
import subprocess
import shutil
import unittest

import bpf_maps
import harness
from harness import Recording, machine

MIB = 1 << 20


class Overlay(unittest.TestCase):
    AGAIN = """
import json, os, sys
inodes = []
for size in (1000, 3000, 5000):
    f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.write(f, bytes(size))
    inodes.append(os.fstat(f).st_ino)
    os.close(f)
    os.unlink(sys.argv[1])
print(json.dumps(inodes))
"""

    def new_overlay(self):
        layers = {name: machine().new_dir("ext4") for name in ("lower", "upper", "work")}
        options = ",".join(f"{name}dir={path}" for name, path in layers.items())
        return machine().mount("-t", "overlay", "-o", options, "overlay"), layers["lower"]

    def test_made_again(self):
        """A file that is deleted and recreated is another file, whatever its inode number."""
        path = f"{self.new_overlay()[0]}/checkpoint"
        recording = Recording([harness.PYTHON, "-S", "-c", self.AGAIN, path])
        rows = [row for row in recording.report["files"] if row["path"] == path]
        self.assertEqual(sorted(row["write"]["bytes"] for row in rows), [1000, 3000, 5000])
        for row in rows:
            self.assertIn(str(row["ino"]), recording.done.stdout.decode())

    def test_copied_up(self):
        """A file that is copied up between a read and a write remains the same file."""
        merged, lower = self.new_overlay()
        harness.random_file(f"{lower}/data", MIB)
        script = (
            "import os, sys; os.read(os.open(sys.argv[1], os.O_RDONLY), 1000); "
            "os.write(os.open(sys.argv[1], os.O_WRONLY), bytes(2000))"
        )
        recording = Recording([harness.PYTHON, "-S", "-c", script, f"{merged}/data"])
        row = recording.file(f"{merged}/data")
        self.assertEqual((row["read"]["bytes"], row["write"]["bytes"]), (1000, 2000))

    def test_many_files(self):
        """Files of layers used long ago make room for those used now."""
        merged, _ = self.new_overlay()
        path, trace = harness.random_file(f"{merged}/data", MIB), f"{machine().new_dir()}/trace"
        harness.cool(path)
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", "sh", "-c",
             'echo; read line; exec cat "$0"', path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.stdout.readline()
        count, = bpf_maps.fill_maps(run.pid, "overlay_files", most=100_000)
        self.assertGreater(count, 1000)
        run.communicate(b"\n")
        decoded = harness.Trace(trace)
        ids = decoded.file_ids(path)
        read = [row["bytes"] for row in decoded.dicts("bio") if row["file"] in ids]
        self.assertGreaterEqual(sum(read), MIB)


class Fuse(unittest.TestCase):
    def test_one_number_for_all(self):
        """Files of a FUSE daemon that gives all of them the same inode number."""
        mount, count = machine().new_dir(), 6
        daemon = machine().start(
            [machine().program("fuse_alike"), mount, str(count)], stdout=subprocess.PIPE
        )
        if daemon.stdout.readline() != b"ready\n":
            self.skipTest("no file system in user space can be mounted")
        try:
            paths = [f"{mount}/{number}" for number in range(1, count + 1)]
            recording = Recording(["cat", *paths, *paths])
        finally:
            subprocess.run(["umount", mount], check=True)
            daemon.wait()
        rows = [row for row in recording.report["files"] if row["path"].startswith(mount + "/")]
        self.assertEqual(sorted(row["path"] for row in rows), paths)
        for row in rows:
            with self.subTest(row["path"]):
                self.assertEqual(row["opens"], 2)
                self.assertEqual(row["read"]["bytes"], 2 * 8192)


class Epochs(unittest.TestCase):
    """File IDs wrap around after 2^31 files, and no ID ever stands for two of them."""

    READER = """
import os, sys
kept = os.open(sys.argv[1] + "/kept", os.O_RDONLY)
for stage in range(4):
    os.pread(kept, 1000, 0)
    for i in range(20): os.read(os.open(f"{sys.argv[1]}/{stage}.{i}", os.O_RDONLY), 100)
    print(flush=True)
    sys.stdin.readline()
"""

    def variable(self, name, size):
        """The bytes of a BPF variable within its map."""
        built = f"{harness.BUILD}/bpf/faultline.bpf.o"
        if not os.path.exists(built):
            self.skipTest("the object of the kernel side was not built")
        symbols = subprocess.check_output(
            ["readelf", "-sW", built], text=True, stderr=subprocess.DEVNULL)
        start = int(re.search(rf"\s(\w+)\s+{size} OBJECT .* {name}$", symbols, re.M)[1], 16)
        return slice(start, start + size)

    def test_come_round(self):
        last, epoch = self.variable("file_last_id", 8), self.variable("file_epoch", 4)
        directory, trace = machine().new_dir(), machine().new_dir() + "/trace"
        names = ["kept"] + [f"{stage}.{i}" for stage in range(4) for i in range(20)]
        for name in names:
            harness.random_file(f"{directory}/{name}", 4096)
        run = machine().start(
            [machine().faultline, "run", "-q", "-o", trace, "--", harness.PYTHON, "-S", "-c",
             self.READER, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for epochs, number in (1, (1 << 29) - 10), (2, (2 << 29) - 10), (5, (4 << 29) + 10000):
            run.stdout.readline()
            with bpf_maps.Array(run.pid, "faultlin.bss") as variables:
                value = bytearray(variables.get(0))
                value[last] = number.to_bytes(8, "little")
                value[epoch] = (epochs - 1).to_bytes(4, "little")
                variables.put(0, bytes(value))
            run.stdin.write(b"\n")
            run.stdin.flush()
        run.communicate(b"\n")
        self.assertEqual(run.returncode, 0)
        reads = {row["path"]: row["read"]["count"] for row in harness.report_of(trace)["files"]}
        for name in names:
            self.assertEqual(reads.get(f"{directory}/{name}"), 4 if name == "kept" else 1, name)
        ids = {row["file"] for row in harness.Trace(trace).dicts("syscall")}
        self.assertLess(max(ids), 1 << 31)


class Btrfs(unittest.TestCase):
    def setUp(self):
        if not shutil.which("mkfs.btrfs"):
            self.skipTest("no mkfs.btrfs")
        self.top = machine().mount_image("btrfs", 256 * MIB)

    def test_snapshot(self):
        """A snapshot has its origin's inodes; its subvolume, which stat reports, differs."""
        origin, snapshot = f"{self.top}/origin", f"{self.top}/snapshot"
        harness.run("btrfs", "subvolume", "create", origin)
        harness.random_file(f"{origin}/data", MIB)
        harness.run("sync", "-f", origin)
        harness.run("btrfs", "subvolume", "snapshot", origin, snapshot)
        paths = {f"{origin}/data": 1000, f"{snapshot}/data": 3000}
        self.assertEqual(len({os.stat(path).st_ino for path in paths}), 1)
        script = (
            "import sys\nfor path, size in zip(sys.argv[1::2], sys.argv[2::2]):\n"
            "    open(path, 'rb', 0).read(int(size))"
        )
        arguments = [str(word) for pair in paths.items() for word in pair]
        recording = Recording([harness.PYTHON, "-S", "-c", script, *arguments])
        for path, size in paths.items():
            row, status = recording.file(path), os.stat(path)
            self.assertEqual(row["read"]["bytes"], size)
            self.assertEqual(row["ino"], status.st_ino)
            self.assertEqual(row["dev"], f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}")


if __name__ == "__main__":
    unittest.main()
